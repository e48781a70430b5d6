"""Times named in a text, Chinese, English or mixed, as ranges in UTC.

Vague words get a documented width: 最近 / recently is the last 30 days, 刚才 / just now the last hour, 前几天 / the
other day the days of the last week. A date without a year is the latest one that has begun, since memories are about
the past; 下 / next and 明 / tomorrow look ahead. A quarter without a year is the nearest one, and 月底 / the end of the
month that of the current month, since both are planned as often as remembered. Of a range, what is less precise at its
end follows its beginning: 上周一到周三 are days of one week. Nothing here raises on any text.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from rearview.domain.text import TimeRange
from rearview.language import time_en, time_mixed, time_zh
from rearview.language.calendar_ranges import Calendar
from rearview.language.scripts import fold_width_in_place, has_han
from rearview.language.time_rules import FoundTime, Groups, Rule, find_by_rules, longest_first

MAX_CHARACTERS = 8_000
"""Longer texts are read up to here."""


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time named in text[start_offset:end_offset]; `relative` when its meaning moves with the clock."""

    text: str
    start_offset: int
    end_offset: int
    range: TimeRange
    relative: bool


def find_times(text: str, reference: datetime, zone: tzinfo) -> tuple[TimeExpression, ...]:
    """Return the times a text names, in order of place.

    `reference` is the moment the text was said (a naive one is taken as UTC), `zone` where its speaker was.
    """
    head = fold_width_in_place(text[:MAX_CHARACTERS])
    if not _MAY_NAME_A_TIME.search(head):
        return ()
    moment = reference.astimezone(UTC) if reference.tzinfo else reference.replace(tzinfo=UTC)
    calendar = Calendar(moment, zone)
    han = has_han(head)
    latin = _LATIN.search(head) is not None
    rules = _NUMERIC_RULES + (time_zh.RULES if han else ()) + (time_en.RULES if latin else ())
    rules += time_mixed.RULES if han and latin else ()
    try:
        found = longest_first(find_by_rules(rules, head, calendar))
        found = [_open_ended(head, match, calendar) for match in _joined(head, found, calendar)]
    except OverflowError:
        # A reference at the edge of the calendar.
        return ()
    return tuple(
        TimeExpression(text[match.start : match.end], match.start, match.end, match.range, match.relative)
        for match in found
    )


_LATIN = re.compile("[A-Za-z]")
_MAY_NAME_A_TIME = re.compile(
    "[0-9]|[天日周期礼拜月年晚早夜晨午刚近旦节末秋春夏冬季时钟阵段才昨儿夕庆假阳明]"
    "|(?<![a-z])(?:yester|today|tomor|tonight|this|last|next|past|coming|previous|week|month|year|day|ago"
    "|since|in|on|at|until"
    "|before|after|recent|lately|these|just|moment|the|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn"
    "|fall|winter|night|noon|first|second|third|fourth|end|middle|beginning|start|same|fortnight|thanks|lunar|chinese"
    "|dragon|lantern|quarter|twenty|thirty|forty|fifty|sixty|ninety"
    "|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|q[1-4]|h[12]|christmas|hallo|new|valen|boxing|early|mid"
    "|late|from|by|earlier)",
    re.IGNORECASE,
)


def _iso(calendar: Calendar, groups: Groups) -> TimeRange:
    day = date(int(groups["year"]), int(groups["month"]), int(groups["day"]))
    if "hour" not in groups:
        return calendar.on_date(day)
    hour, minute = int(groups["hour"]), int(groups["minute"])
    offset = groups.get("offset", "")
    if not offset:
        return calendar.hours(day, hour + minute / 60, hour + minute / 60 + 1 / 60)
    zone = "+00:00" if offset in ("Z", "z") else offset if ":" in offset else f"{offset[:3]}:{offset[3:]}"
    moment = datetime.fromisoformat(f"{day.isoformat()}T{hour:02}:{minute:02}:00{zone}")
    return TimeRange(moment.astimezone(UTC), moment.astimezone(UTC) + timedelta(minutes=1))


def _american(calendar: Calendar, groups: Groups) -> TimeRange:
    """12/31/2024, or 31/12/2024 where the first number can be no month."""
    first, second, year = int(groups["first"]), int(groups["second"]), int(groups["year"])
    month, day = (second, first) if first > 12 else (first, second)
    return calendar.on_date(date(year, month, day))


_NUMERIC_RULES = (
    Rule(
        re.compile(
            r"(?<![0-9A-Za-z_./-])(?P<year>[12][0-9]{3})(?P<mark>[-/.])(?P<month>1[0-2]|0?[1-9])(?P=mark)"
            r"(?P<day>3[01]|[12][0-9]|0?[1-9])"
            r"(?:[T ](?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
            r"(?P<offset>Z|[+-][0-2][0-9]:?[0-5][0-9])?)?"
            r"(?![0-9A-Za-z_]|[-/.][0-9])"
        ),
        _iso,
    ),
    Rule(
        re.compile(
            r"(?<![0-9A-Za-z_./-])(?P<year>(?:19|20)[0-9]{2})[-/](?P<month>1[0-2]|0[1-9])(?![0-9A-Za-z_]|[-/.][0-9])"
        ),
        lambda calendar, groups: calendar.month(int(groups["year"]), int(groups["month"])),
    ),
    Rule(
        re.compile(
            r"(?<![0-9A-Za-z_./-])(?P<first>[0-3]?[0-9])/(?P<second>[0-3]?[0-9])/(?P<year>(?:19"
            r"|20)[0-9]{2})(?![0-9A-Za-z_]|[-/.][0-9])"
        ),
        _american,
    ),
)

