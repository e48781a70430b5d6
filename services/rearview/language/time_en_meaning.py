"""What English time expressions mean: the groups of a rule of `time_en` as a range."""

import re
from datetime import date, timedelta

from rearview.domain.text import TimeRange
from rearview.language import festivals
from rearview.language.calendar_ranges import Calendar, DayPart, Unit
from rearview.language.time_rules import Groups

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS = {name[:3]: at for at, name in enumerate(_MONTH_NAMES, start=1)}
_WEEKDAYS = {name: at for at, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45,
    "fifty": 50, "sixty": 60, "ninety": 90, "half a": 0.5, "half an": 0.5, "a couple of": 2, "a couple": 2,
    "couple of": 2, "couple": 2,
}  # fmt: skip
_VAGUE = frozenset(("a few", "few", "several", "some"))
_PARTS = {
    "morning": DayPart.MORNING, "afternoon": DayPart.AFTERNOON, "evening": DayPart.EVENING, "night": DayPart.NIGHT,
    "early morning": DayPart.DAWN, "midday": DayPart.NOON,
    "noon": DayPart.NOON, "lunchtime": DayPart.NOON, "at noon": DayPart.NOON, "lunch": DayPart.NOON,
}  # fmt: skip
_SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
_STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1}
_DAYS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "earlier today": 0, "today": 0,
    "tomorrow": 1, "the day after tomorrow": 2, "day after tomorrow": 2, "this": 0,
}  # fmt: skip
_HOLIDAYS = {
    "new year's day": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31), "christmas eve": (12, 24),
    "christmas": (12, 25), "christmas day": (12, 25), "new year's eve": (12, 31), "boxing day": (12, 26),
}  # fmt: skip
_MOVING = {
    "chinese new year": festivals.SPRING_FESTIVAL, "lunar new year": festivals.SPRING_FESTIVAL,
    "spring festival": festivals.SPRING_FESTIVAL, "lantern festival": festivals.LANTERN,
    "dragon boat festival": festivals.DRAGON_BOAT, "mid-autumn festival": festivals.MID_AUTUMN,
    "thanksgiving": festivals.THANKSGIVING,
}  # fmt: skip
_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_NTHS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_NOON = 12


def _number(written: str) -> float:
    key = " ".join(written.lower().split())
    return _NUMBERS[key] if key in _NUMBERS else float(key)


def _is_vague(written: str) -> bool:
    return " ".join(written.lower().split()) in _VAGUE


def _unit(written: str) -> Unit:
    return {"min": Unit.MINUTE, "hr": Unit.HOUR}.get(written.lower()) or Unit(written.lower())


def _counted(amount: float, written: str) -> tuple[float, Unit]:
    """A fortnight is two weeks."""
    return (2 * amount, Unit.WEEK) if written.lower() == "fortnight" else (amount, _unit(written))


def month_number(written: str) -> int:
    """The number of a month by its name or the beginning of it."""
    return _MONTHS[written[:3].lower()]


def weekday_number(written: str) -> int:
    """The number of a weekday, Monday being 0, by its name or the beginning of it."""
    return _WEEKDAYS[written[:3].lower()]


def day_number(written: str) -> int:
    return int(re.sub("[a-zA-Z]", "", written))


def within_day(calendar: Calendar, day: date, groups: Groups) -> TimeRange:
    """A clock time or part of a day, as the groups of CLOCK or `part` say; else the whole day."""
    if "hour24" in groups:
        hour = int(groups["hour24"]) + int(groups["minute24"]) / 60
        return calendar.hours(day, hour, hour + 0.5)
    if "hour" in groups:
        hour = int(groups["hour"]) % _NOON + int(groups.get("minute", 0)) / 60
        hour += _NOON if groups["half"].lower() == "p" else 0
        return calendar.hours(day, hour, hour + (0.5 if "minute" in groups else 1))
    if "part" in groups:
        return calendar.part(day, _PARTS[" ".join(groups["part"].lower().split())])
    return calendar.on_date(day)


def _local_day(calendar: Calendar, found: TimeRange, groups: Groups) -> TimeRange:
    return within_day(calendar, found.start.astimezone(calendar.zone).date(), groups)


