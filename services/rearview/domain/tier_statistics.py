"""How much is in each tier, and how many search units each model generation has."""

from dataclasses import dataclass
from datetime import datetime

from rearview.domain.memory import Tier


@dataclass(frozen=True, slots=True)
class TierStatistics:
    """Memories of one tier that are not forgotten, and the bytes of their texts (UTF-8)."""

    tier: Tier
    memory_count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class GenerationStatistics:
    """A model generation, how many of the tenant's search units carry its vectors, and whether these answer it."""

    generation_id: str
    model: str
    dimension: int
    current: bool
    unit_count: int
    created_at: datetime
    answering: bool = False
