"""Episodes whose text is that of their turns, written anew when turns of them go or come back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.domain.turn_text import line


def episode_text(turns: Sequence[Event]) -> str:
    """Return the text of an episode of these turns, in their order."""
    return "\n".join(line(turn) for turn in turns)


def rewritten(memory: Memory, turns: Sequence[Event], now: datetime) -> Memory:
    """Return an episode that is made of these turns, and of nothing else."""
    content = episode_text(turns)
    times = [turn.occurred_at for turn in turns]
    return replace(
        memory,
        content=content,
        entities=tuple(entity for entity in memory.entities if entity.text.casefold() in content.casefold()),
        occurred_at=min(times, default=memory.occurred_at),
        occurred_until=max(times, default=memory.occurred_until),
        redactions=tuple(dict.fromkeys(category for turn in turns for category in turn.redactions)),
        updated_at=now,
    )
