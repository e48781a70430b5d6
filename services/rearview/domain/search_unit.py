"""Search units: the turns and memories that recall ranks, as their index rows describe them."""

from enum import IntEnum, IntFlag

from rearview.domain.text import Language


class UnitFlag(IntFlag):
    """Bits of `search_unit.flags`."""

    RESOLVABLE_TIME = 1
    ROLE_USER = 2
    CHINESE = 4
    ENGLISH = 8
    UNCOUNTED = 16
    """Its window was still open when it was forgotten, so the counts of BM25 know nothing of it."""


class UnitState(IntEnum):
    """Numbers of `search_unit.state`."""

    ACTIVE = 0
    INACTIVE = 1
    TOMBSTONED = 2


LANGUAGE_FLAGS = UnitFlag.CHINESE | UnitFlag.ENGLISH

FLAG_OF_LANGUAGE = {Language.ZH: UnitFlag.CHINESE, Language.EN: UnitFlag.ENGLISH}


def language_flags(languages: frozenset[Language]) -> UnitFlag:
    """Return the flag bits of the languages of a text."""
    flags = UnitFlag(0)
    for language in languages:
        flags |= FLAG_OF_LANGUAGE[language]
    return flags


def languages_of(flags: int) -> frozenset[Language]:
    """Return the languages that flag bits name."""
    return frozenset(language for language, flag in FLAG_OF_LANGUAGE.items() if flags & flag)
