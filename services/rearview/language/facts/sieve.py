"""Which of many patterns are worth trying on a text: those of which it holds a piece that they cannot match without.

Most clauses match none of some three hundred rules. What a pattern cannot do without ("住", "搬"; "mov", "rel") is read
out of the pattern as `re` parses it, so that no list has to be kept beside it; a pattern of which nothing is known is
always tried. The parser is no public part of `re`: a Python that changes it is found out by the tests of this module.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_LATIN = 3
"""Letters of a piece in Latin script; of Chinese one character is telling enough."""
_CHANCE = dict.fromkeys("我", 0.6) | dict.fromkeys("的是", 0.3) | dict.fromkeys("在有不了个一", 0.2)
_CHANCE_OF_OTHERS = 0.03
_MOST_RUNS = 64


class Sieve:
    """Patterns in order, each with the pieces of which a text must hold one."""

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._always = 0
        self._by_piece: dict[str, int] = {}
        for index, pattern in enumerate(patterns):
            pieces = required(pattern)
            if pieces is None:
                self._always |= 1 << index
            for piece in pieces or ():
                self._by_piece[piece] = self._by_piece.get(piece, 0) | 1 << index
        self._pieces = frozenset(self._by_piece)

    def worth_trying(self, text: str) -> Iterator[int]:
        """The places of the patterns that may match somewhere in a text, in order."""
        left = self._always
        for piece in self._pieces & pieces_of(text):
            left |= self._by_piece[piece]
        while left:
            lowest = left & -left
            yield lowest.bit_length() - 1
            left ^= lowest


@lru_cache(maxsize=512)
def pieces_of(text: str) -> frozenset[str]:
    """The pieces that a text holds."""
    lowered = text.lower()
    latin = {lowered[at : at + _LATIN] for at in range(len(lowered) - _LATIN + 1)}
    return frozenset(latin if text.isascii() else latin.union(lowered))


def required(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """Return pieces of which every match of a pattern holds one, the rarest such; None where none is known."""
    return _required(parser.parse(pattern.pattern, pattern.flags))


def _required(items: Any) -> frozenset[str] | None:
    """The same for a sequence as it was parsed."""
    found: list[frozenset[str]] = []
    runs = [""]
    for operation, argument in [*items, (codes.ANY, None)]:
        endings = _literals(operation, argument)
        if endings is not None and len(runs) * len(endings) <= _MOST_RUNS:
            runs = [run + ending for run in runs for ending in endings]
            continue
        found += _told_by(runs)
        if endings is not None:
            runs = endings
            continue
        runs = [""]
        if (inner := _inside(operation, argument)) is not None:
            found.append(inner)
    return min(found, key=_chance, default=None)


def _literals(operation: Any, argument: Any) -> list[str] | None:
    """What an item is, word for word; None where it is more than a choice of words."""
    if operation is codes.LITERAL:
        return [chr(argument).lower()]
    if operation is codes.IN and all(kind is codes.LITERAL for kind, _ in argument):
        return list(dict.fromkeys(chr(code).lower() for _, code in argument))
    if operation is codes.SUBPATTERN:
        return _words(argument[-1])
    if operation is codes.BRANCH:
        branches = [_words(branch) for branch in argument[1]]
        if all(branch is not None for branch in branches):
            return list(dict.fromkeys(word for branch in branches for word in branch or ()))
    return None


def _words(items: Any) -> list[str] | None:
    words = [""]
    for operation, argument in items:
        endings = _literals(operation, argument)
        if endings is None or len(words) * len(endings) > _MOST_RUNS:
            return None
        words = [word + ending for word in words for ending in endings]
    return words


def _inside(operation: Any, argument: Any) -> frozenset[str] | None:
    """What an item that is no mere choice of words cannot do without."""
    if operation is codes.SUBPATTERN:
        return _required(argument[-1])
    if operation is codes.BRANCH:
        branches = [_required(branch) for branch in argument[1]]
        if all(branch is not None for branch in branches):
            return reduce(frozenset.union, (branch or frozenset() for branch in branches))
    if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] > 0:
        return _required(argument[2])
    return None


def _told_by(runs: Sequence[str]) -> list[frozenset[str]]:
    pieces = [_piece(run) for run in runs]
    return [] if None in pieces else [frozenset(piece for piece in pieces if piece)]


def _piece(run: str) -> str | None:
    """The rarest piece of words, None where they are too short."""
    whole = [letter for letter in run if not letter.isascii()]
    whole += [run[at : at + _LATIN] for at in range(len(run) - _LATIN + 1)]
    return min(whole, key=lambda piece: (_CHANCE.get(piece, _CHANCE_OF_OTHERS), " " in piece), default=None)


def _chance(pieces: frozenset[str]) -> float:
    return sum(_CHANCE.get(piece, _CHANCE_OF_OTHERS) for piece in pieces)
