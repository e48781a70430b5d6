"""The words of fact_words.yaml as patterns."""

import re
from functools import lru_cache

from rearview.language.data_files import load_yaml


def any_of(*names: str) -> str:
    """Return a pattern of the words of some lists, the longest first, without a group around it."""
    words = {str(word).lower() for name in names for word in _lists()[name]}
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


@lru_cache(maxsize=1)
def _lists() -> dict[str, list[str]]:
    return dict(load_yaml("fact_words.yaml"))
