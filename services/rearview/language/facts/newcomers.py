"""Whom a clause without a subject tells the trade of: the speaker, or somebody the clause before brought up.

"我叫王芳，做会计的" speaks of the speaker, "我最近认识了一个男生，做会计的" of him, and "我预算5万，做前端" of the
money.
"""

import re
from collections.abc import Sequence

from rearview.domain.fact import FactCandidate, FactKind
from rearview.language.facts.values import is_place

_NOW = "(?:现在|目前|如今|一直|平时|平常|每天|也|还|又|都|已经|就|刚刚?|最近|长期|主要)*"
_TRADE = re.compile(f"{_NOW}(?:做|从事|干|在[^，。]{{2,16}}(?:当|做|担任|教|带)|是一?[名个位])")
# What ends a clause is what the next one goes on about, unless it is what or where the speaker is.
_BRINGS_UP = re.compile(
    "(?<![是在当做叫])(?:[一两几三四五六好0-9][个位名家]|(?<=[了过找有见带请])[个位名家])(?![月年星小钟多])[^，。是]{1,14}$"
)
_WHO = re.compile(
    "(?:我|本人)?(?:现在|目前|今年|去年|前年|刚刚?|最近|已经|一个人)*"
    "(?:姓[^，。]{1,2}$|[^，。他她]{0,10}毕业|改名|[0-9一二三四五六七八九十]{1,3}了?$|(?:是|属于)?[0-9]0后$"
    "|(?:人)?在(?:一家[^，。]{1,6}|[^，。]{2,6}(?:上班|工作|打工|打拼|定居)|(?P<place>[^，。]{2,6}))$"
    "|(?:换|进|去|加入|入职|跳槽到)了?一?[家个份][^，。]{0,6}(?:工作|公司|单位|外企|国企|大厂|企业)$)"
)
# "我预算5万，做前端" tells what a sum is for, "我打算辞职，做主播" what comes after, "我在读博，做算法的" studies.
_OTHER_MATTERS = (FactKind.POSSESSION, FactKind.PLAN, FactKind.DECISION, FactKind.CONSTRAINT)
_SUMS = ("budget", "rent")
_STUDIES = re.compile("[在读念].*(?:[大研][一二三四]|本科|硕士?|研究生|博士?|phd|master)", re.IGNORECASE)


def tells_trade(clause: str) -> bool:
    """Whether a clause without a subject tells what somebody does for a living."""
    return _TRADE.match(clause) is not None


def brings_up(clause: str) -> bool:
    """Whether a clause ends with somebody or something that was not spoken of before."""
    return _BRINGS_UP.search(clause) is not None


def told_who(before: bool, clause: str, facts: Sequence[FactCandidate]) -> bool:
    """Whether the next clause may tell the speaker's trade; `before` is whether this one might.

    It may where this one tells who the speaker is, or goes on from one that does with other facts about the speaker.
    """
    mine = [fact for fact in facts if fact.about_user]
    if not mine:
        who = _WHO.match(clause)
        return who is not None and (who["place"] is None or is_place(who["place"]))
    if _STUDIES.search(clause) or any(fact.kind in _OTHER_MATTERS or fact.attribute in _SUMS for fact in mine):
        return False
    return before or any(fact.kind in (FactKind.IDENTITY, FactKind.MEASURE) for fact in mine)
