"""English time expressions."""

import re

from rearview.domain.text import TimeRange
from rearview.language import time_en_meaning as meaning
from rearview.language.calendar_ranges import Unit
from rearview.language.time_rules import Resolve, Rule

_N = (
    r"\d{1,4}(?:\.\d)?|half an?|a couple of|a couple|couple of|couple|a few|few|several|some|an?|one|two"
    r"|three|four|five|six"
    "|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty"
    "|forty(?:-five)?|fifty|sixty|ninety"
)
_UNIT = "minute|min|hour|hr|day|weekend|week|fortnight|month|year"
_STEP = "last|past|previous|this|current|next|coming|following"
# "may" and "march" are words as well; alone they count only where a capital or a preposition says so.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_CLEAR_MONTH = "January|February|April|June|July|August|September|October|November|December"
WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
    "(?![a-z])"
)
_FULL_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SEASON = "spring|summer|autumn|fall|winter"
_YEAR = r"(?:19|20|21)\d{2}(?!\d|[-.,:/]\d)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d|[:.]\d)(?:st|nd|rd|th)?(?![a-z%])"
_EDGE = "early|late|mid|(?:beginning|start|middle|end) of"
_HOLIDAY = (
    "new year['\u2019]s (?:day|eve)|valentine['\u2019]s day|halloween|christmas(?: eve| day)?|boxing day|thanksgiving"
    "|(?:chinese|lunar) new year|spring festival|lantern festival|dragon boat festival|mid-autumn festival"
)
_BEFORE = r"(?<![A-Za-z0-9_])"
_AFTER = r"(?![A-Za-z0-9_])"
CLOCK = (
    r"(?:(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\.?"
    r"|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d))"
)
_WITHIN_DAY = (
    "(?: (?:in the )?(?P<part>morning|afternoon|evening|night|at noon|noon|lunchtime))?"
    f"(?:,? (?:at |around |about )?{CLOCK})?"
)


def _rule(pattern: str, resolve: Resolve, *, flags: int = re.IGNORECASE, recurs: Unit | None = None) -> Rule:
    # Words may be broken over lines or set apart by several blanks.
    spaced = pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")
    return Rule(re.compile(_BEFORE + "(?:" + spaced + ")" + _AFTER, flags), resolve, recurs)


