"""What was decided."""

import re

from rearview.language.facts.statement import ZH_TAIL

_ZH_WHAT = "(?P<value>(?!什么|哪|谁|怎么)[^，。]{2,30}?)"
_EN_WHAT = r"(?P<value>(?!what\b|it\b|that\b|this\b|you\b|them\b|to\b|him\b|her\b)[a-z0-9\u4e00-\u9fff][^,.!?]{1,50}?)"
_EN_TAIL = r"(?: (?:then|instead|please))?\s*$"

DENIED: tuple[re.Pattern[str], ...] = (
    re.compile(f"(?:我们?|咱们?)?(?:最终|最后|已经|还是)*决定(?:了)?(?:先|暂时)?不{_ZH_WHAT}{ZH_TAIL}\\s*$"),
    re.compile(
        rf"(?:i|we)(?:'ve| have)?(?: just| finally)? decided (?:not to|against) {_EN_WHAT}{_EN_TAIL}", re.IGNORECASE
    ),
)
MADE: tuple[re.Pattern[str], ...] = (
    re.compile(
        f"(?:那)?(?:我们?|咱们?)?(?:最终|最后|已经|还是|一致)*(?:决定|确定|敲定|拍板)(?:了)?(?:要|就)?(?!下来){_ZH_WHAT}{ZH_TAIL}\\s*$"
    ),
    re.compile(
        f"(?:那)?(?:我们?|咱们?)?(?:最终|最后|还是)*(?:就)?(?:选定?了|就选|选择了?|就定|我选|就用(?=.{{2,16}}吧))"
        f"{_ZH_WHAT}{ZH_TAIL}\\s*$"
    ),
    re.compile(
        rf"(?:so )?(?:after [a-z ]{{3,40}} )?(?:i|we)(?:'ve| have)?(?: just| finally)?"
        r" (?:decided (?:to go with|on|to)|settled on|chose"
        rf"|agreed (?:to|on))"
        rf" (?:the )?{_EN_WHAT}{_EN_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:so |then )?(?:let's go with|let us go with|(?:i|we)(?:'ll| will)(?: just)? go with|(?:i'm"
        rf"|we're) going with) (?:the )?{_EN_WHAT}{_EN_TAIL}",
        re.IGNORECASE,
    ),
)
_BARE = re.compile(
    r"(?:i|we)(?:'ve| have) (?:made up (?:my|our) minds?|decided)\s*$|(?:那就|我们?)?(?:定了|决定了|说定了"
    r"|就这么定了?)\s*$|(?:it's )?(?:decided|settled)(?: then)?\s*$",
    re.IGNORECASE,
)


def decided(clause: str) -> tuple[str, bool] | None:
    """Return what a clause decides and whether it decides against it; None for other clauses."""
    for patterns, against in ((DENIED, True), (MADE, False)):
        for pattern in patterns:
            if match := pattern.match(clause):
                return match["value"], against
    return None


def announces(clause: str) -> bool:
    """Whether a clause says only that something is decided, so that the next one says what."""
    return _BARE.match(clause) is not None
