"""What of the speaker's an attribute may be of (a trip, a phone, a sofa), one name for each in either language."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from rearview.language.aliases import canonical, normalised
from rearview.language.data_files import load_yaml
from rearview.language.facts.attributes import read_own_topics
from rearview.language.scripts import has_han

_ARTICLES = re.compile(r"^(?:(?:the|a|an|my|our|this|that|new|used|second-hand|buying|getting) )+")


class Topics:
    """Groups of names of one thing. The first known name of a group decides what topic the group adds to."""

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        self._keys: dict[str, str] = {}
        for group in groups:
            names = [normalised(name) for name in group]
            key = next((self._keys[name] for name in names if name in self._keys), names[0])
            for name in names:
                self._keys.setdefault(name, key)

    def key(self, written: str) -> str:
        """Return the name of the topic that words are for; those of no known topic have their canonical form."""
        said = _ARTICLES.sub("", normalised(written))
        for form in (said, said.removesuffix("s"), said.removesuffix("es")):
            if form in self._keys:
                return self._keys[form]
        return canonical(said)

    def knows(self, written: str) -> bool:
        """Whether words name a known topic."""
        return normalised(written) in self._keys

    @property
    def chinese(self) -> str:
        """A pattern of the Chinese names."""
        return _any_of(name for name in self._keys if has_han(name))

    @property
    def english(self) -> str:
        """A pattern of the other names."""
        return _any_of(name for name in self._keys if not has_han(name))


def load_topics(path: Path | None) -> Topics:
    """Return the shipped topics with those that a user's own file of attributes adds.

    Raises:
        InvalidAttributeFile: the file cannot be read or holds mistakes.
    """
    return topics() if path is None else Topics([*_shipped_groups(), *read_own_topics(path)])


@lru_cache(maxsize=1)
def topics() -> Topics:
    """The topics that ship with the package."""
    return Topics(_shipped_groups())


def _shipped_groups() -> list[list[str]]:
    return [[str(name) for name in group] for group in load_yaml("topics.yaml")["topics"]]


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))) or "(?!)"
