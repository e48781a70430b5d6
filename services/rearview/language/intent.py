"""What the speaker of a turn does with it."""

import re

from rearview.domain.importance import TurnSignals
from rearview.domain.text import Intent
from rearview.language.scripts import fold_width_in_place
from rearview.language.signals import is_question

_REQUEST = re.compile(
    r"帮我|帮忙|请(?!问)|麻烦你|替我|给我|能不能|可不可以|能否|可以.{0,12}吗|别再|不要再|提醒我|记住|记一下"
    r"|^(?:\s*please\b|\s*(?:can|could|would|will) you\b|\s*(?:book|find|show|tell|send|give|write|make"
    r"|remind|add|delete|remove|create"
    r"|update|check|set|change|cancel|order|schedule|remember|forget|list|summari[sz]e|translate|explain"
    r"|help|let me know)\b)"
    r"|\bplease\b|\bi need you to\b|\bhelp me\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"打算|计划|准备(?=[去做买搬换学开考参])|下周|下个月|明天|明年|后天|将要|[我们]要去"
    r"|\b(?:plan(?:ning)? to|going to|gonna|will|i'll|we'll|intend to|next (?:week|month|year)|tomorrow)\b",
    re.IGNORECASE,
)


def intent(text: str, signals: TurnSignals) -> Intent:
    """Return the intent of a turn; where several fit, the first of request, decide, ask, prefer, plan, inform."""
    folded = fold_width_in_place(text)
    if signals.is_empty and not signals.forced:
        return Intent.OTHER
    if _REQUEST.search(folded):
        return Intent.REQUEST
    if signals.decision:
        return Intent.DECIDE
    if is_question(folded):
        return Intent.ASK
    if signals.preference_count:
        return Intent.PREFER
    if _PLAN.search(folded):
        return Intent.PLAN
    return Intent.INFORM
