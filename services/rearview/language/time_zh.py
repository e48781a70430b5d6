"""Chinese time expressions."""

import re
from datetime import date, timedelta

from rearview.domain.text import TimeRange
from rearview.language.calendar_ranges import Calendar, DayPart, Unit, shift_month
from rearview.language.time_rules import Groups, Rule

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {
    "分钟": Unit.MINUTE,
    "小时": Unit.HOUR,
    "钟头": Unit.HOUR,
    "天": Unit.DAY,
    "日": Unit.DAY,
    "周": Unit.WEEK,
    "星期": Unit.WEEK,
    "礼拜": Unit.WEEK,
    "月": Unit.MONTH,
    "年": Unit.YEAR,
}
_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨": -1, "今天": 0, "今日": 0, "今儿": 0, "今": 0,
    "明天": 1, "明日": 1, "明": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_PARTS = {
    "凌晨": DayPart.DAWN, "半夜": DayPart.DAWN, "清晨": DayPart.MORNING,
    "早晨": DayPart.MORNING, "早上": DayPart.MORNING,
    "上午": DayPart.MORNING, "晨": DayPart.MORNING, "早": DayPart.MORNING,
    "中午": DayPart.NOON, "下午": DayPart.AFTERNOON,
    "午后": DayPart.AFTERNOON, "傍晚": DayPart.EVENING, "晚上": DayPart.EVENING,
    "夜里": DayPart.NIGHT, "晚": DayPart.EVENING,
    "夜": DayPart.NIGHT,
}  # fmt: skip
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_THIRDS = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "底": 2, "末": 2, "下旬": 2}
_HOLIDAYS = {
    "元旦": (1, 1, 1), "情人节": (2, 14, 1), "妇女节": (3, 8, 1), "劳动节": (5, 1, 5),
    "五一": (5, 1, 5), "儿童节": (6, 1, 1),
    "国庆节": (10, 1, 7), "国庆": (10, 1, 7), "十一假期": (10, 1, 7),
    "万圣节": (10, 31, 1), "双十一": (11, 11, 1),
    "平安夜": (12, 24, 1), "圣诞节": (12, 25, 1), "圣诞": (12, 25, 1),
}  # fmt: skip
_NOON, _LAST_MORNING_HOUR = 12, 11
_LEAST_CALENDAR_YEAR = 1000

_N = "[0-9]{1,4}(?:\\.5)?|[一二两三四五六七八九十百]{1,5}|半|几|数|好几"
_SMALL = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_UNIT = "分钟|小时|钟头|天|日|周|星期|礼拜|月|年"
_CLOCK = (
    "(?P<hour>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})(?:[点點]钟?|时(?!候|间))(?:(?P<minute>[0-9]{1,2}|[零一二三四五六七八九十]{1,3}|半|一刻|三刻)分?)?"
    "|(?P<hour24>[01]?[0-9]|2[0-3])[:：](?P<minute24>[0-5][0-9])"
)
_PART = "(?P<part>凌晨|半夜|清晨|早晨|早上|上午|中午|下午|午后|傍晚|晚上|夜里|[早晚夜晨](?![饭餐安报点]))"
_WITHIN_DAY = f"(?:的?{_PART})?(?:的?(?:{_CLOCK}))?"
_WITHIN_YEAR = (
    "(?:的?(?:(?P<season>[春夏秋冬])[天季]?(?![节游令装])|(?P<holiday>元旦|情人节|妇女节|劳动节|五一|儿童节|国庆节?|十一假期|万圣节|双十一|平安夜|圣诞节?)"
    f"|(?P<month>{_SMALL})月份?(?:的?(?P<day>{_SMALL})[日号]{_WITHIN_DAY}|(?P<third>[初中底末]|[上中下]旬))?"
    "|第?(?P<quarter>[一二三四1-4])季度|(?P<half>[上下])半年|年?(?P<edge>[初底末中])))?"
)


def _number(written: str) -> float:
    """A number in figures or Chinese numerals up to 9999; 半 is one half.

    Raises:
        ValueError: the characters do not form a number.
    """
    if written[0].isdigit():
        return float(written)
    if written == "半":
        return 0.5
    if len(written) > 1 and all(character in _DIGITS for character in written):
        return float("".join(str(_DIGITS[character]) for character in written))
    total, digit = 0, None
    for character in written:
        if character in _DIGITS:
            digit = _DIGITS[character]
        else:
            total += (1 if digit is None else digit) * {"十": 10, "百": 100}[character]
            digit = 0
    return float(total + (digit or 0))