def day_word(calendar: Calendar, groups: Groups) -> TimeRange:
    word = " ".join(groups["word"].lower().split())
    return within_day(calendar, calendar.today + timedelta(days=_DAYS[word]), groups)


def distance(calendar: Calendar, groups: Groups) -> TimeRange:
    sign = 1 if "future" in groups else -1
    if groups["unit"].lower() == "weekend":
        return calendar.weekend(sign * int(_number(groups["n"])))
    if _is_vague(groups["n"]):
        return calendar.distances(sign * 2, sign * 9, _unit(groups["unit"]))
    amount, unit = _counted(_number(groups["n"]) + (0.5 if "more" in groups else 0), groups["unit"])
    if "most" in groups:
        return calendar.distances(sign * amount, sign * _counted(_number(groups["most"]), groups["unit"])[0], unit)
    return calendar.distance(sign * amount, unit)


def span(calendar: Calendar, groups: Groups) -> TimeRange:
    amount = 7.0 if _is_vague(groups.get("n", "one")) else _number(groups.get("n", "one"))
    amount, unit = _counted(amount, groups["unit"])
    return calendar.span(amount, unit, future=groups.get("step", "").lower() in ("next", "coming"))


def last_night(calendar: Calendar, groups: Groups) -> TimeRange:
    day = calendar.today - timedelta(days=1)
    if "hour" not in groups and "hour24" not in groups:
        return calendar.night(-1)
    # An hour of its morning side is of the next date.
    small_hours = groups.get("half", "").lower() == "a" or int(groups.get("hour24", _NOON)) < _NOON
    return within_day(calendar, day + timedelta(days=small_hours), groups)


def edge(calendar: Calendar, groups: Groups) -> TimeRange:
    """The end of last month, early this year, month end."""
    third = _THIRDS[groups.get("third", "end").split()[0].lower()]
    offset, unit = _STEPS.get(groups.get("step", "").lower(), 0), _unit(groups["unit"])
    if unit is Unit.WEEK:
        return calendar.week_part(offset, third)
    if unit is Unit.YEAR:
        return calendar.year_part(calendar.today.year + offset, third)
    first = calendar.month_offset(offset).start.astimezone(calendar.zone)
    return calendar.month_part(first.year, first.month, third)


def same_day(calendar: Calendar, groups: Groups) -> TimeRange:
    if "n" in groups:
        return calendar.same_day(-int(_number(groups["n"])), _unit(groups["unit"]))
    unit = _unit(groups["unit"])
    return calendar.about_same_day(-1, unit) if groups["kind"].lower() == "time" else calendar.same_day(-1, unit)


def week_of_month(calendar: Calendar, groups: Groups) -> TimeRange:
    if "month" in groups:
        found = month_of_year(calendar, {key: value for key, value in groups.items() if key in ("month", "year")})
    else:
        found = calendar.month_offset(_STEPS.get(groups.get("step", "").lower(), 0))
    first = found.start.astimezone(calendar.zone)
    return calendar.week_of_month(first.year, first.month, _NTHS[groups["nth"].lower()])


def week_of_date(calendar: Calendar, groups: Groups) -> TimeRange:
    day = month_day(calendar, groups).start.astimezone(calendar.zone).date()
    monday = day - timedelta(days=day.weekday())
    return calendar.days(monday, monday + timedelta(days=6))


def step(calendar: Calendar, groups: Groups) -> TimeRange:
    offset, unit = _STEPS[groups["step"].lower()], groups["unit"].lower()
    if unit == "weekend":
        # On a Saturday the weekend that is over is the one before.
        return calendar.weekend(offset)
    if unit == "quarter":
        return calendar.quarter_offset(offset)
    return calendar.distance(offset, _unit(unit))


def step_beyond(calendar: Calendar, groups: Groups) -> TimeRange:
    offset, unit = -2 if groups["step"].lower() == "last" else 2, groups["unit"].lower()
    return calendar.weekend(offset) if unit == "weekend" else calendar.distance(offset, _unit(unit))


