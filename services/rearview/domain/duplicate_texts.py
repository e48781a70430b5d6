"""Candidates that say literally the same."""

import unicodedata
from collections.abc import Iterable


def normalised(text: str) -> str:
    """Return the form two texts share that differ in case, width and white space only."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def first_of_each(texts: Iterable[str]) -> list[bool]:
    """Return, for each text in order, whether no text before it says literally the same; empty texts are alone."""
    seen: set[str] = set()
    verdicts = []
    for text in texts:
        form = normalised(text)
        verdicts.append(not form or form not in seen)
        seen.add(form)
    return verdicts