_BETWEEN = re.compile(r"\s{0,3}(?:and|to|until|till|through|[-\u2013~～—]|到|至|和)\s{0,3}(?:the\s)?$", re.IGNORECASE)
_RANGE_OPENS = re.compile(r"(?:(?<![A-Za-z])(?:between|from)\s{1,3}(?:the\s)?|[从自在])$", re.IGNORECASE)
_RANGE_MARK = re.compile(r"\s{0,3}(?:to|until|till|through|[-\u2013~～—]|到|至)\s{0,3}(?:the\s)?$", re.IGNORECASE)
_SINCE = re.compile(r"(?:(?<![A-Za-z])(?:ever\s)?since\s{1,3}(?:the\s)?|自从|自)$", re.IGNORECASE)
_AFTERWARDS = re.compile(r"(?<![A-Za-z])after\s{1,3}(?:the\s)?$", re.IGNORECASE)
_UP_TO = re.compile(r"(?<![A-Za-z])(?:before|prior to)\s{1,3}(?:the\s)?$", re.IGNORECASE)
_UNTIL = re.compile(r"(?<![A-Za-z])(?:until|till|up to)\s{1,3}(?:the\s)?$", re.IGNORECASE)
_ZH_SINCE = re.compile("(?:以来|到现在|至今|起(?!来|床|飞)|开始)")
_ZH_AFTER = re.compile("(?:之后|以后|过后)")
_ZH_BEFORE = re.compile("(?:之前|以前)")
_LOOK_BACK = 16
_LONGEST_DAY = timedelta(hours=25)


def _joined(text: str, found: list[FoundTime], calendar: Calendar) -> list[FoundTime]:
    """Of "between March and May", "从三月到五月": two times with a range mark between them become one."""
    joined: list[FoundTime] = []
    for match in found:
        last = joined[-1] if joined else None
        if last and match.start - last.end <= _LOOK_BACK and _names_range(text, last, match):
            whole = _from_to(last, _following(last, match, calendar), calendar)
            if whole:
                joined[-1] = FoundTime(last.start, match.end, whole, last.relative and match.relative)
                continue
        joined.append(match)
    return joined


def _from_to(first: FoundTime, last: FoundTime, calendar: Calendar) -> TimeRange | None:
    """From the start of one to the end of the other; a year that was guessed follows the one that was named."""
    try:
        if last.yearless and not first.yearless:
            years = first.range.start.year - last.range.start.year
            ends = [calendar.shifted_years(last.range, years + more).end for more in (-1, 0, 1)]
            return TimeRange(first.range.start, min(end for end in ends if end > first.range.start))
        if first.yearless:
            years = last.range.start.year - first.range.start.year
            starts = [calendar.shifted_years(first.range, years + more).start for more in (-1, 0, 1)]
            return TimeRange(max(start for start in starts if start < last.range.end), last.range.end)
        return TimeRange(first.range.start, last.range.end)
    except ValueError:
        return None


def _following(first: FoundTime, last: FoundTime, calendar: Calendar) -> FoundTime:
    """The end of a range, a weekday or day of the month, as the first such after its beginning."""
    if last.recurs is None or first.range.end - first.range.start > _LONGEST_DAY:
        return last
    try:
        return replace(last, range=calendar.first_from(last.range, first.range.start, last.recurs))
    except (ValueError, StopIteration):
        return last


def _names_range(text: str, first: FoundTime, second: FoundTime) -> bool:
    gap = text[first.end : second.start]
    if not _BETWEEN.fullmatch(gap):
        return False
    before = text[max(0, first.start - _LOOK_BACK) : first.start]
    return bool(_RANGE_OPENS.search(before) or _RANGE_MARK.fullmatch(gap))


def _open_ended(text: str, match: FoundTime, calendar: Calendar) -> FoundTime:
    """Of "since March", "五月以来", "before 2023": the time is where a longer stretch begins or ends."""
    before = text[max(0, match.start - _LOOK_BACK) : match.start]
    after = match.end
    if _SINCE.search(before):
        return FoundTime(match.start, match.end, calendar.since(match.range.start), match.relative)
    if suffix := _ZH_SINCE.match(text, after):
        return FoundTime(match.start, suffix.end(), calendar.since(match.range.start), match.relative)
    if _AFTERWARDS.search(before):
        return FoundTime(match.start, match.end, calendar.since(match.range.end), match.relative)
    if suffix := _ZH_AFTER.match(text, after):
        return FoundTime(match.start, suffix.end(), calendar.since(match.range.end), match.relative)
    if _UP_TO.search(before):
        return FoundTime(match.start, match.end, calendar.until(match.range.start), match.relative)
    if suffix := _ZH_BEFORE.match(text, after):
        return FoundTime(match.start, suffix.end(), calendar.until(match.range.start), match.relative)
    if _UNTIL.search(before):
        return FoundTime(match.start, match.end, calendar.until(match.range.end), match.relative)
    return match
