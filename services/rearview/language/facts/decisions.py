"""What was decided."""

import re

from rearview.language.facts.sieve import Sieve
from rearview.language.facts.statement import ZH_TAIL

_ZH_WHAT = "(?P<value>(?!什么|哪|谁|怎么|这样|这么|它|好了|我没|我不|我是|你|他|她)[^，。]{2,30}?)"
_EN_WHAT = (
    r"(?P<value>(?!what\b|it\b|that\b|this\b|you\b|them\b|to\b|him\b|her\b|how\b|whether\b|your\b|those\b|these\b)"
    r"[a-z0-9\u4e00-\u9fff][^,.!?]{1,50}?)"
)
_EN_TAIL = (
    r"(?: (?:then|instead|please|for now|after all|(?:over|rather than|instead of|not) [a-z0-9' -]{2,30}"
    r"|in the end|i guess))?\s*$"
)
_ZH_WE = "(?:那|行|好|所以|ok|最终|最后|后来)?(?:我们?俩?|咱们?俩?|大家|全家|家里人?|团队|我(?:跟|和)[^，。]{1,4}?)?"
_ZH_FINALLY = "(?:最终|最后|最后还是|已经|还是|一致|终于|讨论后|商量后|后来|也|都|确定|临时)*"
_ZH_TAIL = f"(?:好了|算了|{ZH_TAIL})\\s*$"
_EN_FINALLY = "(?:(?: just| finally| now| both| all| ultimately| eventually| officially| already)*)"

DENIED: tuple[re.Pattern[str], ...] = (
    re.compile(f"{_ZH_WE}{_ZH_FINALLY}决定(?:了)?(?:先|暂时|还是|就)*不(?:再|要|去?(?=.))??{_ZH_WHAT}{ZH_TAIL}\\s*$"),
    re.compile(
        rf"(?:i|we)(?:'ve| have)?{_EN_FINALLY} decided (?:not to|against|we're not|we won't|i'm not|i won't) "
        rf"(?:going to )?{_EN_WHAT}{_EN_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:i'm|we're) not going (?:with|ahead with) (?:the )?{_EN_WHAT}(?: anymore| after all)?{_EN_TAIL}",
        re.IGNORECASE,
    ),
)
MADE: tuple[re.Pattern[str], ...] = (
    re.compile(
        f"{_ZH_WE}{_ZH_FINALLY}(?:决定|确定|敲定|拍板|定下来)(?:了)?(?:要|就|是|下来)?(?!下来|不){_ZH_WHAT}{_ZH_TAIL}"
    ),
    re.compile(
        f"{_ZH_WE}{_ZH_FINALLY}(?:就)?(?:选定?了(?![一二三四五六七八九十两几0-9]+[门张份次节]|课)|就选|选择了?|就定"
        f"|就订|就挑|我选(?![了择的项修])|(?:还是)选(?=.{{2,16}}(?:吧|好了"
        f"|了))|(?:就|都)用(?=.{{2,16}}(?:吧|好了))"
        f"|(?:就|直接)(?:go with|pick|choose)\\s?){_ZH_WHAT}{_ZH_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:so )?(?:after [a-z ]{{3,40}} )?(?:i|we)(?:'ve| have)?{_EN_FINALLY}"
        r" (?:decided (?:to (?:go|stick) with|on|to (?!go with)|(?:that )?(?:we're|i'm|we'll|i'll|we are"
        r"|i am) (?:going to )?|(?=[\u4e00-\u9fff]))"
        r"|settled (?:on|for)|chose|picked(?: out)?(?= the (?!kids|phone|lock))|opted for|landed on(?= the)"
        r"|went with(?= the .*(?:one|option|offer|plan|version|model|package|quote|colou?r|size)$)"
        r"|ended up (?:choosing|picking|going with)|agreed (?:to|on))"
        rf" ?(?:the )?(?:用|选)?{_EN_WHAT}{_EN_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:so |then |ok |okay |alright |yeah )*(?:(?:let's|let us)(?: just)? (?:go with|stick (?:with|to)"
        rf"|settle (?:on|for)|opt for|(?:choose|pick)(?= the))"
        rf"|(?:i|we)(?:'ll| will){_EN_FINALLY} (?:go|stick) with|(?:i'm|we're|i am|we are){_EN_FINALLY} (?:going"
        rf"|sticking) with"
        rf"|(?:i'm|we're|i am|we are){_EN_FINALLY} going to (?:go|stick) with) (?:the )?{_EN_WHAT}{_EN_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:so |then |ok |okay |alright )*(?:let's|let us)(?: just)? (?:do|use|take|get|book|have) the "
        r"(?P<value>(?!same\b|math\b|work\b|job\b|most\b|rest\b)[a-z0-9][^,.!?]{1,50}?) (?:then|instead)\s*$",
        re.IGNORECASE,
    ),
)
_ALL = (*DENIED, *MADE)
_SIEVE = Sieve(_ALL)
_BARE = re.compile(
    r"(?:i|we)(?:'ve| have)?(?: finally| just)? (?:made up (?:my|our) minds?|decided|made (?:a|the|my"
    r"|our) (?:final )?(?:decision|choice))\s*$"
    r"|(?:my |our |the )?(?:final (?:answer|decision|choice|call)(?: made)?|decision made)\s*$"
    "|(?:那就|我们?|咱们?|我(?:跟|和)[^，。]{1,4}?|大家|讨论(?:完|下来)?)?(?:已经|终于|最后|都)*(?:(?:定|决定|说定"
    "|商量好|想好|讨论好|考虑好|考虑清楚|想清楚|敲定|确定|拿定主意|选好|谈好)(?:下来)?了)+"
    "(?:就这么定了?)?\\s*$|就这么定了?\\s*$|(?:it's )?(?:decided|settled)(?: then)?\\s*$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    "(?:就|先|还是|我们?|也|都|暂时)*不(?P<value>(?!行|是|过|好|知道|用谢)[^，。]{2,20}?)(?:了|吧|啦)*$"
)


def decided(clause: str) -> tuple[str, bool] | None:
    """Return what a clause decides and whether it decides against it; None for other clauses."""
    for index in _SIEVE.worth_trying(clause):
        if match := _ALL[index].match(clause):
            return match["value"].strip(), index < len(DENIED)
    return None


def announces(clause: str) -> bool:
    """Whether a clause says only that something is decided, so that the next one says what."""
    return _BARE.match(clause) is not None


def announced(clause: str) -> tuple[str, bool]:
    """Return what the clause after "it's decided" decides, and whether it decides against it."""
    if against := _NEGATED.match(clause):
        return against["value"], True
    return clause, False
