"""One thing in the place of another: "换成拿铁", "I switched from coffee to matcha".

What it is a change of, follows from the sort of thing that the new value is, or from what was said before.
"""

import re

from rearview.language.facts import speech_acts
from rearview.language.facts.sieve import Sieve
from rearview.language.facts.statement import ZH_SELF, ZH_TAIL
from rearview.language.facts.values import sort_words

_ZH_NEW = "(?P<value>(?!我|你|他|她|这|那|什么)[^，。]{1,20}?)"
_EN_NEW = r"(?P<value>(?:the )?[a-z0-9\u4e00-\u9fff][a-z0-9\u4e00-\u9fff&' -]{1,40}?)"
_EN_TAIL = r"(?: (?:now|instead|recently|as my (?:phone |mobile )?carrier|last (?:week|month|year)))?"
_SORT = f"(?P<sort>{'|'.join(map(re.escape, sort_words()))})"

_MINE_ZH = (
    "(?:请|帮我|麻烦|以后|今后|从今以后|从现在(?:起|开始)|从今天(?:起|开始)|把){0,4}"
    "我(?:现在|每天|早上|早餐|平时|下午){0,2}(?:喝|点)?的(?:所有)?"
)

PATTERNS: tuple[re.Pattern[str], ...] = (
    re.compile(
        f"{_MINE_ZH}{_SORT}(?:以后|今后|从现在起)?(?:都|就|全都?|一律|统统|全部|请|帮我|给我|要|改){{0,4}}(?:换|改|转)"
        f"(?:成|到|用|喝|为)了?{_ZH_NEW}{ZH_TAIL}$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:please |i(?:'ve| have)?(?: just| recently)? |i(?:'d| would) like to |i want to |let's )?"
        rf"(?:switch(?:ed)?|chang(?:e|ed)|swap(?:ped)?) (?:all )?(?:of )?my "
        rf"(?:usual |regular |daily |morning |afternoon |standing )?"
        rf"{_SORT}(?: orders?| choice)? (?:over )?(?:to|for|into) (?:an? )?{_EN_NEW}{_EN_TAIL}$",
        re.IGNORECASE,
    ),
    re.compile(
        f"(?:{ZH_SELF}|请|帮我|给我)?(?:把)?(?:手机|电话|运营商|号码)*从(?P<replaced>[^，。换改]{{1,16}}?)(?:换|改"
        f"|转)(?:成|到|用|喝|吃)了?{_ZH_NEW}{ZH_TAIL}$",
        re.IGNORECASE,
    ),
    re.compile(
        f"(?:{ZH_SELF}|请|帮我|给我|以后|今后|都|还是)*(?:把)?(?:的)?(?:手机|电话|运营商|号码|号|卡)*(?:都)?(?:换"
        f"|转)(?:成|到|用)了?{_ZH_NEW}(?:的?(?:手机)?[号卡])?{ZH_TAIL}$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"i(?:'ve| have)?(?: just| recently)? (?:switched|changed"
        rf"|moved) from (?P<replaced>[a-z0-9][a-z0-9&' -]{{1,30}}?) to {_EN_NEW}"
        rf"{_EN_TAIL}$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:please )?(?:i(?:'ve| have)?(?: just| recently)? (?:switched|swapped)"
        rf"|switch(?: me)?) (?:over )?to {_EN_NEW}{_EN_TAIL}$",
        re.IGNORECASE,
    ),
)

SIEVE = Sieve(PATTERNS)

_LASTING = re.compile(
    f"{speech_acts.FROM_NOW_ON.zh.pattern}|一律|每天|平时|都|全|统统|现在|已经|{speech_acts.FROM_NOW_ON.en.pattern}"
    r"|\b(?:usual|regular|daily|standing|i(?:'ve| have)|i (?:just |recently )?(?:switched|changed|swapped))\b",
    re.IGNORECASE,
)


def lasts(clause: str) -> bool:
    """Whether a switch is told of as lasting: "把我的咖啡换成茶" alone may be about the one that is being ordered."""
    return _LASTING.search(clause) is not None


DEVICE = re.compile(
    "手机|电脑|平板|相机|耳机|车$|iphone|android|pixel|macbook|laptop|phone|galaxy|thinkpad|windows|mac$", re.IGNORECASE
)
"""Values that are things one owns."""
