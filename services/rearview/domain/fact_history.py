"""The history of an attribute in one sentence, in the language of its facts."""

from collections.abc import Sequence

from rearview.domain.memory import Memory
from rearview.domain.text import Language

LEAST_VALUES = 3
"""An attribute that has had so many values has a history to tell."""

MOST_TOLD = 5
"""So many earlier values are named, the latest ones."""

_TIMES = {1: "once", 2: "twice"}


def history_text(label: str, whose: str, values: Sequence[Memory], language: Language) -> str:
    """Return what an attribute's values were and what it is now; `values` are facts, the newest first.

    `whose` names the subject where that is not the user, else it is empty. When the newest value ended without
    another in its place, there is no present one.
    """
    current = values[0] if values[0].superseded_by is None and values[0].valid_to is None else None
    earlier = [value for value in values if value is not current][:MOST_TOLD]
    changes = len(values) - 1
    told = [f"{_value(value)} ({value.occurred_at.date().isoformat()})" for value in reversed(earlier)]
    if language is Language.ZH:
        said = "，".join(told).replace(" (", "（").replace(")", "）")
        now = f"现在是{_value(current)}" if current else "现在没有确定的值"
        return f"{f'{whose}的' if whose else ''}{label}改过{changes}次，{now}；之前：{said}"
    times = _TIMES.get(changes, f"{changes} times")
    now = f"now {_value(current)}" if current else "none now"
    return f"{f'{whose}: ' if whose else ''}{label} changed {times}, {now}; before: {', '.join(told)}"


def _value(memory: Memory) -> str:
    fact = memory.fact
    if fact is None:
        return memory.content
    said = f"{fact.value} {fact.unit}".rstrip()
    if not fact.denied:
        return said
    return f"不是{said}" if Language.ZH in memory.languages else f"not {said}"
