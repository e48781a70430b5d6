"""Words that reveal what is done with a sentence, found at little cost.

English cues are looked for only where one of their first words occurs at all; Chinese ones only in text beyond ASCII.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile("[a-z]+")


@dataclass(frozen=True, slots=True)
class Cue:
    """Patterns of one meaning. `first_words` are the words by one of which every match of `en` begins or holds."""

    zh: re.Pattern[str]
    en: re.Pattern[str]
    first_words: frozenset[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Return a match in either language, None without one."""
        if not text.isascii() and (found := self.zh.search(text)):
            return found
        return None if self.first_words.isdisjoint(words_of(text)) else self.en.search(text)

    def first(self, text: str) -> re.Match[str] | None:
        """Return the match that comes first in the text, of either language; None without one."""
        chinese = self.zh.search(text) if not text.isascii() else None
        english = None if self.first_words.isdisjoint(words_of(text)) else self.en.search(text)
        found = [match for match in (chinese, english) if match]
        return min(found, key=lambda match: match.start()) if found else None


def cue(zh: str, en: str, first_words: str) -> Cue:
    """Return a cue; Chinese and English patterns apart, the latter's first words separated by blanks."""
    return Cue(re.compile(zh), re.compile(en, re.IGNORECASE), frozenset(first_words.split()))


@lru_cache(maxsize=512)
def words_of(text: str) -> frozenset[str]:
    """The Latin words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))
