"""What a search unit is found by, as the writer makes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.bm25 import inverse_document_frequency, term_weight
from rearview.domain.keyword_bag import MAX_TERMS, KeywordBag
from rearview.domain.memory import MemoryType
from rearview.domain.search_unit import UnitFlag

NO_FLAGS = UnitFlag(0)


@dataclass(frozen=True, slots=True, eq=False)
class UnitProjection:
    """`embedding`: (d,) float32, centred, L2-normalised. `terms`: BM25 weights by keyword hash, at most MAX_TERMS.
    `closed`: whether the context window is complete, so that the projection will not change any more."""

    unit_id: UUID
    embedding: NDArray[np.float32]
    terms: Mapping[int, float]
    closed: bool


@dataclass(frozen=True, slots=True, eq=False)
class SearchUnit:
    """A unit of a memory: a turn, or a memory without turns."""

    memory_id: UUID
    occurred_at: datetime
    type: MemoryType
    projection: UnitProjection
    speaker: int = 0
    flags: UnitFlag = NO_FLAGS


@dataclass(frozen=True, slots=True)
class KeywordStatistics:
    """A namespace's counts, of full bags: its units, the sum of their lengths, and in how many each term occurs."""

    units: int = 0
    keyword_total: float = 0.0
    frequencies: Mapping[int, int] = field(default_factory=dict)

    @property
    def average_length(self) -> float:
        """Average length of a bag; 0 where nothing is counted yet."""
        return self.keyword_total / self.units if self.units else 0.0


def indexed_terms(bag: KeywordBag, statistics: KeywordStatistics) -> dict[int, float]:
    """Return the BM25 weights (without IDF) of the bag's MAX_TERMS best terms; ties go to the smaller hash."""
    length, average = bag.length, statistics.average_length
    weights = {term: term_weight(frequency, length, average) for term, frequency in bag.weights.items()}
    if len(weights) <= MAX_TERMS:
        return weights

    def worth(term: int) -> float:
        units_with_term = statistics.frequencies.get(term, 0)
        return weights[term] * inverse_document_frequency(statistics.units, units_with_term)

    ranked = sorted(weights, key=lambda term: (-worth(term), term))
    return {term: weights[term] for term in ranked[:MAX_TERMS]}
