"""A namespace read for an export, in PostgreSQL and, what is cold of it, in object storage."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.memory_rows import read_memories
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.tier_rows import halves_of, sparse_of
from rearview.domain.cold import ColdUnit, filled
from rearview.domain.event import CaptureOutcome
from rearview.domain.exchange.records import ExportedEvent, ExportedLink, ExportedMemory, ExportedUnit, Manifest
from rearview.domain.ids import new_id
from rearview.domain.memory import Memory, MemoryState, Tier
from rearview.domain.names import NamespaceName
from rearview.domain.principal import Scope
from rearview.ports.clock import Clock
from rearview.ports.exporting import EventPlace
from rearview.ports.tiering import ColdContents

_SQL = load_queries("export")
_EVENTS = 500
_MEMORIES = 100
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Part:
    """Memories as the database has them, what belongs to them, and the units that stand there."""

    memories: Mapping[UUID, Memory]
    belongings: Sequence[Mapping[str, Any]]
    units: Mapping[UUID, Sequence[ExportedUnit]]


class PostgresExportReader:
    """The `ExportReader` port."""

    def __init__(self, database: Database, cold: ColdContents, clock: Clock) -> None:
        self._database = database
        self._cold = cold
        self._clock = clock

    async def begin(self, scope: Scope, states: Collection[MemoryState]) -> Manifest:
        """Record the export and return its manifest; see `ExportReader.begin`."""
        now = self._clock.now()
        export_id = new_id()
        async with self._database.transaction(scope.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            place = {**_place(scope), "states": [int(state) for state in states], "now": now}
            row = await (await connection.execute(_SQL["manifest"], place)).fetchone()
            name = str(NamespaceName(scope.namespace))
            await record_audit(connection, scope.tenant_id, scope, "memory.export", [name], now, f"export={export_id}")
        generation_id, events, memories = row or ("", 0, 0)
        return Manifest(export_id, now, scope.namespace, scope.namespace_id, generation_id, events, memories)

    async def events(self, scope: Scope, after: EventPlace) -> Sequence[ExportedEvent]:
        """Return the next events; see `ExportReader.events`."""
        place = {**_place(scope), "session_id": after[0], "sequence": after[1], "limit": _EVENTS}
        async with self._database.transaction(scope.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            rows = await (await dict_rows(connection, _SQL["events"], place)).fetchall()
        return [
            ExportedEvent(
                event=event_of(row),
                session_id=row["session_id"],
                session_started_at=row["started_at"],
                session_last_event_at=row["last_event_at"],
                session_ended_at=row["ended_at"],
                outcome=CaptureOutcome(row["outcome"]),
                reason=row["reason"] or "",
                importance=row["importance"],
                bands=tuple(row["bands"]),
                indexed_at=row["indexed_at"],
            )
            for row in rows
        ]

    async def memories(self, scope: Scope, states: Collection[MemoryState], after: UUID) -> Sequence[ExportedMemory]:
        """Return the next memories; see `ExportReader.memories`."""
        place = {
            **_place(scope),
            "states": [int(state) for state in states],
            "after": after,
            "now": self._clock.now(),
            "limit": _MEMORIES,
        }
        async with self._database.transaction(scope.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            found = await (await connection.execute(_SQL["memory_ids"], place)).fetchall()
            part = await _part(connection, scope, [row[0] for row in found])
        memories, units = dict(part.memories), dict(part.units)
        cold = [memory.memory_id for memory in memories.values() if memory.tier is Tier.COLD]
        for one in await self._cold.restored(scope.tenant_id, scope.namespace_id, cold) if cold else ():
            memory_id = one.pointer.memory_id
            memories[memory_id] = filled(memories[memory_id], one.content)
            units[memory_id] = [_unit(unit) for unit in one.units]
        return [_exported(memories[row["memory_id"]], row, units.get(row["memory_id"], ())) for row in part.belongings]


async def _part(connection: Connection, scope: Scope, memory_ids: Sequence[UUID]) -> _Part:
    memories = await read_memories(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    place = {**_place(scope), "memory_ids": sorted(memories)}
    belongings = await (await dict_rows(connection, _SQL["belongings"], place)).fetchall()
    units: dict[UUID, list[ExportedUnit]] = defaultdict(list)
    for generation in sorted({row["generation"] for row in belongings}):
        statement = load_queries("export_units", generation)["units"]
        for memory_id, unit_id, occurred_at, flags, vector, sparse in await (
            await connection.execute(statement, place)
        ).fetchall():
            terms, weights = sparse_of(sparse)
            unit = ColdUnit(unit_id, occurred_at, 0, flags, 0, halves_of(vector), terms, weights)
            units[memory_id].append(_unit(unit))
    return _Part(memories, sorted(belongings, key=lambda row: row["memory_id"]), units)


def _exported(memory: Memory, row: Mapping[str, Any], units: Sequence[ExportedUnit]) -> ExportedMemory:
    return ExportedMemory(
        memory=memory,
        told_at=row["fact_told_at"],
        source_id=row["fact_source_id"],
        derived=row["derived"],
        links=tuple(
            ExportedLink(session_id, UUID(event_id), sequence, UUID(repeats) if repeats else None)
            for session_id, event_id, sequence, repeats in row["links"]
        ),
        sources=tuple(row["sources"]),
        units=tuple(sorted(units, key=lambda unit: (unit.occurred_at, unit.unit_id))),
    )


def _unit(unit: ColdUnit) -> ExportedUnit:
    return ExportedUnit(
        unit_id=unit.unit_id,
        occurred_at=unit.occurred_at,
        flags=unit.flags,
        vector=unit.embedding.astype("<f2").tobytes(),
        terms=tuple(unit.terms.tolist()),
        weights=tuple(float(f"{weight:.9g}") for weight in unit.weights.tolist()),
    )


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
