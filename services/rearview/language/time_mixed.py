"""Time expressions half Chinese and half English, as bilingual teams write them: 上周 Friday, 去年Q4, last 周五."""

import re
from datetime import timedelta

from rearview.domain.text import TimeRange
from rearview.language import time_en, time_zh
from rearview.language import time_en_meaning as meaning
from rearview.language.calendar_ranges import Calendar, Unit
from rearview.language.time_rules import Groups, Rule

_ZH_STEPS = "上{1,3}|大上|[这本]|下{1,3}"
_ZH_DAYS = "大?前天|昨[天日]|今[天日]|明天"
_ENDS = "(?![A-Za-z])"


def _step(calendar: Calendar, groups: Groups) -> TimeRange:
    offset, noun = time_zh.STEPS[groups["step"]], groups["noun"].lower()
    if noun == "weekend":
        return calendar.weekend(offset)
    return calendar.quarter_offset(offset) if noun == "quarter" else calendar.distance(offset, Unit(noun))


def _weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    return calendar.weekday(meaning.weekday_number(groups["weekday"]), time_zh.STEPS[groups["step"]])


def _english_step(calendar: Calendar, groups: Groups) -> TimeRange:
    offset, weekday = (
        {"last": -1, "this": 0, "next": 1}[groups["step"].lower()],
        time_zh.WEEKDAYS.get(groups["weekday"]),
    )
    if weekday is None:
        return calendar.weekend(offset)
    if offset == 0:
        return calendar.weekday(weekday, 0)
    return calendar.recent_weekday(weekday, include_today=False) if offset < 0 else calendar.coming_weekday(weekday)


def _of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    written = groups.get("year")
    year = int(written) if written else calendar.today.year + time_zh.YEARS[groups["word"]]
    if "quarter" in groups:
        return calendar.quarter(year, int(groups["quarter"]))
    if "half" in groups:
        return calendar.half_year(year, int(groups["half"]))
    return calendar.month(year, meaning.month_number(groups["month"]))


def _part_of_day(calendar: Calendar, groups: Groups) -> TimeRange:
    day = calendar.today + timedelta(days=time_zh.DAYS[groups["day"].removesuffix("晚")])
    return meaning.within_day(calendar, day, groups)


RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(f"(?P<step>{_ZH_STEPS})一?个?\\s?(?P<noun>weekend|week|month|quarter|year){_ENDS}", re.IGNORECASE),
        _step,
    ),
    Rule(
        re.compile(f"(?P<step>{_ZH_STEPS})一?个?(?:周|星期|礼拜)?的?\\s?(?P<weekday>{time_en.WEEKDAY})", re.IGNORECASE),
        _weekday,
    ),
    Rule(
        re.compile(
            "(?<![A-Za-z])(?P<step>last|this|next)\\s?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])", re.IGNORECASE
        ),
        _english_step,
    ),
    Rule(
        re.compile(
            "(?:(?P<word>大?前年|去年|今年|明年)|(?<![0-9])(?P<year>(?:19|20)[0-9]{2})年)的?\\s?"
            f"(?:Q(?P<quarter>[1-4])|H(?P<half>[12])|(?P<month>{time_en.MONTH}))(?![A-Za-z0-9])",
            re.IGNORECASE,
        ),
        _of_year,
    ),
    Rule(
        re.compile(f"(?P<day>{_ZH_DAYS})的?\\s?(?P<part>morning|afternoon|evening|night|noon){_ENDS}", re.IGNORECASE),
        _part_of_day,
    ),
    Rule(
        re.compile(f"(?P<day>{_ZH_DAYS}|[前昨今明]晚)上?的?\\s?(?:at\\s)?{time_en.CLOCK}{_ENDS}", re.IGNORECASE),
        _part_of_day,
    ),
)
"""Rules for texts of both scripts; a longer match wins over the parts that each language's own rules find."""
