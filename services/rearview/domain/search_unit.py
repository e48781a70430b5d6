"""Search units: the turns and memories that recall ranks, as their index rows describe them."""

from enum import KEEP, IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from rearview.domain.text import Language


class UnitFlag(IntFlag, boundary=KEEP):
    """Bits of `search_unit.flags`; how much a unit says stands above the first six (`said_flags`)."""

    RESOLVABLE_TIME = 1
    ROLE_USER = 2
    CHINESE = 4
    ENGLISH = 8
    QUESTION = 16
    ANSWER = 32
    UNCOUNTED = 1_024
    """Its window was still open when it was forgotten, so the counts of BM25 know nothing of it."""


class UnitState(IntEnum):
    """Numbers of `search_unit.state`."""

    ACTIVE = 0
    INACTIVE = 1
    TOMBSTONED = 2


FULL_LENGTH = 20
"""A unit of so many keywords says as much as any; measured on dialogues, where short turns are hardly ever evidence."""

_SAID_SHIFT = 6
_SAID_STEPS = 10
_SAID_MASK = 15

LANGUAGE_FLAGS = UnitFlag.CHINESE | UnitFlag.ENGLISH

FLAG_OF_LANGUAGE = {Language.ZH: UnitFlag.CHINESE, Language.EN: UnitFlag.ENGLISH}


def language_flags(languages: frozenset[Language]) -> UnitFlag:
    """Return the flag bits of the languages of a text."""
    flags = UnitFlag(0)
    for language in languages:
        flags |= FLAG_OF_LANGUAGE[language]
    return flags


# Of a flag, `&` makes a flag, which takes twenty times as long as a number.
_BIT_OF_LANGUAGE = {language: int(flag) for language, flag in FLAG_OF_LANGUAGE.items()}


def languages_of(flags: int) -> frozenset[Language]:
    """Return the languages that flag bits name."""
    return frozenset(language for language, flag in _BIT_OF_LANGUAGE.items() if flags & flag)


def said_flags(keyword_count: int) -> UnitFlag:
    """Return how much a unit says, by its own keywords, as the bits that stand for it."""
    return UnitFlag(_SAID_STEPS * min(keyword_count, FULL_LENGTH) // FULL_LENGTH << _SAID_SHIFT)


def said_shares(flags: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much units say, by their flags: (n,) float64 in [0, 1], 1 from FULL_LENGTH keywords on."""
    shares: NDArray[np.float64] = np.minimum((flags >> _SAID_SHIFT) & _SAID_MASK, _SAID_STEPS) / _SAID_STEPS
    return shares