def _whole(written: str) -> int:
    return int(_number(written))


def _within_day(calendar: Calendar, day: date, groups: Groups) -> TimeRange:
    part = _PARTS.get(groups.get("part", ""))
    if "hour24" in groups:
        hour = int(groups["hour24"]) + int(groups["minute24"]) / 60
        return calendar.hours(day, hour, hour + 0.5)
    if "hour" in groups:
        written = groups.get("minute")
        minutes = {None: 0, "半": 30, "一刻": 15, "三刻": 45}.get(written)
        minutes = _whole(written) if minutes is None and written else minutes or 0
        hour = _whole(groups["hour"]) + minutes / 60
        if hour > 24 or minutes > 59:
            raise ValueError("no such hour")
        late_noon = part is DayPart.NOON and hour < _LAST_MORNING_HOUR
        if hour < _NOON and (late_noon or part in (DayPart.AFTERNOON, DayPart.EVENING)):
            hour += _NOON
        return calendar.hours(day, hour, hour + (0.5 if written else 1))
    return calendar.part(day, part) if part else calendar.on_date(day)


def _day_word(calendar: Calendar, groups: Groups) -> TimeRange:
    return _within_day(calendar, calendar.today + timedelta(days=_DAYS[groups["word"]]), groups)


def _night_word(calendar: Calendar, groups: Groups) -> TimeRange:
    if groups["word"] == "今" and "hour" not in groups:
        return calendar.tonight()
    return _within_day(calendar, calendar.today + timedelta(days=_DAYS[groups["word"]]), {"part": "晚上"} | groups)


def _distance(calendar: Calendar, groups: Groups) -> TimeRange:
    unit = _UNITS[groups["unit"]]
    sign = 1 if groups["way"].endswith("后") else -1
    if groups["n"] in ("几", "数", "好几"):
        near, far = calendar.distance(sign * 2, unit), calendar.distance(sign * 9, unit)
        return TimeRange(min(near.start, far.start), max(near.end, far.end))
    if unit is Unit.YEAR and groups["n"].isdigit() and int(groups["n"]) >= _LEAST_CALENDAR_YEAR:
        raise ValueError("a calendar year, not a number of years")
    amount = _number(groups["n"]) + (0.5 if "half" in groups else 0)
    return calendar.distance(sign * amount, unit)


def _span(calendar: Calendar, groups: Groups) -> TimeRange:
    amount = 7.0 if groups["n"] in ("几", "数", "好几") else _number(groups["n"])
    return calendar.span(amount, _UNITS[groups["unit"]], future="future" in groups)


def _few_ago(calendar: Calendar, groups: Groups) -> TimeRange:
    unit = _UNITS[groups["unit"]]
    return TimeRange(calendar.distance(-7, unit).start, calendar.distance(-1, unit).end)


def _week(calendar: Calendar, groups: Groups) -> TimeRange:
    offset = _STEPS[groups["step"]]
    weekday = groups.get("weekday")
    if weekday is None:
        return calendar.week(offset)
    if weekday == "末":
        return calendar.weekend(offset)
    day = calendar.monday(offset) + timedelta(days=_WEEKDAYS[weekday])
    return _within_day(calendar, day, groups)


def _bare_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    recent = calendar.recent_weekday(_WEEKDAYS[groups["weekday"]], include_today=True)
    return _within_day(calendar, recent.start.astimezone(calendar.zone).date(), groups)


def _bare_weekend(calendar: Calendar, _groups: Groups) -> TimeRange:
    return calendar.weekend(0 if calendar.today.weekday() >= _WEEKDAYS["六"] else -1)


def _month_step(calendar: Calendar, groups: Groups) -> TimeRange:
    year, month = shift_month(calendar.today.year, calendar.today.month, _STEPS[groups["step"]])
    if "day" in groups:
        return _within_day(calendar, date(year, month, _whole(groups["day"])), groups)
    if "third" in groups:
        return calendar.month_part(year, month, _THIRDS[groups["third"]])
    return calendar.month(year, month)


