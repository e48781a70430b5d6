"""Chinese time expressions."""

import re
from datetime import date, timedelta

from rearview.domain.text import TimeRange
from rearview.language import festivals
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
DAYS = {
    "大大前天": -4, "大前天": -3, "前天": -2, "前日": -2, "前儿": -2, "前": -2,
    "昨天": -1, "昨日": -1, "昨儿": -1, "昨个": -1, "昨": -1, "今天": 0, "今日": 0, "今儿": 0, "今": 0,
    "明天": 1, "明日": 1, "明儿": 1, "明": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
STEPS = {"上上上": -3, "上上": -2, "大上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2, "下下下": 3}
_PARTS = {
    "凌晨": DayPart.DAWN, "半夜": DayPart.DAWN, "清晨": DayPart.MORNING,
    "早晨": DayPart.MORNING, "早上": DayPart.MORNING,
    "上午": DayPart.MORNING, "晨": DayPart.MORNING, "早": DayPart.MORNING,
    "中午": DayPart.NOON, "下午": DayPart.AFTERNOON,
    "午后": DayPart.AFTERNOON, "傍晚": DayPart.EVENING, "晚上": DayPart.EVENING,
    "夜里": DayPart.NIGHT, "晚": DayPart.EVENING,
    "夜": DayPart.NIGHT,
}  # fmt: skip
WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_THIRDS = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "底": 2, "末": 2, "下旬": 2}
_HOLIDAYS = {
    "元旦": (1, 1, 1), "情人节": (2, 14, 1), "妇女节": (3, 8, 1), "劳动节": (5, 1, 5),
    "五一": (5, 1, 5), "儿童节": (6, 1, 1),
    "国庆": (10, 1, 7), "十一假期": (10, 1, 7),
    "万圣节": (10, 31, 1), "双十一": (11, 11, 1),
    "平安夜": (12, 24, 1), "圣诞": (12, 25, 1),
    "暑假": (7, 1, 62), "寒假": (1, 10, 45),
}  # fmt: skip
_MOVING = {
    "春节": festivals.SPRING_FESTIVAL, "过年": festivals.SPRING_FESTIVAL, "除夕": festivals.NEW_YEAR_EVE,
    "大年三十": festivals.NEW_YEAR_EVE, "年三十": festivals.NEW_YEAR_EVE, "大年夜": festivals.NEW_YEAR_EVE,
    "元宵": festivals.LANTERN,
    "清明": festivals.QINGMING, "端午": festivals.DRAGON_BOAT, "七夕": festivals.QIXI,
    "中秋": festivals.MID_AUTUMN, "重阳": festivals.DOUBLE_NINTH,
}  # fmt: skip
_NOON, _LAST_MORNING_HOUR, _LAST_NIGHT_HOUR, _FIRST_MIDNIGHT_HOUR = 12, 11, 5, 9
_LEAST_CALENDAR_YEAR = 1000

_N = "[0-9]{1,4}(?:\\.5)?[多来]?|[一二两三四五六七八九十百]{1,5}[几多来]?|半|几十|几|数|好几"
_STEP = "上{1,3}|下{1,3}|大上|[这本]"
_SMALL = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_UNIT = "分钟|小时|钟头|天|日|周|星期|礼拜|月|年"
_CLOCK = (
    "(?P<hour>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})(?:[点點]钟?|时(?!候|间))(?:(?P<minute>[0-9]{1,2}|[零一二三四五六七八九十]{1,3}|半|一刻|三刻)分?)?"
    "|(?P<hour24>[01]?[0-9]|2[0-3])[:：](?P<minute24>[0-5][0-9])"
)
_PART = "(?P<part>凌晨|半夜|清晨|早晨|早上|上午|中午|下午|午后|傍晚|晚上|夜里|[早晚夜晨](?![饭餐安报点]|一点))"
_WITHIN_DAY = f"(?:的?{_PART})?(?:的?(?:{_CLOCK}))?"
_HOLIDAY = (
    "(?P<holiday>元旦|情人节|妇女节|劳动节|儿童节|国庆|十一假期|万圣节|双十一|平安夜|圣诞|暑假|寒假"
    "|春节|除夕|大年夜|大年三十|年三十|元宵(?=节)|清明(?!上河图)|端午|七夕|中秋|重阳)节?"
    "|(?:大年初|正月初?)(?P<new_year>十[一二三四五]|[一二三四五六七八九十])"
)
_WEEK_OF_MONTH = "的?(?:第(?P<nth>[一二三四1-4])|(?P<last>最后一))个?(?:周|星期|礼拜)(?![一二三四五六日天末])"
_WITHIN_MONTH = (
    f"的?(?P<day>{_SMALL})[日号]{_WITHIN_DAY}|的?(?P<third>[初底末]|中(?![国文午秋])|[上中下]旬)|{_WEEK_OF_MONTH}"
)
_WITHIN_YEAR = (
    f"(?:的?(?:(?P<season>[春夏秋冬])[天季]?(?![节游令装])|{_HOLIDAY.replace('|春节', '|五一|过年|春节')}"
    f"|(?P<month>{_SMALL})月份?(?:{_WITHIN_MONTH})?"
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


def _amounts(written: str) -> tuple[float, float]:
    """The least and the most that a number means: 三 three, 两三 two to three, 十几 eleven to nineteen, 几 two to nine.

    Raises:
        ValueError: the characters do not form a number.
    """
    if written in ("几", "数", "好几"):
        return 2.0, 9.0
    if written == "几十":
        return 20.0, 90.0
    body, suffix = (written[:-1], written[-1]) if written[-1] in "几多来" else (written, "")
    tens = body[:-1] if len(body) == len("二三十") and body.endswith("十") else body
    if len(tens) == len("两三") and all(character in _DIGITS for character in tens) and not suffix:
        least, most = (float(_DIGITS[character]) for character in tens)
        scale = 10 if tens != body else 1
        return least * scale, most * scale
    amount = _number(body)
    if not suffix:
        return amount, amount
    step = 9.0 if amount and amount % 10 == 0 else 1.0
    return (
        (amount + (1.0 if suffix == "几" else 0.0), amount + step) if suffix != "来" else (amount - 2.0, amount + 2.0)
    )


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
        hour = _hour_of_day(hour, part, midnight=groups.get("part") == "半夜")
        return calendar.hours(day, hour, hour + (0.5 if written else 1))
    return calendar.part(day, part) if part else calendar.on_date(day)


def _hour_of_day(hour: float, part: DayPart | None, *, midnight: bool) -> float:
    """A clock's hour as one of 24, or beyond where a night runs into the next day: 晚上八点 is 20, 晚上一点 is 25."""
    if midnight:
        return hour + _NOON if _FIRST_MIDNIGHT_HOUR <= hour < _NOON + 1 else hour
    if part is DayPart.DAWN:
        return hour - _NOON if _NOON <= hour < _NOON + 1 else hour
    if part in (DayPart.EVENING, DayPart.NIGHT):
        if hour < _LAST_NIGHT_HOUR:
            return hour + 2 * _NOON
        return hour + _NOON if hour < _NOON + 1 else hour
    late_noon = part is DayPart.NOON and hour < _LAST_MORNING_HOUR
    return hour + _NOON if hour < _NOON and (late_noon or part is DayPart.AFTERNOON) else hour


def _day_word(calendar: Calendar, groups: Groups) -> TimeRange:
    return _within_day(calendar, calendar.today + timedelta(days=DAYS[groups["word"]]), groups)


def _night_word(calendar: Calendar, groups: Groups) -> TimeRange:
    if groups["word"] == "今" and "hour" not in groups:
        return calendar.tonight()
    return _within_day(calendar, calendar.today + timedelta(days=DAYS[groups["word"]]), {"part": "晚上"} | groups)


def _distance(calendar: Calendar, groups: Groups) -> TimeRange:
    unit = _UNITS[groups["unit"]]
    sign = 1 if groups["way"].endswith("后") else -1
    if unit is Unit.YEAR and groups["n"].isdigit() and int(groups["n"]) >= _LEAST_CALENDAR_YEAR:
        raise ValueError("a calendar year, not a number of years")
    half = 0.5 if "half" in groups or "half2" in groups else 0.0
    least, most = _amounts(groups["n"])
    if "more" in groups or "more2" in groups:
        most += 1.0
    if least == most:
        return calendar.distance(sign * (least + half), unit)
    return calendar.distances(sign * least, sign * most, unit)


def _span(calendar: Calendar, groups: Groups) -> TimeRange:
    amount = 7.0 if groups["n"] in ("几", "数", "好几") else _amounts(groups["n"])[1]
    return calendar.span(amount, _UNITS[groups["unit"]], future="future" in groups)


def _same_day(calendar: Calendar, groups: Groups) -> TimeRange:
    if "word" in groups:
        amount, unit = YEARS[groups["word"]], Unit.YEAR
    else:
        amount, unit = STEPS[groups["step"]], _UNITS[groups["unit"]]
    return calendar.same_day(amount, unit) if "today" in groups else calendar.about_same_day(amount, unit)


def _few_ago(calendar: Calendar, groups: Groups) -> TimeRange:
    unit = _UNITS[groups["unit"]]
    return TimeRange(calendar.distance(-7, unit).start, calendar.distance(-1, unit).end)


def _week(calendar: Calendar, groups: Groups) -> TimeRange:
    offset = STEPS[groups["step"]]
    weekday = groups.get("weekday")
    if weekday is None:
        return calendar.week(offset)
    if weekday == "末":
        return calendar.weekend(offset)
    day = calendar.monday(offset) + timedelta(days=WEEKDAYS[weekday])
    return _within_day(calendar, day, groups)


def _bare_weekday(calendar: Calendar, groups: Groups) -> TimeRange:
    recent = calendar.recent_weekday(WEEKDAYS[groups["weekday"]], include_today=True)
    return _within_day(calendar, recent.start.astimezone(calendar.zone).date(), groups)


def _month_step(calendar: Calendar, groups: Groups) -> TimeRange:
    year, month = shift_month(calendar.today.year, calendar.today.month, STEPS[groups["step"]])
    if "day" in groups:
        return _within_day(calendar, date(year, month, _whole(groups["day"])), groups)
    return _month_or_part(calendar, year, month, groups)


def _month_or_part(calendar: Calendar, year: int, month: int, groups: Groups) -> TimeRange:
    if "third" in groups:
        return calendar.month_part(year, month, _THIRDS[groups["third"]])
    if "nth" in groups or "last" in groups:
        return calendar.week_of_month(year, month, _whole(groups["nth"]) if "nth" in groups else -1)
    return calendar.month(year, month)


def _within_year(calendar: Calendar, year: int, groups: Groups) -> TimeRange:
    if "season" in groups:
        return calendar.season(year, _SEASONS[groups["season"]])
    if "new_year" in groups:
        return calendar.on_date(festivals.new_year_day(_whole(groups["new_year"]), year))
    if "holiday" in groups:
        return _holiday(calendar, groups["holiday"], year)
    if "month" in groups:
        month = _whole(groups["month"])
        if "day" in groups:
            return _within_day(calendar, date(year, month, _whole(groups["day"])), groups)
        return _month_or_part(calendar, year, month, groups)
    if "quarter" in groups:
        return calendar.quarter(year, _whole(groups["quarter"]))
    if "half" in groups:
        return calendar.half_year(year, 1 if groups["half"] == "上" else 2)
    if "edge" in groups:
        first_month, last_month = {"初": (1, 3), "中": (5, 8)}.get(groups["edge"], (10, 12))
        return TimeRange(calendar.month(year, first_month).start, calendar.month(year, last_month).end)
    return calendar.year(year)


def _holiday(calendar: Calendar, name: str, year: int) -> TimeRange:
    if name in _MOVING:
        return calendar.days(*festivals.festival(_MOVING[name], year))
    month, day, length = _HOLIDAYS[name]
    first = date(year, month, day)
    return calendar.days(first, first + timedelta(days=length - 1))


def _relative_year(calendar: Calendar, groups: Groups) -> TimeRange:
    if "season" in groups:
        return calendar.season_offset(YEARS[groups["word"]], _SEASONS[groups["season"]])
    return _within_year(calendar, calendar.today.year + YEARS[groups["word"]], groups)


def _absolute_year(calendar: Calendar, groups: Groups) -> TimeRange:
    year = _whole(groups["year"])
    return _within_year(calendar, year + 2000 if year < 100 else year, groups)


def _bare_date(calendar: Calendar, groups: Groups) -> TimeRange:
    month = _whole(groups["month"])
    if "day" in groups:
        latest = calendar.recent_date(month, _whole(groups["day"]))
        return _within_day(calendar, latest.start.astimezone(calendar.zone).date(), groups)
    found = calendar.recent_month(month)
    return _month_or_part(calendar, found.start.astimezone(calendar.zone).year, month, groups)


def _bare_holiday(calendar: Calendar, groups: Groups) -> TimeRange:
    this_year = _within_year(calendar, calendar.today.year, groups)
    return this_year if this_year.start <= calendar.now else _within_year(calendar, calendar.today.year - 1, groups)


def _decade(calendar: Calendar, groups: Groups) -> TimeRange:
    written = _whole(groups["decade"])
    # "20年代" is of this century, "90年代" of the last; the turning point is where memory ends.
    first = written + (2000 if written <= calendar.today.year % 100 else 1900)
    return calendar.years(first, first + 9)


def _clock_today(calendar: Calendar, groups: Groups) -> TimeRange:
    found = _within_day(calendar, calendar.today, groups)
    next_day = found.start.astimezone(calendar.zone).date() > calendar.today
    # Said by day, 晚上一点 was in the night before.
    return _within_day(calendar, calendar.today - timedelta(days=1), groups) if next_day else found


RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(
            f"(?P<word>大{{0,2}}前天|前日|昨[天日]|今[天日]|明[天日]|大后天|后天|[昨今明]儿|昨个|前儿(?![子女童科媳]))"
            f"[个儿]?{_WITHIN_DAY}"
        ),
        _day_word,
    ),
    Rule(
        re.compile(
            f"(?P<word>[昨今明]|(?<![之以目从提生跟面睡饭午])前(?=晚))(?:天)?[晚夜](?:上|里)?(?![饭餐会报安])"
            f"(?:的?(?:{_CLOCK}))?"
        ),
        _night_word,
    ),
    Rule(re.compile(f"(?P<word>[昨今明])(?P<part>[早晨])上?(?![饭餐])(?:的?(?:{_CLOCK}))?"), _day_word),
    Rule(
        re.compile(
            f"(?<![0-9第])(?P<n>{_N})个?(?P<half>半)?(?P<more>多)?(?P<unit>分钟|小时|钟头|天|周|星期|礼拜|年)(?P<half2>半)?(?P<more2>多)?"
            f"(?P<way>之前|以前|前(?![天台面])|之后|以后|后(?![天来面]))"
        ),
        _distance,
    ),
    Rule(
        re.compile(
            f"(?<![0-9第])(?P<n>{_N})个(?P<half>半)?(?P<more>多)?(?P<unit>月)(?P<way>之前|以前|前|之后|以后|后)"
        ),
        _distance,
    ),
    Rule(
        re.compile(
            f"(?:(?P<word>大前年|前年|去年|明年)|(?P<step>{_STEP})个?(?P<unit>周|星期|礼拜|月))的?"
            "(?:(?P<today>今[天日])|这个?时候|此时|同期)"
        ),
        _same_day,
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
        re.compile(f"(?P<step>{_STEP})一?个?(?:周|星期|礼拜)(?:(?P<weekday>[一二三四五六日天末]){_WITHIN_DAY})?"),
        _week,
    ),
    Rule(
        re.compile(
            f"(?<![0-9一二两三四五六七八九十几每数个上下这本])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![次天个年期岁转游围])(?:{_WITHIN_DAY})"
        ),
        _bare_weekday,
        recurs=Unit.WEEK,
    ),
    Rule(re.compile("(?<![每个上下这本])周末"), lambda calendar, _: calendar.recent_weekend()),
    Rule(
        re.compile(f"(?P<step>{_STEP})一?个?月份?(?:{_WITHIN_MONTH})?"),
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
        lambda calendar, groups: calendar.quarter_offset(STEPS[groups["step"]]),
    ),
    Rule(
        re.compile("(?<![年的个])第?(?P<quarter>[一二三四1-4])季度"),
        lambda calendar, groups: calendar.nearest_quarter(_whole(groups["quarter"])),
    ),
    Rule(
        re.compile("上一?(?P<before_last>上)?个(?P<season>[春夏秋冬])[天季]"),
        lambda calendar, groups: calendar.recent_season(
            _SEASONS[groups["season"]], before_last="before_last" in groups
        ),
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
        re.compile(f"(?<![0-9一二三四五六七八九十年个])(?P<month>{_SMALL})月(?!天)份?(?:{_WITHIN_MONTH})?"),
        _bare_date,
    ),
    Rule(
        re.compile("(?<![0-9.月第A-Za-z-])(?P<day>[0-9]{1,2})号(?![楼线院门店机码房桌位车选库])"),
        lambda calendar, groups: calendar.day_of_month(int(groups["day"])),
        recurs=Unit.MONTH,
    ),
    Rule(re.compile("(?P<holiday>五一)(?=假期|节|期间|放假|长假|那天|的时候)"), _bare_holiday),
    Rule(
        re.compile("(?<![年0-9])(?P<half>[上下])半年"),
        lambda calendar, groups: _within_year(calendar, calendar.today.year, groups),
    ),
    Rule(re.compile("(?P<holiday>过年)(?=的时候|期间|那天|那几天|那会儿)"), _bare_holiday),
    Rule(re.compile(_HOLIDAY), _bare_holiday),
    Rule(re.compile("(?<![0-9])(?:上世纪)?(?P<decade>[0-9]0|[二三四五六七八九]十)年代"), _decade),
    Rule(re.compile(f"{_PART}(?:{_CLOCK})"), _clock_today),
)
"""Rules for one text; a longer match wins over a shorter one at the same place."""
