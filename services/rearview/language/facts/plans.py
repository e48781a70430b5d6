"""What the speaker is going to do, with the day where one is said."""

import re
from dataclasses import dataclass
from datetime import datetime

from rearview.domain.text import TimeRange
from rearview.language.facts.dates import ahead, without_time

_ZH_MODAL = re.compile(
    "(?:我们?|咱们?|俩)?(?:已经|正|都|也)*(?P<modal>打算|计划|准备|要|会|得|将|想要|约了|预约了)(?:要)?(?P<what>.{2,40})$"
)
_ZH_BARE = re.compile(
    "(?:我们?|咱们?)(?P<what>(?:去|飞|回|结婚|出差|参加|出发|有[一个场]*|到|搬|考|见|跟|和|开始).{0,30})$"
)
_ZH_EVENT = re.compile("会议|面试|考试|航班|婚礼|手术|体检|聚会|答辩|复诊")
_CANCELLED_TRIP = re.compile(
    r"我?(?:已经)?取消了?(?P<zh>[去飞][^，。]{1,16}?)的?(?:行程|计划|机票|旅行)|(?:i|we)(?:'ve"
    r"| have)?(?: had to)? (?:cancel(?:l?ed)?|call(?:ed)? off|scrap(?:ped)?) (?:my|our|the) (?P<en>(?:trip|flight"
    r"|holiday|vacation|move|visit) to .{2,30})$",
    re.IGNORECASE,
)
_ZH_CUE = re.compile("我|咱")
_ZH_CANCELLED = re.compile("(?:我们?)?(?:决定)?不(?P<what>(?:去|搬|参加|飞|回).{1,20}?)了$")
_ZH_TAIL = re.compile("(?:了|吧|啊|哦|呢|啦)+$")
_FIRM = frozenset(("打算", "计划", "准备"))
_EN_PLANNED = re.compile(
    r"(?:i'm|i am|we're|we are) (?P<doing>going to (?-i:[A-Z]).{1,60})$"
    r"|(?:i'm|i am|we're|we are) (?:going to|planning to|about to) (?P<what>[a-z].{1,60})$"
    r"|(?:i|we) (?:plan|intend) to (?P<what2>[a-z].{1,60})$"
    r"|(?:i'm|i am|we're|we are) planning (?:on )?(?P<doing2>[a-z]+ing .{2,60})$",
    re.IGNORECASE,
)
_EN_DATED = re.compile(
    r"(?:i'm|i am|we're|we are) (?P<doing>(?!not\b)[a-z]+ing .{2,60})$|(?:i'll|i will|we'll|we will|i have to"
    r"|i need to) (?P<what>[a-z].{2,60})$",
    re.IGNORECASE,
)
_EN_APPOINTMENT = re.compile(
    r"(?:i|we)(?:'ve| have)?(?: have| got)? an? (?P<what>(?:[a-z]+ ){0,3}(?:appointment|meeting|interview|exam|flight"
    r"|call|wedding|party"
    r"|check-?up|surgery|trip|concert|conference|reservation|date|test|presentation|class|game|race)(?: with .{2,30}"
    r"| to .{2,30})?.{0,30})$",
    re.IGNORECASE,
)
_EN_SCHEDULED = re.compile(
    r"(?:my|our|the) (?P<what>(?:[a-z]+ )?(?:flight|exam|interview|appointment|surgery|wedding|trip|meeting"
    r"|presentation|train|check-?in))"
    r" (?:is|was moved to|has been moved to|starts|is scheduled for|leaves) (?P<when>.{2,40})$"
    r"|(?:i|we) (?P<what2>(?:fly|leave|travel|move|depart|return|go|head) .{2,50})$|(?:i"
    r"|we) plan on (?P<doing>[a-z]+ing .{2,50})$",
    re.IGNORECASE,
)
_ZH_SCHEDULED = re.compile(
    "(?:我们?的?)?(?P<what>(?:[\u4e00-\u9fff]{0,4})(?:会议|面试|考试|航班|婚礼|手术|体检|聚会|答辩|复诊))(?:是|定"
    "|安排|改|推迟|提前)*(?:在|到|于)?了?$"
)
_EN_CANCELLED = re.compile(
    r"(?:i'm|i am|we're|we are) (?:not|no longer) (?P<doing>(?:going|moving|flying|visiting|travelling|traveling"
    r"|attending|coming|joining) .{2,40}?)"
    r"(?: anymore| any more| after all)?$",
    re.IGNORECASE,
)
_NO_PLAN = re.compile(
    r"^(?:keep |try |make it|go (?:to bed|home|out for)|be (?:[0-9]|honest|late|fine|ok)|say|need|tell you|assume"
    r"|guess|kill|die|cry|go crazy|是|说|好|死|疯|知道|谢|感谢|请|问|求|考虑|到$)",
    re.IGNORECASE,
)
# What is left of "on Friday at 3".
_AT_HOUR = re.compile(r" at (?:[0-9]{1,2}(?::[0-9]{2})? ?(?:am|pm|o'clock)?|noon)$", re.IGNORECASE)
_HAPPENED = re.compile("[^，。]{1,3}了(?=.)")
_NOT_DOING = frozenset(
    (
        "looking",
        "feeling",
        "trying",
        "wondering",
        "thinking",
        "being",
        "hoping",
        "having",
        "doing",
        "using",
        "getting tired",
    )
)
_WITH_E = frozenset(
    [
        "mov",
        "leav",
        "tak",
        "com",
        "driv",
        "hav",
        "mak",
        "giv",
        "writ",
        "danc",
        "div",
        "hik",
        "rid",
        "chang",
        "clos",
        "explor",
        "celebrat",
        "relocat",
        "graduat",
        "prepar",
        "finaliz",
        "releas",
        "organis",
        "organiz",
        "execut",
        "complet",
        "receiv",
        "arriv",
        "surpris",
        "schedul",
    ]
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is planned, in its words and in the base form of its verb; `range` is when, where that was said."""

    what: str
    base: str
    range: TimeRange | None
    cancelled: bool = False


def planned(clause: str, reference: datetime | None) -> Plan | None:
    """Return the plan that a clause tells; times are resolved against `reference`, an aware moment."""
    if cancelled := _ZH_CANCELLED.match(clause):
        return Plan(cancelled["what"], cancelled["what"], None, cancelled=True)
    if cancelled := _EN_CANCELLED.match(clause):
        return Plan(cancelled["doing"], base_form(cancelled["doing"]), None, cancelled=True)
    if cancelled := _CANCELLED_TRIP.match(clause):
        what = cancelled["zh"] or f"{cancelled['en']}"
        return Plan(what, what, None, cancelled=True)
    english = (
        _EN_PLANNED.match(clause)
        or _EN_DATED.match(clause)
        or _EN_APPOINTMENT.match(clause)
        or _EN_SCHEDULED.match(clause)
    )
    if english is not None:
        return _english(english, reference)
    return _chinese(clause, reference) if _ZH_CUE.search(clause) or _ZH_EVENT.search(clause) else None


def base_form(doing: str) -> str:
    """Return "flying to Tokyo" as "fly to Tokyo"."""
    verb, _, rest = doing.partition(" ")
    if not verb.lower().endswith("ing") or len(verb) <= 4:
        return doing
    stem = verb[:-3]
    if stem.lower() in _WITH_E:
        stem += "e"
    elif (len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl") or stem.lower() == "travell":
        stem = stem[:-1]
    return f"{stem} {rest}".strip()


def _english(match: re.Match[str], reference: datetime | None) -> Plan | None:
    groups = match.groupdict()
    doing = groups.get("doing") or groups.get("doing2")
    what = doing or groups.get("what") or groups.get("what2") or ""
    if _NO_PLAN.match(what) or (doing and what.split(" ")[0].lower() in _NOT_DOING - {"having"}):
        return None
    when = groups.get("when")
    if when:
        stated = ahead(when, reference) if reference else None
        return Plan(what, what, stated.range) if stated else None
    time = ahead(what, reference) if reference else None
    if time is None:
        return (
            Plan(what, base_form(what), None) if match.re is _EN_PLANNED or "plan on" in match.group().lower() else None
        )
    what = _AT_HOUR.sub("", without_time(what, time))
    return Plan(what, base_form(what) if doing else what, time.range) if what else None


def _chinese(clause: str, reference: datetime | None) -> Plan | None:
    time = ahead(clause, reference) if reference else None
    rest = without_time(clause, time) if time else clause
    match = _ZH_MODAL.match(rest)
    if match is None and time is not None:
        match = _ZH_BARE.match(rest) or _ZH_SCHEDULED.match(rest)
    if match is None:
        return None
    modal = match.groupdict().get("modal")
    if modal is None and _HAPPENED.match(match["what"]):
        return None  # "今年考上了浙大" tells what was
    if time is None and modal not in _FIRM:
        return None
    what = _ZH_TAIL.sub("", match["what"]).strip()
    what = re.sub("^有[一个场]*", "", what)
    if not what or _NO_PLAN.match(what):
        return None
    return Plan(what, what, time.range if time else None)
