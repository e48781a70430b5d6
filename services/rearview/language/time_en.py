"""English time expressions."""

import re
from datetime import date, timedelta

from rearview.domain.text import TimeRange
from rearview.language.calendar_ranges import Calendar, DayPart, Unit
from rearview.language.time_rules import Groups, Resolve, Rule

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS = {name[:3]: at for at, name in enumerate(_MONTH_NAMES, start=1)}
_WEEKDAYS = {name: at for at, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "half a": 0.5, "half an": 0.5, "a couple of": 2, "a couple": 2,
    "couple of": 2, "couple": 2,
}  # fmt: skip
_VAGUE = frozenset(("a few", "few", "several", "some"))
_PARTS = {
    "morning": DayPart.MORNING, "afternoon": DayPart.AFTERNOON, "evening": DayPart.EVENING, "night": DayPart.NIGHT,
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
_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_NOON = 12

_N = (
    r"\d{1,4}(?:\.\d)?|half an?|a couple of|a couple|couple of|couple|a few|few|several|some|an?|one|two"
    r"|three|four|five|six"
    "|seven|eight|nine|ten|eleven|twelve"
)
_UNIT = "minute|min|hour|hr|day|week|month|year"
_STEP = "last|past|previous|this|current|next|coming|following"
# "may" and "march" are words as well; alone they count only where a capital or a preposition says so.
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_CLEAR_MONTH = "January|February|April|June|July|August|September|October|November|December"
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
    "(?![a-z])"
)
_FULL_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASON = "spring|summer|autumn|fall|winter"
_YEAR = r"(?:19|20|21)\d{2}(?!\d|[-.,:/]\d)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d|[:.]\d)(?:st|nd|rd|th)?(?![a-z%])"
_BEFORE = r"(?<![A-Za-z0-9_])"
_AFTER = r"(?![A-Za-z0-9_])"
_CLOCK = (
    r"(?:(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\.?"
    r"|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d))"
)
_WITHIN_DAY = (
    "(?: (?:in the )?(?P<part>morning|afternoon|evening|night|at noon|noon|lunchtime))?"
    f"(?:,? (?:at |around |about )?{_CLOCK})?"
)


def _rule(pattern: str, resolve: Resolve, *, flags: int = re.IGNORECASE) -> Rule:
    # Words may be broken over lines or set apart by several blanks.
    spaced = pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")
    return Rule(re.compile(_BEFORE + "(?:" + spaced + ")" + _AFTER, flags), resolve)


def _number(written: str) -> float:
    key = " ".join(written.lower().split())
    return _NUMBERS[key] if key in _NUMBERS else float(key)


def _is_vague(written: str) -> bool:
    return " ".join(written.lower().split()) in _VAGUE


def _unit(written: str) -> Unit:
    return {"min": Unit.MINUTE, "hr": Unit.HOUR}.get(written.lower()) or Unit(written.lower())


def _month(written: str) -> int:
    return _MONTHS[written[:3].lower()]


def _weekday(written: str) -> int:
    return _WEEKDAYS[written[:3].lower()]


def _day_number(written: str) -> int:
    return int(re.sub("[a-zA-Z]", "", written))


def _within_day(calendar: Calendar, day: date, groups: Groups) -> TimeRange:
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
    return _within_day(calendar, found.start.astimezone(calendar.zone).date(), groups)


def _day_word(calendar: Calendar, groups: Groups) -> TimeRange:
    word = " ".join(groups["word"].lower().split())
    return _within_day(calendar, calendar.today + timedelta(days=_DAYS[word]), groups)


def _distance(calendar: Calendar, groups: Groups) -> TimeRange:
    unit, sign = _unit(groups["unit"]), 1 if "future" in groups else -1
    if _is_vague(groups["n"]):
        near, far = calendar.distance(sign * 2, unit), calendar.distance(sign * 9, unit)
        return TimeRange(min(near.start, far.start), max(near.end, far.end))
    return calendar.distance(sign * (_number(groups["n"]) + (0.5 if "more" in groups else 0)), unit)


