"""Cold memories: what leaves the database for a segment object, and what is kept of a segment in the catalog."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.memory import Memory
from rearview.domain.text import Entity, EntityType

SEGMENT_MEMORIES = 10_000
"""A segment holds at most so many memories."""

SEGMENT_BYTES = 32 * 1024 * 1024
"""And about so many bytes of text, for it is made in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class ColdUnit:
    """A search unit as its segment keeps it.

    Attributes:
        embedding: (d,) float16, bit for bit what the search table held.
        terms: (t,) int32 keyword hashes, ascending.
        weights: (t,) float32 BM25 weights.
    """

    unit_id: UUID
    occurred_at: datetime
    speaker: int
    flags: int
    type: int
    embedding: NDArray[np.float16]
    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ColdMemory:
    """What leaves the database of a memory; `metadata` and `entities` are JSON as the database wrote it."""

    memory_id: UUID
    content: str
    metadata: str
    entities: str
    first: datetime
    last: datetime
    units: tuple[ColdUnit, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """A catalog row. `dead` are rows that no memory points to any more, ascending; `block_offsets` are known to who
    wrote it only."""

    segment_id: UUID
    object_key: str
    generation: int
    memories: int
    units: int
    index_bytes: int
    total_bytes: int
    first: datetime
    last: datetime
    dead: tuple[int, ...] = ()
    block_offsets: tuple[int, ...] = ()

    @property
    def live(self) -> int:
        """How many memories still point to it."""
        return self.memories - len(self.dead)


@dataclass(frozen=True, slots=True)
class ColdPointer:
    """Where a cold memory's bytes are: its row, and the payload block that holds it."""

    memory_id: UUID
    segment_id: UUID
    row: int
    object_key: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ColdContent:
    """The part of a memory that its segment keeps; JSON as the database wrote it."""

    content: str
    metadata: str
    entities: str


@dataclass(frozen=True, slots=True, eq=False)
class ColdHits:
    """Units that segments hold for a query, a row each: their text scores, and the routes that found them.

    Attributes:
        memory_ids, unit_ids: (n, 16) uint8.
        occurred_at: (n,) float64, Unix seconds.
        speaker, flags: (n,) int64, as in the index.
        routes: (n,) int64, bits of `segment_search`.
        similarity: (n,) float64, NaN without a vector.
        keyword_score: (n,) float64.
    """

    memory_ids: NDArray[np.uint8]
    unit_ids: NDArray[np.uint8]
    occurred_at: NDArray[np.float64]
    speaker: NDArray[np.int64]
    flags: NDArray[np.int64]
    routes: NDArray[np.int64]
    similarity: NDArray[np.float64]
    keyword_score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.routes)


_NO_IDS, _NO_NUMBERS, _NO_SCORES = np.empty((0, 16), np.uint8), np.empty(0, np.int64), np.empty(0)
NO_HITS = ColdHits(_NO_IDS, _NO_IDS, _NO_SCORES, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, _NO_SCORES, _NO_SCORES)


@dataclass(frozen=True, slots=True, eq=False)
class ColdQuestion:
    """What to look for in segments.

    Attributes:
        vector: (d,) float32, centred, L2-normalised.
        weights: the query's side of BM25 by keyword hash.
        ranges: half-open stretches for the time route.
        allowed: the memories that a filter admits; None for all.
        languages: flags of languages that have a list of nearest units each; 0 is one list for all.
        start, end: only units of this half-open stretch.
    """

    vector: NDArray[np.float32] | None
    weights: Mapping[int, float]
    ranges: tuple[tuple[datetime, datetime], ...] = ()
    allowed: frozenset[UUID] | None = None
    start: datetime | None = None
    end: datetime | None = None
    languages: tuple[int, ...] = (0,)
    limit: int = 100


def filled(memory: Memory, kept: ColdContent) -> Memory:
    """Return a cold memory with what its segment keeps of it."""
    entities = tuple(
        Entity(EntityType(entity["type"]), entity["text"], entity["canonical"], 0, 0)
        for entity in json.loads(kept.entities)
    )
    return replace(memory, content=kept.content, metadata=json.loads(kept.metadata), entities=entities)
