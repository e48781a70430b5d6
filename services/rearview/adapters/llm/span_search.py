"""Finding words of a model in the text they are said to come from.

Models change case, width and blanks when they quote. Those are forgiven; a word or a number must still be a whole one,
so that `0` is not found in `8000`, nor `art` in `party`.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_NUMERALS = frozenset("零一二两三四五六七八九十百千万亿")
_FIRST_BEYOND_LATIN = 0x250
_SEPARATORS = frozenset(".,:/-")
_SCALE = re.compile(r"\s*(?:thousand|million|billion|hundred|dozen|k|m|[十百千万亿])(?![A-Za-z])", re.IGNORECASE)
_DROPPED = frozenset("\"'“”‘’「」『』《》`")
"""Quotation marks: models add them, drop them and change their form."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character offsets."""

    start: int
    end: int


class SearchableText:
    """A text in which words are found whatever their case, width and blanks."""

    def __init__(self, text: str) -> None:
        self._text = text
        plain, self._places = _plain(text)
        self._plain = plain

    def find(self, words: str, *, within: Span | None = None) -> Span | None:
        """Return where the words first stand as whole words, in offsets of the text; None where they do not."""
        wanted, _ = _plain(words)
        if not wanted:
            return None
        at = self._plain.find(wanted)
        while at >= 0:
            span = Span(self._places[at], self._places[at + len(wanted) - 1] + 1)
            inside = within is None or (within.start <= span.start and span.end <= within.end)
            if inside and self._is_whole(span):
                return span
            at = self._plain.find(wanted, at + 1)
        return None

    def _is_whole(self, span: Span) -> bool:
        text = self._text
        before = text[max(span.start - 2, 0) : span.start]
        after = text[span.end : span.end + 2]
        if text[span.end - 1].isdigit() and _SCALE.match(text, span.end):
            return False
        return not _joined(before[::-1], text[span.start]) and not _joined(after, text[span.end - 1])


def _joined(outside: str, edge: str) -> bool:
    """Whether an edge of a span goes on outside of it; `outside` is read away from the span."""
    if not outside:
        return False
    first = unicodedata.normalize("NFKC", outside[0])
    edge = unicodedata.normalize("NFKC", edge)
    if _is_latin(edge) and _is_latin(first):
        return True
    if edge.isdigit() or edge in _NUMERALS:
        if first.isdigit() or first in _NUMERALS:
            return True
        return first in _SEPARATORS and len(outside) > 1 and outside[1].isdigit()
    return False


def _is_latin(character: str) -> bool:
    return character.isalnum() and ord(character[0]) < _FIRST_BEYOND_LATIN


def _plain(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters its place in the text."""
    characters: list[str] = []
    places: list[int] = []
    for place, folded in _folded(text):
        for character in folded:
            characters.append(character)
            places.append(place)
    return "".join(characters), places


def _folded(text: str) -> Iterator[tuple[int, str]]:
    for place, character in enumerate(text):
        if not character.isspace() and character not in _DROPPED:
            yield place, unicodedata.normalize("NFKC", character).casefold()
