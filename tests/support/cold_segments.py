"""Memories as segments keep them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from rearview.domain.cold import ColdMemory, ColdUnit

DIMENSION = 48
START = datetime(2024, 1, 1, tzinfo=UTC)


def _said(at: int) -> str:
    return f"记忆 {at}: the key is in drawer {at}, 😀\n"


def cold_memories(count: int, *, units: int = 1, seed: int = 1, text: Callable[[int], str] = _said) -> list[ColdMemory]:
    """Return memories an hour apart, each with so many units of random vectors and keywords."""
    random = np.random.default_rng(seed)

    def unit(at: int, part: int) -> ColdUnit:
        vector = random.standard_normal(DIMENSION)
        terms = np.unique(random.integers(1, 300, 12)).astype(np.int32)
        return ColdUnit(
            unit_id=UUID(int=at * 100 + part + 1),
            occurred_at=START + timedelta(hours=at, microseconds=part),
            speaker=at % 5,
            flags=(4, 8, 12, 0)[at % 4],
            type=3,
            embedding=(vector / np.linalg.norm(vector)).astype(np.float16),
            terms=terms,
            weights=random.random(len(terms)).astype(np.float32),
        )

    return [
        ColdMemory(
            memory_id=UUID(int=(at + 1) << 64),
            content=text(at),
            metadata='{"n": 1.10}',
            entities="[]",
            first=START + timedelta(hours=at),
            last=START + timedelta(hours=at),
            units=tuple(unit(at, part) for part in range(units)),
        )
        for at in range(count)
    ]