def _span(calendar: Calendar, groups: Groups) -> TimeRange:
    amount = 7.0 if _is_vague(groups.get("n", "one")) else _number(groups.get("n", "one"))
    return calendar.span(amount, _unit(groups["unit"]), future=groups["step"].lower() in ("next", "coming"))


def _step(calendar: Calendar, groups: Groups) -> TimeRange:
    offset, unit = _STEPS[groups["step"].lower()], groups["unit"].lower()
    if unit == "weekend":
        # On a Saturday the weekend that is over is the one before.
        return calendar.weekend(offset)
    if unit == "quarter":
        return calendar.quarter_offset(offset)
    return calendar.distance(offset, _unit(unit))


def _step_beyond(calendar: Calendar, groups: Groups) -> TimeRange:
    return calendar.distance(-2 if groups["step"].lower() == "last" else 2, _unit(groups["unit"]))


def _step_season(calendar: Calendar, groups: Groups) -> TimeRange:
    season, offset = _SEASONS[groups["season"].lower()], _STEPS[groups["step"].lower()]
    if offset < 0:
        return calendar.recent_season(season)
    return calendar.current_season(season) if offset == 0 else calendar.coming_season(season)


def _step_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    weekday, offset = _weekday(groups["weekday"]), _STEPS[groups["step"].lower()]
    if offset < 0:
        found = calendar.recent_weekday(weekday, include_today=False)
    elif offset == 0:
        found = calendar.weekday(weekday, 0)
    else:
        found = calendar.coming_weekday(weekday)
    return _local_day(calendar, found, groups)


def _weekday_of_week(calendar: Calendar, groups: Groups) -> TimeRange:
    return _local_day(calendar, calendar.weekday(_weekday(groups["weekday"]), _STEPS[groups["step"].lower()]), groups)


def _bare_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    return _local_day(calendar, calendar.recent_weekday(_weekday(groups["weekday"]), include_today=True), groups)


def _step_month(calendar: Calendar, groups: Groups) -> TimeRange:
    month, offset = _month(groups["month"]), _STEPS[groups["step"].lower()]
    if offset > 0:
        return calendar.coming_month(month)
    if offset == 0:
        return calendar.month(calendar.today.year, month)
    # "last March" in March is the one a year ago.
    return calendar.month(calendar.today.year - (month >= calendar.today.month), month)


def _month_day(calendar: Calendar, groups: Groups) -> TimeRange:
    month, day = _month(groups["month"]), _day_number(groups["day"])
    found = (
        calendar.on_date(date(int(groups["year"]), month, day))
        if "year" in groups
        else calendar.recent_date(month, day)
    )
    if "last_day" not in groups:
        return _local_day(calendar, found, groups)
    first = found.start.astimezone(calendar.zone).date()
    return calendar.days(first, first.replace(day=_day_number(groups["last_day"])))


def _month_of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    month = _month(groups["month"])
    found = calendar.month(int(groups["year"]), month) if "year" in groups else calendar.recent_month(month)
    if "third" in groups:
        return calendar.month_part(found.start.astimezone(calendar.zone).year, month, _THIRDS[groups["third"].lower()])
    return found


def _year(calendar: Calendar, groups: Groups) -> TimeRange:
    year = int(groups["year"])
    if "third" in groups:
        first, last = ((1, 4), (5, 8), (9, 12))[_THIRDS[groups["third"].lower()]]
        return TimeRange(calendar.month(year, first).start, calendar.month(year, last).end)
    return calendar.year(year)


def _season_of_year(calendar: Calendar, groups: Groups) -> TimeRange:
    return calendar.season(int(groups["year"]), _SEASONS[groups["season"].lower()])


