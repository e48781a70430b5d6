"""Reading a point in time as agents write it: accepted when it can mean one thing only."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

EXPECTED = (
    'expected an ISO 8601 time with its offset ("2026-08-15T10:30:00+08:00", "2026-08-15T02:30:00Z"), a date '
    '("2026-08-15"), or Unix time as a number of seconds (1786761000) or milliseconds (1786761000000)'
)

# Between these a number of seconds lies in the years 1973 to 5138, and so does one of milliseconds in the next decade
# of magnitudes; no number is both.
_SECONDS_FROM, _MILLISECONDS_FROM, _MILLISECONDS_TO = 1e8, 1e11, 1e14
_BASIC_DATE_CHARACTERS = 8

# A date with the year first, which can mean one day only: 2026年8月1日, 2026/8/1, 2026.8.1, 2026-8-1.
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?:年|(?P<mark>[-/.]))(?P<month>\d{1,2})(?(mark)(?P=mark)|月)(?P<day>\d{1,2})(?(mark)|[日号])(?!\d)"
)


def read_moment(value: object, *, zone: tzinfo | None = None, end_of_day: bool = False) -> datetime:
    """Return the moment, aware.

    `zone` is the caller's, if told: times without an offset, and dates, are meant in it. Without it dates are days of
    UTC and times without an offset are refused. A date is the beginning of its day, or the end with `end_of_day`.

    Raises:
        ValueError: it is not a time, or could be several; the message says what was expected.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(EXPECTED)
    if not isinstance(value, str):
        return _of_number(value)
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) != _BASIC_DATE_CHARACTERS:
        return _of_number(int(text[:20]))
    text = _YEAR_FIRST.sub(_iso_date, text, count=1) if _YEAR_FIRST.match(text) else text
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return _of_text(text, zone)
    midnight = datetime.combine(day, time(), zone or UTC)
    return midnight + timedelta(days=1) if end_of_day else midnight


def _iso_date(written: re.Match[str]) -> str:
    return f"{written['year']}-{int(written['month']):02}-{int(written['day']):02}"


def _of_number(number: float) -> datetime:
    if not _SECONDS_FROM <= number < _MILLISECONDS_TO:
        raise ValueError(f"the number is ambiguous as Unix time; {EXPECTED}")
    return datetime.fromtimestamp(number if number < _MILLISECONDS_FROM else number / 1000, UTC)


def _of_text(text: str, zone: tzinfo | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(EXPECTED) from None
    if moment.tzinfo is not None:
        return moment
    if zone is None:
        raise ValueError(f"the offset is missing, so the time is ambiguous; {EXPECTED}")
    return moment.replace(tzinfo=zone)
