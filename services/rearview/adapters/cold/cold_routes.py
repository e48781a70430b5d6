"""Recall's routes over cold segments: the index parts say what matches, the database how it stands."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from rearview.adapters.cold.cold_reader import ColdReader
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.recall_store import search_parameters
from rearview.adapters.postgres.uuid_array import UuidArray
from rearview.domain.bm25 import inverse_document_frequency
from rearview.domain.cold import ColdHits, ColdQuestion
from rearview.domain.errors import DeadlineExceeded
from rearview.domain.search_unit import UnitFlag
from rearview.ports.found_units import NO_UNITS, FoundUnits
from rearview.ports.recall_store import Found, Generation, Search

_SQL = load_queries("recall_cold")


class SegmentRoutes:
    """The `ColdRoutes` port. No connection is held while object storage is read."""

    def __init__(self, database: Database, reader: ColdReader) -> None:
        self._database = database
        self._reader = reader

    async def find(
        self, tenant_id: UUID, search: Search, found: Found, generation: Generation, *, timeout_seconds: float
    ) -> FoundUnits:
        """Return what the segments hold for a search; see `ColdRoutes.find`."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._find(tenant_id, search, found, generation, timeout_seconds)
        except TimeoutError as error:
            raise DeadlineExceeded("cold segments were not searched within the deadline", stage="cold") from error

    async def _find(
        self, tenant_id: UUID, search: Search, found: Found, generation: Generation, timeout_seconds: float
    ) -> FoundUnits:
        # Vectors of other generations are not compared, and their segments are rewritten when their time comes.
        segments = [segment for segment in found.segments if segment.generation == generation.ordinal]
        if not segments:
            return NO_UNITS
        parameters = search_parameters(search)
        allowed: frozenset[UUID] | None = None
        if parameters["restricted"]:
            allowed = await self._ids(tenant_id, "allowed", parameters, timeout_seconds)
        looked, named = await asyncio.gather(
            self._reader.search(segments, _question(search, found, allowed)),
            self._ids(tenant_id, "named", parameters, timeout_seconds) if search.entity_keys else _nobody(),
        )
        hits = await asyncio.to_thread(looked.hits, named)
        if not len(hits):
            return NO_UNITS
        memory_ids = [memory_id.tobytes() for memory_id in hits.memory_ids]
        ids = UuidArray(np.frombuffer(b"".join(dict.fromkeys(memory_ids)), np.uint8).reshape(-1, 16))
        rows = await self._database.rows(
            tenant_id, _SQL["standing"], {**parameters, "memories": ids}, timeout_seconds=timeout_seconds
        )
        standing = {row[0].bytes: row for row in rows}
        return _units(hits, [standing.get(memory_id) for memory_id in memory_ids])

    async def _ids(
        self, tenant_id: UUID, statement: str, parameters: Mapping[str, Any], timeout_seconds: float
    ) -> frozenset[UUID]:
        rows = await self._database.rows(tenant_id, _SQL[statement], parameters, timeout_seconds=timeout_seconds)
        return frozenset(row[0] for row in rows)


async def _nobody() -> frozenset[UUID]:
    return frozenset()


def _question(search: Search, found: Found, allowed: frozenset[UUID] | None) -> ColdQuestion:
    statistics = found.statistics
    both = statistics.chinese_units > 0 and statistics.english_units > 0
    weights: Mapping[int, float] = {
        term: count * inverse_document_frequency(statistics.units, statistics.frequencies.get(term, 0))
        for term, count in (search.terms.items() if search.keyword_route else ())
    }
    return ColdQuestion(
        vector=search.vector,
        weights=weights,
        ranges=search.time_ranges,
        allowed=allowed,
        start=search.filter.start,
        end=search.filter.end,
        languages=(int(UnitFlag.CHINESE), int(UnitFlag.ENGLISH)) if both else (0,),
        limit=search.limit,
    )


def _units(hits: ColdHits, standing: Sequence[tuple[Any, ...] | None]) -> FoundUnits:
    """Return the hits whose memories stand, with how each does."""
    kept = [at for at, row in enumerate(standing) if row is not None]
    rows = [row for row in standing if row is not None]
    if not rows:
        return NO_UNITS
    memory_ids, kinds, intensities, pinned, priorities, used_at, access_counts, entity_matches = zip(*rows, strict=True)
    return FoundUnits.of_columns(
        [
            [UUID(bytes=unit_id.tobytes()) for unit_id in hits.unit_ids[kept]],
            memory_ids,
            hits.occurred_at[kept],
            hits.speaker[kept],
            hits.flags[kept],
            hits.routes[kept],
            hits.similarity[kept],
            hits.keyword_score[kept],
            np.zeros(len(kept)),
            kinds,
            intensities,
            pinned,
            priorities,
            used_at,
            access_counts,
            entity_matches,
        ]
    )