def step_season(calendar: Calendar, groups: Groups) -> TimeRange:
    season = _SEASONS[groups["season"].lower()]
    if "before_last" in groups:
        return calendar.recent_season(season, before_last=True)
    offset = _STEPS[groups["step"].lower()]
    if offset < 0:
        return calendar.recent_season(season)
    return calendar.current_season(season) if offset == 0 else calendar.coming_season(season)


def step_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    weekday, offset = weekday_number(groups["weekday"]), _STEPS[groups["step"].lower()]
    if offset < 0:
        found = calendar.recent_weekday(weekday, include_today=False)
    elif offset == 0:
        found = calendar.weekday(weekday, 0)
    else:
        found = calendar.coming_weekday(weekday)
    return _local_day(calendar, found, groups)


def weekday_of_week(calendar: Calendar, groups: Groups) -> TimeRange:
    return _local_day(
        calendar, calendar.weekday(weekday_number(groups["weekday"]), _STEPS[groups["step"].lower()]), groups
    )


def bare_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    return _local_day(calendar, calendar.recent_weekday(weekday_number(groups["weekday"]), include_today=True), groups)


def step_month(calendar: Calendar, groups: Groups) -> TimeRange:
    month, offset = month_number(groups["month"]), _STEPS[groups["step"].lower()]
    if offset > 0:
        return calendar.coming_month(month)
    if offset == 0:
        return calendar.month(calendar.today.year, month)
    # "last March" in March is the one a year ago.
    return calendar.month(calendar.today.year - (month >= calendar.today.month), month)


def month_day(calendar: Calendar, groups: Groups) -> TimeRange:
    month, day = month_number(groups["month"]), day_number(groups["day"])
    found = (
        calendar.on_date(date(int(groups["year"]), month, day))
        if "year" in groups
        else calendar.recent_date(month, day)
    )
    if "last_day" not in groups:
        return _local_day(calendar, found, groups)
    first = found.start.astimezone(calendar.zone).date()
    return calendar.days(first, first.replace(day=day_number(groups["last_day"])))


def month_of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    month = month_number(groups["month"])
    found = calendar.month(int(groups["year"]), month) if "year" in groups else calendar.recent_month(month)
    if "third" in groups:
        return calendar.month_part(found.start.astimezone(calendar.zone).year, month, _THIRDS[groups["third"].lower()])
    return found


def year(calendar: Calendar, groups: Groups) -> TimeRange:
    year = int(groups["year"])
    if "third" in groups:
        return calendar.year_part(year, _THIRDS[groups["third"].lower()])
    return calendar.year(year)


def season_of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    return calendar.season(int(groups["year"]), _SEASONS[groups["season"].lower()])


def part_of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    """A quarter or half of a year that is named, or stepped to; without one a quarter is the nearest."""
    written = groups.get("quarter") or groups["half_year"]
    number = int(written) if written.isdigit() else _NTHS[written.lower()]
    in_year = calendar.today.year + _STEPS.get(groups.get("step", "").lower(), 0)
    in_year = int(groups.get("year", in_year))
    if "half_year" in groups:
        return calendar.half_year(in_year, number)
    if "year" in groups or "step" in groups:
        return calendar.quarter(in_year, number)
    return calendar.nearest_quarter(number)


def holiday(calendar: Calendar, groups: Groups) -> TimeRange:
    name = " ".join(groups["holiday"].lower().replace("\u2019", "'").split())

    def of(year: int) -> TimeRange:
        if name in _MOVING:
            return calendar.days(*festivals.festival(_MOVING[name], year))
        return calendar.on_date(date(year, *_HOLIDAYS[name]))

    if "year" in groups:
        return of(int(groups["year"]))
    this_year = of(calendar.today.year)
    offset = _STEPS.get(groups.get("step", "").lower())
    ahead = this_year.start > calendar.now
    if offset is None or offset < 0:
        return of(calendar.today.year - ahead)
    return this_year if offset == 0 or ahead else of(calendar.today.year + 1)


def decade(calendar: Calendar, groups: Groups) -> TimeRange:
    written = groups["decade"]
    first = (
        int(written)
        if len(written) > len("90")
        else int(written) + (1900 if int(written) > calendar.today.year % 100 else 2000)
    )
    return calendar.years(first, first + 9)
