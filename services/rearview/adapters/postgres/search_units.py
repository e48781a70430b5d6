"""The search projection and the counts of BM25 in PostgreSQL, for one model generation."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from rearview.adapters.postgres.bounded_connection import LONGEST_SILENCE_SECONDS
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.generations import search_generations
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records, sparse_text, vector_text
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.domain.stored_vector import stored_vector
from rearview.domain.unit_projection import KeywordStatistics, SearchUnit, UnitProjection


@dataclass(frozen=True, slots=True)
class NamespaceDelta:
    """What a transaction adds to (or takes from) a namespace's counts."""

    units: int = 0
    keyword_total: float = 0.0
    chinese_units: int = 0
    english_units: int = 0
    memories: int = 0
    size_bytes: int = 0

    def __add__(self, other: "NamespaceDelta") -> "NamespaceDelta":
        return NamespaceDelta(
            self.units + other.units,
            self.keyword_total + other.keyword_total,
            self.chinese_units + other.chinese_units,
            self.english_units + other.english_units,
            self.memories + other.memories,
            self.size_bytes + other.size_bytes,
        )


class SearchUnits:
    """Statements that make search units in the tables of one generation, and change them in those of all; each runs in
    the caller's transaction. The database notes what is to be embedded for the other generations."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self._sql = load_queries("search_units", generation)

    async def insert(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, units: Iterable[SearchUnit], now: datetime
    ) -> None:
        """Insert new units."""
        records = as_records(
            {
                **_projection(unit.projection),
                "memory_id": unit.memory_id,
                "occurred_at": unit.occurred_at,
                "speaker": unit.speaker,
                "flags": int(unit.flags),
                "type": int(unit.type),
            }
            for unit in units
        )
        await self._run(connection, "insert_units", tenant_id, namespace_id, units=records, now=now)

    async def grow(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, grown: Iterable[UnitProjection]
    ) -> None:
        """Replace the projections of units whose windows were open."""
        records = as_records(_projection(projection) for projection in grown)
        await self._run(connection, "grow_units", tenant_id, namespace_id, units=records)

    async def close(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, unit_ids: Collection[UUID]
    ) -> None:
        """Say of units that their windows will not grow any more."""
        await self._everywhere(connection, ["close_fresh_units"], tenant_id, namespace_id, unit_ids=list(unit_ids))

    async def delete(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
    ) -> None:
        """Delete all units of memories."""
        names = ("delete_fresh_units", "delete_units", "delete_warm_units")
        await self._everywhere(connection, names, tenant_id, namespace_id, memory_ids=list(memory_ids))

    async def set_time(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, unit_id: UUID, occurred_at: datetime
    ) -> None:
        """Change when a unit happened."""
        names = ("move_fresh_unit_times", "move_unit_times", "move_warm_unit_times")
        await self._everywhere(connection, names, tenant_id, namespace_id, unit_id=unit_id, occurred_at=occurred_at)

    async def tombstone(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        memory_ids: Collection[UUID],
        unit_ids: Collection[UUID] = (),
    ) -> None:
        """Take all units of memories, and single ones, out of recall."""
        ids = {"memory_ids": list(memory_ids), "unit_ids": list(unit_ids)}
        names = ("tombstone_fresh_units", "tombstone_units", "tombstone_warm_units")
        await self._everywhere(connection, names, tenant_id, namespace_id, **ids)

    async def restore(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        memory_ids: Collection[UUID],
        unit_ids: Collection[UUID] = (),
    ) -> None:
        """Give all units of memories, and single ones, the state that goes with their memories' states."""
        ids = {"memory_ids": list(memory_ids), "unit_ids": list(unit_ids)}
        names = ("restore_fresh_units", "restore_units", "restore_warm_units")
        await self._everywhere(connection, names, tenant_id, namespace_id, **ids)

    async def replace(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, units: Collection[UnitProjection]
    ) -> list[tuple[UUID, list[int] | None, bool]]:
        """Replace projections of units wherever they stand; return of those there were the ids, the keywords before,
        and whether those were counted. In other generations they have no vector until they are embedded again."""
        unit_ids = [unit.unit_id for unit in units]
        records = as_records(_projection(unit) for unit in units)
        found: list[tuple[UUID, list[int] | None, bool]] = []
        for table in ("fresh_projections", "projections", "warm_projections"):
            place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "unit_ids": unit_ids}
            found += await (await connection.execute(self._sql[f"lock_{table}"], place)).fetchall()
            await self._run(connection, f"replace_{table}", tenant_id, namespace_id, units=records)
        blank = [f"blank_{table}" for table in ("fresh_projections", "projections", "warm_projections")]
        await self._in_others(
            connection, await search_generations(connection), blank, tenant_id, namespace_id, units=records
        )
        return found

    async def merge(self, connection: Connection, tenant_id: UUID, namespace_id: UUID, limit: int) -> int:
        """Move closed units from the fresh tables to the main ones; return how many moved."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "limit": limit}
        moved = 0
        for ordinal in await search_generations(connection):
            row = await (await connection.execute(load_queries("search_units", ordinal)["merge"], place)).fetchone()
            moved = max(moved, int(row[0]) if row else 0)
        return moved

    async def count(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        delta: NamespaceDelta,
        terms: Mapping[int, int],
    ) -> None:
        """Add to a namespace's counts; `terms` ascend."""
        if terms:
            await self._run(
                connection,
                "count_keywords",
                tenant_id,
                namespace_id,
                keywords=list(terms.keys()),
                counts=list(terms.values()),
            )
        await self._run(
            connection,
            "count_units",
            tenant_id,
            namespace_id,
            units=delta.units,
            keyword_total=delta.keyword_total,
            chinese_units=delta.chinese_units,
            english_units=delta.english_units,
            memories=delta.memories,
            bytes=delta.size_bytes,
        )

    async def statistics(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]
    ) -> KeywordStatistics:
        """Return a namespace's counts, with those of the given terms."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "terms": list(terms)}
        totals = await connection.execute(self._sql["statistics"], place)
        frequencies = await connection.execute(self._sql["frequencies"], place)
        return _statistics_of(await totals.fetchall(), await frequencies.fetchall())

    async def committed_statistics(
        self, database: Database, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]
    ) -> KeywordStatistics:
        """Return what `statistics` does in a transaction of its own, in one round trip."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "terms": list(terms)}
        readings = [Reading(numbered(self._sql[name]), place) for name in ("statistics", "frequencies")]
        totals, frequencies = await database.read(tenant_id, readings, timeout_seconds=LONGEST_SILENCE_SECONDS)
        return _statistics_of(totals, frequencies)

    async def _everywhere(
        self, connection: Connection, names: Sequence[str], tenant_id: UUID, namespace_id: UUID, **parameters: object
    ) -> None:
        generations = await search_generations(connection)
        # First where they are made: what copies them to others locks them there, and then sees this change.
        for name in names:
            await self._run(connection, name, tenant_id, namespace_id, **parameters)
        await self._in_others(connection, generations, names, tenant_id, namespace_id, **parameters)

    async def _in_others(
        self,
        connection: Connection,
        generations: Sequence[int],
        names: Sequence[str],
        tenant_id: UUID,
        namespace_id: UUID,
        **parameters: object,
    ) -> None:
        others = [ordinal for ordinal in generations if ordinal != self.generation]
        if not others:
            return
        await connection.execute(self._sql["unwatched"])
        for ordinal in others:
            statements = load_queries("search_units", ordinal)
            for name in names:
                await connection.execute(
                    statements[name], {"tenant_id": tenant_id, "namespace_id": namespace_id, **parameters}
                )
        await connection.execute(self._sql["watched"])

    async def _run(
        self, connection: Connection, name: str, tenant_id: UUID, namespace_id: UUID, **parameters: object
    ) -> None:
        statement: LiteralString = self._sql[name]
        await connection.execute(statement, {"tenant_id": tenant_id, "namespace_id": namespace_id, **parameters})


def _statistics_of(totals: Sequence[tuple[Any, ...]], frequencies: Iterable[tuple[Any, ...]]) -> KeywordStatistics:
    units, keyword_total = totals[0] if totals else (0, 0.0)
    return KeywordStatistics(int(units), float(keyword_total), dict(frequencies))


def _projection(projection: UnitProjection) -> dict[str, object]:
    return {
        "unit_id": projection.unit_id,
        "closed": projection.closed,
        "embedding": vector_text(stored_vector(projection.embedding)),
        "sv": sparse_text(projection.terms),
    }
