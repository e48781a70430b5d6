"""Memories whose score has fallen: which of them are worth so little that they move down a tier."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from rearview.domain.fall_rule import FallRule
from rearview.domain.scoring import ASSISTANT, Standings, memory_scores

PRIORITY_WEIGHT = 1.0 - ASSISTANT.relevance
"""As much as recency, frequency and emotion have together in the default profile."""


@dataclass(frozen=True, slots=True)
class Valued:
    """What a memory's value depends on."""

    memory_id: UUID
    used_at: datetime
    access_count: int
    intensity: float
    pinned: bool
    priority: float


def fallen(memories: Sequence[Valued], rule: FallRule) -> list[UUID]:
    """Return the memories whose value lies below the rule's floor, in their order."""
    if not memories:
        return []
    low = memory_values(memories, rule.now) < rule.floor
    return [memory.memory_id for memory, is_low in zip(memories, low, strict=True) if is_low]


def memory_values(memories: Sequence[Valued], now: datetime) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return values, (n,) in [0, 1]: the memory score without relevance, and the priority with `PRIORITY_WEIGHT`."""
    priority = np.array([memory.priority for memory in memories], dtype=np.float64)
    standings = Standings(
        age_seconds=np.array([(now - memory.used_at).total_seconds() for memory in memories], dtype=np.float64),
        access_count=np.array([memory.access_count for memory in memories], dtype=np.int64),
        intensity=np.array([memory.intensity for memory in memories], dtype=np.float64),
        pinned=np.array([memory.pinned for memory in memories], dtype=np.bool_),
        priority=priority,
    )
    scores = memory_scores(np.zeros(len(memories)), standings).total
    return (scores + PRIORITY_WEIGHT * priority) / (2.0 * PRIORITY_WEIGHT)