def _quarter(calendar: Calendar, groups: Groups) -> TimeRange:
    return calendar.quarter(int(groups.get("year", calendar.today.year)), int(groups["quarter"]))


def _holiday(calendar: Calendar, groups: Groups) -> TimeRange:
    month, day = _HOLIDAYS[" ".join(groups["holiday"].lower().replace("\u2019", "'").split())]
    if "year" in groups:
        return calendar.on_date(date(int(groups["year"]), month, day))
    this_year = calendar.on_date(date(calendar.today.year, month, day))
    offset = _STEPS.get(groups.get("step", "").lower())
    ahead = this_year.start > calendar.now
    if offset is None or offset < 0:
        return calendar.on_date(date(calendar.today.year - ahead, month, day))
    return this_year if offset == 0 or ahead else calendar.on_date(date(calendar.today.year + 1, month, day))


def _decade(calendar: Calendar, groups: Groups) -> TimeRange:
    written = groups["decade"]
    first = (
        int(written)
        if len(written) > len("90")
        else int(written) + (1900 if int(written) > calendar.today.year % 100 else 2000)
    )
    return calendar.years(first, first + 9)


RULES: tuple[Rule, ...] = (
    _rule(
        f"(?P<word>(?:the )?day before yesterday|yesterday|earlier today|today|tomorrow|"
        f"(?:the )?day after tomorrow){_WITHIN_DAY}",
        _day_word,
    ),
    _rule("(?P<word>this) (?P<part>morning|afternoon|evening)", _day_word),
    _rule("tonight", lambda calendar, _: calendar.tonight()),
    _rule("last night", lambda calendar, _: calendar.part(calendar.today - timedelta(days=1), DayPart.NIGHT)),
    _rule(f"(?P<n>{_N}) (?:(?P<more>and a half) )?(?P<unit>{_UNIT})s? (?:ago|back|before now)", _distance),
    _rule(f"(?P<n>an?|one) (?P<unit>{_UNIT}) (?P<more>and a half) ago", _distance),
    _rule(f"(?P<future>in) (?P<n>{_N}) (?:(?P<more>and a half) )?(?P<unit>{_UNIT})s?(?! or)", _distance),
    _rule(f"(?P<n>{_N}) (?P<unit>{_UNIT})s? (?P<future>from now|from today)", _distance),
    _rule(
        f"(?:in |over |during |within |for )?(?:the )?(?P<step>last|past|previous|next|coming) "
        f"(?P<n>{_N}) (?P<unit>{_UNIT})s?",
        _span,
    ),
    _rule("(?:in |over |during |within )the (?P<step>past|coming) (?P<unit>day|week|month|year)", _span),
    _rule(f"(?P<step>{_STEP}) (?P<unit>week|month|year|weekend|quarter)", _step),
    _rule(
        "the (?P<unit>week|month|year) before (?P<step>last)|the (?P<unit2>week|month|year) after (?P<step2>next)",
        lambda calendar, groups: _step_beyond(
            calendar, {"unit": groups.get("unit") or groups["unit2"], "step": groups.get("step") or groups["step2"]}
        ),
    ),
    _rule(f"(?P<step>last|past|this|next|coming) (?P<season>{_SEASON})", _step_season),
    _rule(f"(?P<step>last|past|this|next|coming) (?P<weekday>{_WEEKDAY}){_WITHIN_DAY}", _step_weekday),
    _rule(f"(?P<weekday>{_WEEKDAY}),? (?:of )?(?P<step>last|this|next) week", _weekday_of_week),
    _rule(f"(?:on (?P<weekday>{_WEEKDAY})){_WITHIN_DAY}", _bare_weekday),
    _rule(f"(?P<weekday>{_FULL_WEEKDAY}){_WITHIN_DAY}", _bare_weekday),
    _rule(
        "(?:over |on |during |at )the weekend",
        lambda calendar, _: calendar.weekend(0 if calendar.today.weekday() >= _WEEKDAYS["sat"] else -1),
    ),
    _rule(rf"(?P<step>last|past|this|next|coming) (?P<month>{_MONTH})(?!,? \d)", _step_month),
    _rule(
        f"(?P<month>{_MONTH}) (?P<day>{_DAY})(?: ?(?:-|\u2013|to) ?(?P<last_day>{_DAY}))?(?:,? "
        f"(?P<year>{_YEAR}))?{_WITHIN_DAY}",
        _month_day,
    ),
    _rule(f"(?:the )?(?P<day>{_DAY}) (?:of )?(?P<month>{_MONTH})(?:,? (?P<year>{_YEAR}))?{_WITHIN_DAY}", _month_day),
    _rule(f"(?P<month>{_MONTH}),? (?:of )?(?P<year>{_YEAR})", _month_of_year),
    _rule(
        f"(?:the )?(?P<third>early|mid|late|beginning|start|middle|end)(?: in| of|-)? ?(?P<month>{_MONTH})"
        f"(?:,? (?P<year>{_YEAR}))?",
        _month_of_year,
    ),
    _rule(
        f"(?:in|since|during|until|till|by|before|after|from|of|between|through|around) (?P<time>"
        f"(?P<month>{_MONTH}))(?! (?:i|you|he|she|we|they|be|have|not)(?![a-z]))",
        _month_of_year,
    ),
    _rule("(?:and|to) (?P<time>(?P<month>March|May))", _month_of_year, flags=0),
    _rule(f"(?P<year>{_YEAR}),? (?P<month>{_MONTH})", _month_of_year),
    _rule(
        f"(?P<month>{_CLEAR_MONTH}|March(?= (?:was|is|and|or|when))|May(?= (?:was|is|and|or)))", _month_of_year, flags=0
    ),
    _rule(
        f"(?:in|since|during|until|till|by|before|after|from|between|of|year|around|for|and|to) (?P<time>"
        f"(?P<year>{_YEAR}))",
        _year,
    ),
    _rule(
        f"(?P<third>early|mid|late|beginning of|end of)[- ](?P<year>{_YEAR})",
        lambda calendar, groups: _year(calendar, groups | {"third": groups["third"].split()[0]}),
    ),
    _rule(f"(?:the )?(?P<season>{_SEASON}),? (?:of )?(?P<year>{_YEAR})", _season_of_year),
    _rule(f"Q(?P<quarter>[1-4])(?:,? (?:of )?(?P<year>{_YEAR}))?", _quarter),
    _rule(
        "on the (?P<day>(?:3[01]|[12]?[0-9])(?:st|nd|rd|th))(?! (?:floor|street|avenue|of|day|page|line"
        "|try|time|anniversary))",
        lambda calendar, groups: calendar.day_of_month(_day_number(groups["day"])),
    ),
    _rule(
        "(?:(?P<step>last|this|next) )?(?P<holiday>new year['\u2019]s (?:day|eve)|valentine['\u2019]s day"
        "|halloween|christmas(?: eve| day)?|boxing day)(?:,? (?P<year>(?:19|20)[0-9]{2}))?",
        _holiday,
    ),
    _rule("(?:the )?(?:(?P<decade>(?:19|20)?[0-9]0)['\u2019]?s)", _decade),
    _rule("recently|lately|these days", lambda calendar, _: calendar.span(30, Unit.DAY)),
    _rule("just now|a moment ago|moments ago|a minute ago", lambda calendar, _: calendar.span(1, Unit.HOUR)),
    _rule("the other day", lambda calendar, _: TimeRange(calendar.day(-7).start, calendar.day(-1).end)),
    _rule("the other week", lambda calendar, _: TimeRange(calendar.week(-3).start, calendar.week(-1).end)),
    _rule(f"at {_CLOCK}", lambda calendar, groups: _within_day(calendar, calendar.today, groups)),
)
"""Rules for one text; a longer match wins over a shorter one at the same place."""
