"""Stretches of time in which a statement held: "I lived in Berlin from 2010 to 2014", "since 2019"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from rearview.domain.text import TimeRange
from rearview.language.facts.dates import ahead
from rearview.language.time_expressions import find_times

_BOUNDED = re.compile(
    r"(?P<time>(?:从|自)?[0-9]{4}年(?:[0-9]{1,2}月)?(?:到|至|-|—|~)[0-9]{4}年(?:[0-9]{1,2}月)?(?:间|期间|之间)?)"
    r"|(?:^| )(?P<time_en>(?:from|between) (?:[a-z]+ )?[0-9]{4} (?:to|until|till|and) (?:[a-z]+ )?[0-9]{4})",
    re.IGNORECASE,
)
_FOUR_DIGITS = re.compile("[12][0-9]{3}")
_PAST_VERB = re.compile(r"^(?P<i>i) (?P<verb>lived|worked|studied|owned|drove)\b", re.IGNORECASE)
_PRESENT = {"lived": "live", "worked": "work", "studied": "study", "owned": "own", "drove": "drive"}
_SINCE = re.compile(r"\bsince .{2,30}$|(?:自从?|从).{2,12}(?:起|开始|以来)", re.IGNORECASE)
_STARTING = re.compile(
    r"(?P<clause>.{4,100}?),? (?:starting|beginning|effective|as of|from) (?:(?:in|on"
    r"|from) )?(?P<when>[a-z0-9 ]{3,24})$"
    r"|(?P<head>[^，。]{0,12})从(?P<zh_when>[^，。]{2,8}?)(?:起|开始)(?P<rest>[^，。]{2,40})$",
    re.IGNORECASE,
)
_BY_YEAR_ALONE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A clause without its period, in the present tense, and the period."""

    clause: str
    range: TimeRange


def bounded(clause: str, reference: datetime | None) -> Bounded | None:
    """Return the period in which a clause says that something held; None where it says none."""
    match = _BOUNDED.search(clause) if _FOUR_DIGITS.search(clause) else None
    if match is None:
        return None
    moment = reference or _BY_YEAR_ALONE
    times = find_times(clause, moment, moment.tzinfo or UTC)
    if len(times) != 1:
        return None
    rest = f"{clause[: match.start()]}{clause[match.end() :]}".strip(" ,，")
    rest = _PAST_VERB.sub(lambda found: f"{found['i']} {_PRESENT[found['verb'].lower()]}", rest)
    return Bounded(rest, times[0].range)


@dataclass(frozen=True, slots=True)
class Starting:
    """A clause without the day from which on it holds, and that day's first moment."""

    clause: str
    start: datetime


def starting(clause: str, reference: datetime | None) -> Starting | None:
    """Return a clause that says from what day ahead on it holds, and that day; None for other clauses."""
    match = _STARTING.match(clause) if reference else None
    if match is None or reference is None:
        return None
    time = ahead(match["when"] or match["zh_when"], reference)
    if time is None:
        return None
    return Starting(match["clause"] or f"{match['head']}{match['rest']}", time.range.start)


def since(clause: str, reference: datetime | None) -> datetime | None:
    """Return from when on a clause says that it holds; None where it does not say."""
    if reference is None or (match := _SINCE.search(clause)) is None:
        return None
    times = find_times(match.group(), reference, reference.tzinfo or UTC)
    return times[0].range.start if times else None
