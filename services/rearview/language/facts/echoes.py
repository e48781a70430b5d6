"""Clauses that say of the speaker what the one before said of somebody else, or that it is not so: "but I'm not"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from rearview.domain.fact import USER, FactCandidate, FactKind, Polarity, Stance, Strength

_IS_NOT = re.compile(r"(?:i'm|i am) not(?: one)?|not me|我(?:倒|却|可|就|并)?不是", re.IGNORECASE)
_DOES_NOT = re.compile(
    r"(?:i|me,? i) (?:really |just |personally )?(?:don't|do not)|not me|我(?:倒|却|可|就|是)?不(?:喜欢|爱|吃|喝"
    r"|喜欢吃|爱吃)?",
    re.IGNORECASE,
)
_SO_AM_I = re.compile(
    r"so (?:am|do) i|me too|same here|i(?:'m| am| do)(?: too| as well| actually)?|likewise"
    r"|我也(?:是|一样|很?喜欢|爱|如此)(?:的|啊|呢)*|我倒是?(?:挺|很|蛮)喜欢(?:的)?",
    re.IGNORECASE,
)
_BEING = frozenset(("diet", "job", "marital_status", "condition", "allergy", "nationality", "hometown"))
_DOING = frozenset(("likes", "owns", "pet", "speaks"))


def echoed(clause: str, last: Sequence[FactCandidate]) -> FactCandidate | None:
    """Return what a clause without a statement of its own says of the speaker; None where it says nothing.

    `last` are the facts of the clause before, one of which must be about somebody else.
    """
    others = [fact for fact in last if not fact.about_user and fact.kind is not FactKind.RELATION]
    if len(others) != 1 or others[0].stance is not Stance.STANDING:
        return None
    said = clause.strip(" .,，。!！")
    fact = replace(others[0], subject=USER, strength=Strength.NORMAL)
    if _SO_AM_I.fullmatch(said):
        liked = said.endswith(("喜欢", "喜欢的"))
        return replace(fact, polarity=Polarity.AFFIRMED) if liked else fact
    if fact.polarity is Polarity.DENIED:
        return None
    if fact.attribute in _BEING and _IS_NOT.fullmatch(said):
        return replace(fact, polarity=Polarity.DENIED, stance=Stance.NEGATION)
    if fact.attribute in _DOING and _DOES_NOT.fullmatch(said):
        denied = Stance.STANDING if fact.kind is FactKind.PREFERENCE else Stance.NEGATION
        return replace(fact, polarity=Polarity.DENIED, stance=denied)
    return None