RULES: tuple[Rule, ...] = (
    _rule(
        f"(?P<word>(?:the )?day before yesterday|yesterday|earlier today|today|tomorrow|"
        f"(?:the )?day after tomorrow){_WITHIN_DAY}",
        meaning.day_word,
    ),
    _rule(
        f"(?:(?:at |around |about )?{CLOCK}|(?P<part>early morning|noon|midday)),? (?P<word>yesterday|today|tomorrow)",
        meaning.day_word,
    ),
    _rule(
        f"(?P<word>this) (?P<part>morning|afternoon|evening)(?:,? (?:at |around |about )?{CLOCK})?", meaning.day_word
    ),
    _rule("tonight", lambda calendar, _: calendar.tonight()),
    _rule(f"last night(?:,? (?:at |around |about )?{CLOCK})?", meaning.last_night),
    _rule("(?:the )?night before last", lambda calendar, _: calendar.night(-2)),
    _rule(
        f"(?P<n>{_N})(?: or | to |-)(?P<most>{_N}) (?P<unit>{_UNIT})s? (?:ago|back)|(?P<n2>{_N}) "
        f"(?:(?P<more>and a half) )?(?P<unit2>{_UNIT})s? (?:ago|back|before now)",
        lambda calendar, groups: meaning.distance(
            calendar, {"n": groups.get("n2", ""), "unit": groups.get("unit2", "")} | groups
        ),
    ),
    _rule(f"(?P<n>{_N}) (?P<unit>day|week|month|year)s? ago today", meaning.same_day),
    _rule("(?:the )?(?:this|same|that) (?P<kind>day|date|time) last (?P<unit>week|month|year)", meaning.same_day),
    _rule(
        f"(?:the )?(?P<third>{_EDGE})(?: |-)(?:(?P<step>last|past|previous|this|next|the) )?(?P<unit>week|month|year)"
        "|(?P<unit2>month|year)[- ]end",
        lambda calendar, groups: meaning.edge(calendar, {"unit": groups.get("unit2", "")} | groups),
    ),
    _rule(
        "(?:the )?(?P<nth>first|second|third|fourth|last) week (?:of|in) "
        f"(?:(?P<month>{MONTH})(?:,? (?P<year>{_YEAR}))?|(?:(?P<step>last|this|next)|the) month)",
        meaning.week_of_month,
    ),
    _rule(f"(?:the )?week of (?P<month>{MONTH}) (?P<day>{_DAY})(?:,? (?P<year>{_YEAR}))?", meaning.week_of_date),
    _rule(f"(?P<n>an?|one) (?P<unit>{_UNIT}) (?P<more>and a half) ago", meaning.distance),
    _rule(f"(?P<future>in) (?P<n>{_N}) (?:(?P<more>and a half) )?(?P<unit>{_UNIT})s?(?! or)", meaning.distance),
    _rule(f"(?P<n>{_N}) (?P<unit>{_UNIT})s? (?P<future>from now|from today)", meaning.distance),
    _rule(
        f"(?:in |over |during |within |for )?(?:the )?(?P<step>last|past|previous|next|coming) "
        f"(?P<n>{_N}) (?P<unit>{_UNIT})s?",
        meaning.span,
    ),
    _rule(
        "(?:in |over |during |within )the (?P<step>past|last|coming) (?P<unit>hour|day|week|month|year)", meaning.span
    ),
    _rule(
        "the (?P<step>past) (?P<unit>hour|day|week|month|year)|(?:the )?(?P<step2>last) (?P<unit2>hour|fortnight)",
        lambda calendar, groups: meaning.span(calendar, {"unit": groups.get("unit2", "")} | groups),
    ),
    _rule(f"(?P<step>{_STEP}) (?P<unit>week|month|year|weekend|quarter)", meaning.step),
    _rule(
        "(?:the )?(?P<unit>week|weekend|month|year) before (?P<step>last)|"
        "(?:the )?(?P<unit2>week|weekend|month|year) after (?P<step2>next)",
        lambda calendar, groups: meaning.step_beyond(
            calendar, {"unit": groups.get("unit") or groups["unit2"], "step": groups.get("step") or groups["step2"]}
        ),
    ),
    _rule(f"(?P<step>last|past|this|next|coming) (?P<season>{_SEASON})", meaning.step_season),
    _rule(f"(?:the )?(?P<season>{_SEASON}) before (?P<before_last>last)", meaning.step_season),
    _rule(f"(?P<step>last|past|this|next|coming) (?P<weekday>{WEEKDAY}){_WITHIN_DAY}", meaning.step_weekday),
    _rule(f"(?P<weekday>{WEEKDAY}),? (?:of )?(?P<step>last|this|next) week", meaning.weekday_of_week),
    _rule(
        f"(?:at |around |about )?{CLOCK},? (?:on )?(?P<step>last|past|this|next) (?P<weekday>{WEEKDAY})",
        meaning.step_weekday,
    ),
    _rule(f"(?:on (?P<weekday>{WEEKDAY})){_WITHIN_DAY}", meaning.bare_weekday, recurs=Unit.WEEK),
    _rule(f"(?P<weekday>{_FULL_WEEKDAY}){_WITHIN_DAY}", meaning.bare_weekday, recurs=Unit.WEEK),
    _rule(f"(?:at |around |about )?{CLOCK},? (?:on )?(?P<weekday>{_FULL_WEEKDAY})", meaning.bare_weekday),
    _rule(
        "(?:over |on |during |at )the weekend",
        lambda calendar, _: calendar.recent_weekend(),
    ),
    _rule(rf"(?P<step>last|past|this|next|coming) (?P<month>{MONTH})(?!,? \d)", meaning.step_month),
    _rule(
        f"(?P<month>{MONTH}) (?P<day>{_DAY})(?: ?(?:-|\u2013|to) ?(?P<last_day>{_DAY}))?(?:,? "
        f"(?P<year>{_YEAR}))?{_WITHIN_DAY}",
        meaning.month_day,
    ),
    _rule(
        f"(?:the )?(?P<day>{_DAY}) (?:of )?(?P<month>{MONTH})(?:,? (?P<year>{_YEAR}))?{_WITHIN_DAY}", meaning.month_day
    ),
    _rule(f"(?P<month>{MONTH}),? (?:of )?(?P<year>{_YEAR})", meaning.month_of_year),
    _rule(
        f"(?:the )?(?P<third>early|mid|late|beginning|start|middle|end)(?: in| of|-)? ?(?P<month>{MONTH})"
        f"(?:,? (?P<year>{_YEAR}))?",
        meaning.month_of_year,
    ),
    _rule(
        f"(?:in|since|during|until|till|by|before|after|from|of|between|through|around) (?P<time>"
        f"(?P<month>{MONTH}))(?! (?:i|you|he|she|we|they|be|have|not)(?![a-z]))",
        meaning.month_of_year,
    ),
    _rule("(?:and|to) (?P<time>(?P<month>March|May))", meaning.month_of_year, flags=0),
    _rule(f"(?P<year>{_YEAR}),? (?P<month>{MONTH})", meaning.month_of_year),
    _rule(
        f"(?P<month>{_CLEAR_MONTH}|March(?= (?:was|is|and|or|when))|May(?= (?:was|is|and|or)))",
        meaning.month_of_year,
        flags=0,
    ),
    _rule(
        f"(?:in|since|during|until|till|by|before|after|from|between|of|year|around|for|and|to) (?P<time>"
        f"(?P<year>{_YEAR}))",
        meaning.year,
    ),
    _rule(
        f"(?P<third>early|mid|late|beginning of|end of)[- ](?P<year>{_YEAR})",
        lambda calendar, groups: meaning.year(calendar, groups | {"third": groups["third"].split()[0]}),
    ),
    _rule(f"(?:the )?(?P<season>{_SEASON}),? (?:of )?(?P<year>{_YEAR})", meaning.season_of_year),
    _rule(
        f"Q(?P<quarter>[1-4])(?:,? (?:of )?(?:(?P<year>{_YEAR})|(?P<step>last|this|next) year))?",
        meaning.part_of_year,
    ),
    _rule(
        f"H(?P<half_year>[12]),? (?:of )?(?:(?P<year>{_YEAR})|(?P<step>last|this|next) year)",
        meaning.part_of_year,
    ),
    _rule(
        "(?P<step>last|this|next) year['\u2019]s (?:Q(?P<quarter>[1-4])|H(?P<half_year>[12]))",
        meaning.part_of_year,
    ),
    _rule(
        "(?:the )?(?:(?P<quarter>first|second|third|fourth) quarter|(?P<half_year>first|second) half(?= of))"
        f"(?:,? (?:of )?(?:(?:the year )?(?P<year>{_YEAR})|(?P<step>last|this|next|the) year))?",
        meaning.part_of_year,
    ),
    _rule(
        "on the (?P<day>(?:3[01]|[12]?[0-9])(?:st|nd|rd|th))(?! (?:floor|street|avenue|of|day|page|line"
        "|try|time|anniversary))",
        lambda calendar, groups: calendar.day_of_month(meaning.day_number(groups["day"])),
        recurs=Unit.MONTH,
    ),
    _rule(
        f"(?:(?P<step>last|this|next) )?(?P<holiday>{_HOLIDAY})(?:,? (?P<year>(?:19|20)[0-9]{{2}}))?",
        meaning.holiday,
    ),
    _rule("(?:the )?(?:(?P<decade>(?:19|20)?[0-9]0)['\u2019]?s)", meaning.decade),
    _rule("recently|lately|these days", lambda calendar, _: calendar.span(30, Unit.DAY)),
    _rule("just now|a moment ago|moments ago|a minute ago", lambda calendar, _: calendar.span(1, Unit.HOUR)),
    _rule("the other day", lambda calendar, _: TimeRange(calendar.day(-7).start, calendar.day(-1).end)),
    _rule("the other week", lambda calendar, _: TimeRange(calendar.week(-3).start, calendar.week(-1).end)),
    _rule(f"at {CLOCK}", lambda calendar, groups: meaning.within_day(calendar, calendar.today, groups)),
)
"""Rules for one text; a longer match wins over a shorter one at the same place."""
