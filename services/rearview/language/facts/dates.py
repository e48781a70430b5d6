"""Days that statements name: birthdays, and days ahead of the moment they are said."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from rearview.domain.text import TimeRange
from rearview.language.facts.amounts import spelled_number
from rearview.language.time_expressions import TimeExpression, find_times

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "|".join(_MONTHS)
_DAY_OF_YEAR = re.compile(
    rf"(?:(?:on )?(?P<month_name>{_MONTH}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?:on )?(?:the )?(?P<day2>[0-9]{{1,2}})(?:st|nd|rd"
    rf"|th)?(?: of)? (?P<month_name2>{_MONTH}))(?:,? (?P<year>[12][0-9]{{3}}))?"
    r"|(?:(?P<year3>[12][0-9]{3}|[0-9]{2})年)?(?P<month3>[0-9]{1,2})月(?P<day3>[0-9]{1,2})[日号]?"
    r"|(?P<year4>[12][0-9]{3})[-/.](?P<month4>[0-9]{1,2})[-/.](?P<day4>[0-9]{1,2})",
    re.IGNORECASE,
)
_ZH_DAY_NUMBER = re.compile("[一二三四五六七八九十]{1,3}(?=[月日号]|$)")
_SHORT_YEAR = 2
_NEWEST_SHORT_YEAR = 30
_WEEK = timedelta(days=7)
_NAMES_WEEKDAY = re.compile("周|星期|礼拜|(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_NAMES_MONTH = re.compile(rf"[0-9一二三四五六七八九十]月|\b(?:{_MONTH})\b", re.IGNORECASE)
_BEFORE_TIME = re.compile(r"(?:\b(?:on|at|in|by|this|for|from)\s|[在于就])\s*$", re.IGNORECASE)
_AFTER_TIME = re.compile("^(?:之前|以前|前|之后|以后|左右)")
_BACKWARD = re.compile(r"上|去|昨|前|last|ago|yester|past|previous", re.IGNORECASE)


def birthday(written: str) -> str | None:
    """Return an ISO date, `--MM-DD` without a year; None where there is no such day."""
    plain = _ZH_DAY_NUMBER.sub(lambda found: str(spelled_number(found.group()) or 0), written.strip(" .了哦吧"))
    match = _DAY_OF_YEAR.fullmatch(plain)
    if match is None:
        return None
    groups = {name.rstrip("234"): value for name, value in match.groupdict().items() if value}
    year = groups.get("year", "")
    if len(year) == _SHORT_YEAR:
        # "95年" is 1995, "08年" is 2008: few who speak of their birthday were born before 1931.
        year = f"{19 if int(year) > _NEWEST_SHORT_YEAR else 20}{year}"
    name = groups.get("month_name")
    month = _MONTHS.index(name.lower()) + 1 if name else int(groups["month"])
    day = int(groups["day"])
    try:
        # Every day of a year exists in a leap year.
        date(int(year or 2000), month, day)
    except ValueError:
        return None
    return f"{year or '-'}-{month:02}-{day:02}"


@dataclass(frozen=True, slots=True)
class Ahead:
    """A time that is still to come or has begun, named in text[start:end], and the local day it begins on."""

    range: TimeRange
    day: str
    start: int
    end: int


def ahead(text: str, reference: datetime) -> Ahead | None:
    """Return the first time a text names, as one ahead of `reference`; None where it names none or a past one.

    A weekday or a date without a year, which elsewhere means the latest one, here means the next one.
    """
    zone = reference.tzinfo or UTC
    for found in find_times(text, reference, zone):
        shifted = _forward(found, reference)
        if shifted is not None:
            day = shifted.start.astimezone(zone).date().isoformat()
            return Ahead(shifted, day, found.start_offset, found.end_offset)
    return None


def without_time(text: str, time: Ahead) -> str:
    """Return the text without the words for a time and the preposition before them."""
    after = _AFTER_TIME.sub("", text[time.end :])
    return f"{_BEFORE_TIME.sub('', text[: time.start])}{after}".strip(" ,，")


def _forward(found: TimeExpression, reference: datetime) -> TimeRange | None:
    stretch = found.range
    if stretch.end > reference.astimezone(UTC):
        return stretch
    if not found.relative or _BACKWARD.search(found.text):
        return None
    if _NAMES_WEEKDAY.search(found.text):
        return TimeRange(stretch.start + _WEEK, stretch.end + _WEEK)
    if _NAMES_MONTH.search(found.text):
        try:
            zone = reference.tzinfo or UTC
            start, end = stretch.start.astimezone(zone), stretch.end.astimezone(zone)
            return TimeRange(_next_year(start).astimezone(UTC), _next_year(end).astimezone(UTC))
        except (ValueError, OverflowError):
            return None
    return None


def _next_year(moment: datetime) -> datetime:
    return moment.replace(year=moment.year + 1)