def _within_year(calendar: Calendar, year: int, groups: Groups) -> TimeRange:
    if "season" in groups:
        return calendar.season(year, _SEASONS[groups["season"]])
    if "holiday" in groups:
        month, day, length = _HOLIDAYS[groups["holiday"]]
        first = date(year, month, day)
        return calendar.days(first, first + timedelta(days=length - 1))
    if "month" in groups:
        month = _whole(groups["month"])
        if "day" in groups:
            return _within_day(calendar, date(year, month, _whole(groups["day"])), groups)
        if "third" in groups:
            return calendar.month_part(year, month, _THIRDS[groups["third"]])
        return calendar.month(year, month)
    if "quarter" in groups:
        return calendar.quarter(year, _whole(groups["quarter"]))
    if "half" in groups:
        first_quarter = 1 if groups["half"] == "上" else 3
        return TimeRange(calendar.quarter(year, first_quarter).start, calendar.quarter(year, first_quarter + 1).end)
    if "edge" in groups:
        first_month, last_month = {"初": (1, 3), "中": (5, 8)}.get(groups["edge"], (10, 12))
        return TimeRange(calendar.month(year, first_month).start, calendar.month(year, last_month).end)
    return calendar.year(year)


def _relative_year(calendar: Calendar, groups: Groups) -> TimeRange:
    return _within_year(calendar, calendar.today.year + _YEARS[groups["word"]], groups)


def _absolute_year(calendar: Calendar, groups: Groups) -> TimeRange:
    year = _whole(groups["year"])
    return _within_year(calendar, year + 2000 if year < 100 else year, groups)


def _bare_date(calendar: Calendar, groups: Groups) -> TimeRange:
    month = _whole(groups["month"])
    if "day" in groups:
        latest = calendar.recent_date(month, _whole(groups["day"]))
        return _within_day(calendar, latest.start.astimezone(calendar.zone).date(), groups)
    found = calendar.recent_month(month)
    if "third" in groups:
        return calendar.month_part(found.start.astimezone(calendar.zone).year, month, _THIRDS[groups["third"]])
    return found


def _bare_holiday(calendar: Calendar, groups: Groups) -> TimeRange:
    this_year = _within_year(calendar, calendar.today.year, groups)
    return this_year if this_year.start <= calendar.now else _within_year(calendar, calendar.today.year - 1, groups)


def _decade(calendar: Calendar, groups: Groups) -> TimeRange:
    written = _whole(groups["decade"])
    # "20年代" is of this century, "90年代" of the last; the turning point is where memory ends.
    first = written + (2000 if written <= calendar.today.year % 100 else 1900)
    return calendar.years(first, first + 9)


def _clock_today(calendar: Calendar, groups: Groups) -> TimeRange:
    return _within_day(calendar, calendar.today, groups)


RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(f"(?P<word>大前天|前天|前日|昨天|昨日|今天|今日|今儿|明天|明日|大后天|后天){_WITHIN_DAY}"), _day_word
    ),
    Rule(re.compile(f"(?P<word>[昨今明])(?:天)?[晚夜](?:上|里)?(?![饭餐])(?:的?(?:{_CLOCK}))?"), _night_word),
    Rule(re.compile(f"(?P<word>[昨今明])(?P<part>[早晨])上?(?![饭餐])(?:的?(?:{_CLOCK}))?"), _day_word),
    Rule(
        re.compile(
            f"(?<![0-9第])(?P<n>{_N})个?(?P<half>半)?(?P<unit>分钟|小时|钟头|天|周|星期|礼拜|年)(?P<half2>半)?(?P<way>之前|以前"
            f"|前(?![天台面])|之后|以后|后(?![天来面]))"
        ),
        lambda calendar, groups: _distance(calendar, groups | ({"half": "半"} if "half2" in groups else {})),
    ),
    Rule(
        re.compile(f"(?<![0-9第])(?P<n>{_N})个(?P<half>半)?(?P<unit>月)(?P<way>之前|以前|前|之后|以后|后)"), _distance
    ),
    Rule(
        re.compile(
            f"(?:最近|过去|近|这)的?这?(?P<n>{_N})(?:个(?=月|小时|钟头|星期|礼拜))?(?P<unit>分钟|小时|钟头|天|周|星期|礼拜|年)(?:以来|之内|[里内来间])?"
        ),
        _span,
    ),
    Rule(re.compile(f"(?:最近|过去|近|这)的?这?(?P<n>{_N})个(?P<unit>月)(?:以来|之内|[里内来间])?"), _span),
    Rule(re.compile(f"(?P<future>未来|接下来|今后)的?(?P<n>{_N})个?(?P<unit>{_UNIT})(?:之内|[里内间])?"), _span),
    Rule(re.compile("前[几些两]个?(?P<unit>天|周|星期|礼拜|月|年)"), _few_ago),
    Rule(re.compile("最近|近来|近期|这阵子|这段时间"), lambda calendar, _: calendar.span(30, Unit.DAY)),
    Rule(re.compile("刚才|刚刚|方才"), lambda calendar, _: calendar.span(1, Unit.HOUR)),
    Rule(
        re.compile("前阵子|前一阵子?|前段时间|前一段时间"),
        lambda calendar, _: TimeRange(calendar.day(-90).start, calendar.day(-3).end),
    ),
    Rule(
        re.compile(
            f"(?P<step>上上|下下|[上这本下])一?个?(?:周|星期|礼拜)(?:(?P<weekday>[一二三四五六日天末]){_WITHIN_DAY})?"
        ),
        _week,
    ),
    Rule(
        re.compile(
            f"(?<![0-9一二两三四五六七八九十几每数个上下这本])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![次天个年期岁转游围])(?:{_WITHIN_DAY})"
        ),
        _bare_weekday,
    ),
    Rule(re.compile("(?<![每个上下这本])周末"), _bare_weekend),
    Rule(
        re.compile(
            f"(?P<step>上上|下下|[上这本下])一?个?月份?(?:的?(?P<day>{_SMALL})[日号]{_WITHIN_DAY}|(?P<third>[初中底末]|[上中下]旬))?"
        ),
        _month_step,
    ),
    Rule(
        re.compile("(?<![个0-9一二三四五六七八九十正腊])月(?P<third>[初底末])"),
        lambda calendar, groups: _month_step(calendar, {"step": "本"} | groups),
    ),
    Rule(
        re.compile("(?<![0-9零〇一二三四五六七八九十今去前明后年])年(?P<edge>[初底末])"),
        lambda calendar, groups: _within_year(calendar, calendar.today.year, groups),
    ),
    Rule(
        re.compile("(?P<step>[上这本下])一?个?季度"),
        lambda calendar, groups: calendar.quarter_offset(_STEPS[groups["step"]]),
    ),
    Rule(
        re.compile("(?:上个|上一个)(?P<season>[春夏秋冬])[天季]"),
        lambda calendar, groups: calendar.recent_season(_SEASONS[groups["season"]]),
    ),
    Rule(
        re.compile("这个(?P<season>[春夏秋冬])[天季]"),
        lambda calendar, groups: calendar.current_season(_SEASONS[groups["season"]]),
    ),
    Rule(re.compile(f"(?P<word>大前年|前年|去年|今年|本年|明年|后年){_WITHIN_YEAR}"), _relative_year),
    Rule(
        re.compile(f"(?<![0-9])(?P<year>[12][0-9]{{3}}|[一二][零〇一二三四五六七八九]{{3}})年(?![代级]){_WITHIN_YEAR}"),
        _absolute_year,
    ),
    Rule(
        re.compile(
            f"(?<![0-9])(?P<year>[0-9]{{2}})年(?P<month>{_SMALL})月份?(?:(?P<day>{_SMALL})[日号]{_WITHIN_DAY})?"
        ),
        _absolute_year,
    ),
    Rule(
        re.compile(
            f"(?<![0-9一二三四五六七八九十年个])(?P<month>{_SMALL})月(?!天)份?(?:(?P<day>{_SMALL})[日号]{_WITHIN_DAY}|"
            f"(?P<third>[初中底末](?![国文午])|[上中下]旬))?"
        ),
        _bare_date,
    ),
    Rule(
        re.compile("(?<![0-9.月第A-Za-z-])(?P<day>[0-9]{1,2})号(?![楼线院门店机码房桌位车选库])"),
        lambda calendar, groups: calendar.day_of_month(int(groups["day"])),
    ),
    Rule(re.compile("(?P<holiday>五一)(?=假期|节|期间|放假|长假|那天|的时候)"), _bare_holiday),
    Rule(
        re.compile("(?<![年0-9])(?P<half>[上下])半年"),
        lambda calendar, groups: _within_year(calendar, calendar.today.year, groups),
    ),
    Rule(
        re.compile("(?P<holiday>元旦|情人节|妇女节|劳动节|儿童节|国庆节?|十一假期|万圣节|双十一|平安夜|圣诞节?)"),
        _bare_holiday,
    ),
    Rule(re.compile("(?<![0-9])(?:上世纪)?(?P<decade>[0-9]0|[二三四五六七八九]十)年代"), _decade),
    Rule(re.compile(f"{_PART}(?:{_CLOCK})"), _clock_today),
)
"""Rules for one text; a longer match wins over a shorter one at the same place."""
