"""Taking in exports, in PostgreSQL: a batch of lines is one transaction, with how far the import is by then."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_index, enqueue_merge
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.facts import lock_attributes
from rearview.adapters.postgres.import_rows import (
    imported_event_record,
    imported_memory_record,
    link_records,
    session_records,
    source_records,
    stats_records,
    told_at,
)
from rearview.adapters.postgres.namespace_erasure import refuse_deleted
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.quotas import QuotaCheck
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.adapters.postgres.session_index import know_speakers
from rearview.adapters.postgres.session_locks import lock_sessions
from rearview.adapters.postgres.stale_units import read_windows
from rearview.adapters.postgres.tier_rows import unit_record
from rearview.domain.errors import Conflict
from rearview.domain.event import CaptureOutcome
from rearview.domain.exchange.records import ExportedMemory
from rearview.domain.keyword_bag import count_units
from rearview.domain.memory import MemoryState, Tier
from rearview.domain.names import NamespaceName
from rearview.domain.principal import Scope
from rearview.domain.search_unit import UnitFlag, UnitState
from rearview.domain.unit_projection import KeywordStatistics
from rearview.ports.forgetting import StaleTurn
from rearview.ports.importing import ImportBatch, ImportedEvent, ImportedMemory, Known, Progress, Stored
from rearview.ports.working_memory import SessionKey

_SQL = load_queries("imports")


class PostgresImportStore:
    """The `ImportStore` port over the tables of one generation."""

    def __init__(self, database: Database, units: SearchUnits, quotas: QuotaCheck) -> None:
        self._database = database
        self._units = units
        self._quotas = quotas
        self._tiers = load_queries("tier_units", units.generation)

    async def progress(self, scope: Scope, export_id: UUID) -> Progress | None:
        """Return how far an import is; see `ImportStore.progress`."""
        place = {**_place(scope), "export_id": export_id}
        async with self._database.transaction(scope.tenant_id) as connection:
            row = await (await connection.execute(_SQL["progress"], place)).fetchone()
        return Progress(row[0], bytes(row[1]), frozenset(row[2])) if row else None

    async def end(self, scope: Scope, export_id: UUID) -> None:
        """Forget how far an import was; see `ImportStore.end`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            await connection.execute(_SQL["end"], {**_place(scope), "export_id": export_id})

    async def known(self, scope: Scope, source_namespace_id: UUID | None, ids: Mapping[UUID, UUID]) -> Known:
        """Return what is known of ids; see `ImportStore.known`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            there = await connection.execute(_SQL["there"], {**_place(scope), "ids": list(ids.values())})
            forgotten = await _forgotten(connection, scope, source_namespace_id, ids)
            return Known(frozenset(row[0] for row in await there.fetchall()), forgotten)

    async def taken(self, scope: Scope, places: Collection[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        """Return which places hold an event; see `ImportStore.taken`."""
        place = {**_place(scope), "sessions": [one[0] for one in places], "sequences": [one[1] for one in places]}
        async with self._database.transaction(scope.tenant_id) as connection:
            return frozenset(await (await connection.execute(_SQL["taken"], place)).fetchall())

    async def windows(self, scope: Scope, event_ids: Collection[UUID]) -> Sequence[StaleTurn]:
        """Return events in their windows; see `ImportStore.windows`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            return await read_windows(connection, scope.tenant_id, scope.namespace_id, event_ids)

    async def statistics(self, scope: Scope, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts; see `ImportStore.statistics`."""
        return await self._units.committed_statistics(self._database, scope.tenant_id, scope.namespace_id, terms)

    async def write(self, scope: Scope, batch: ImportBatch, *, now: datetime) -> Stored | None:
        """Write a batch; see `ImportStore.write`."""
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        sessions = {event.record.session_id for event in batch.events}
        sessions |= {link.session_id for memory in batch.memories for link in memory.record.links}
        async with self._database.transaction(tenant_id) as connection:
            await refuse_deleted(connection, scope)
            await _advance(connection, scope, batch, now)
            await lock_sessions(connection, tenant_id, namespace_id, sorted(sessions))
            if await _forgotten(connection, scope, batch.source_namespace_id, batch.ids) != batch.known.forgotten:
                raise psycopg.Rollback
            events = await self._events(connection, scope, batch.events)
            stored = await self._memories(connection, scope, batch.memories, now)
            stored = replace(stored, events=events)
            if events or stored.memories:
                detail = f"export={batch.export_id} events={events} memories={stored.memories}"
                name = str(NamespaceName(scope.namespace))
                await record_audit(connection, tenant_id, scope, "memory.import", [name], now, detail)
                await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
                await self._quotas.refuse_excess(connection, tenant_id)
            return stored
        return None

    async def _events(self, connection: Connection, scope: Scope, events: Sequence[ImportedEvent]) -> int:
        if not events:
            return 0
        place = _place(scope)
        await connection.execute(_SQL["open_sessions"], {**place, "sessions": as_records(session_records(events))})
        records = as_records(imported_event_record(event) for event in events)
        inserted = await (await connection.execute(_SQL["insert_events"], {**place, "events": records})).fetchall()
        session_ids = sorted({event.record.session_id for event in events})
        numbered = await connection.execute(_SQL["number_sessions"], {**place, "session_ids": session_ids})
        for session_id, waits in await numbered.fetchall():
            if waits:
                await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)
        speakers = {
            event.speaker: event.record.event.speaker
            for event in events
            if event.speaker and event.record.outcome is CaptureOutcome.KEPT
        }
        if speakers:
            key = SessionKey(scope.tenant_id, scope.namespace_id, session_ids[0])
            await know_speakers(connection, key, speakers)
        return len(inserted)

    async def _memories(
        self, connection: Connection, scope: Scope, memories: Sequence[ImportedMemory], now: datetime
    ) -> Stored:
        if not memories:
            return Stored()
        place = {**_place(scope), "now": now}
        resolved, superseded = await self._resolved(connection, scope, [one.record for one in memories], now)
        records = as_records(imported_memory_record(record) for record in resolved)
        cursor = await connection.execute(
            _SQL["insert_memories"], {**place, "generation": self._units.generation, "memories": records}
        )
        inserted = {row[0] for row in await cursor.fetchall()}
        stored = [record for record in resolved if record.memory.memory_id in inserted]
        await connection.execute(_SQL["link_events"], {**place, "links": as_records(link_records(stored))})
        await connection.execute(_SQL["link_sources"], {**place, "sources": as_records(source_records(stored))})
        await connection.execute(_SQL["insert_stats"], {**place, "stats": as_records(stats_records(stored))})
        units = [one for one in memories if one.record.memory.memory_id in inserted]
        await self._insert_units(connection, scope, stored, units, now)
        count = sum(len(one.units) for one in units)
        return Stored(memories=len(stored), units=count, superseded=superseded)

    async def _insert_units(
        self,
        connection: Connection,
        scope: Scope,
        stored: Sequence[ExportedMemory],
        memories: Sequence[ImportedMemory],
        now: datetime,
    ) -> None:
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        states = {record.memory.memory_id: record.memory.state for record in stored}
        records = [
            unit_record(one.record.memory.memory_id, unit, _unit_state(states[one.record.memory.memory_id]), now)
            for one in memories
            for unit in one.units
        ]
        await connection.execute(self._tiers["insert_fresh"], {**_place(scope), "units": as_records(records)})
        warm = [record.memory.memory_id for record in stored if record.memory.tier is not Tier.HOT]
        if warm:
            await connection.execute(self._tiers["warm_from_fresh"], {**_place(scope), "memory_ids": warm})
        flags = [unit.flags for one in memories for unit in one.units]
        bags = [bag for one in memories for bag in one.bags]
        delta = NamespaceDelta(
            units=len(bags),
            keyword_total=sum(bag.length for bag in bags),
            chinese_units=sum(bool(flag & UnitFlag.CHINESE) for flag in flags),
            english_units=sum(bool(flag & UnitFlag.ENGLISH) for flag in flags),
            memories=len(stored),
            size_bytes=sum(len(record.memory.content.encode()) for record in stored),
        )
        await self._units.count(connection, tenant_id, namespace_id, delta, count_units(bags))
        if records:
            await enqueue_merge(connection, tenant_id, namespace_id, None)

    async def _resolved(
        self, connection: Connection, scope: Scope, records: Sequence[ExportedMemory], now: datetime
    ) -> tuple[list[ExportedMemory], int]:
        """Let one value of an attribute be active: the one that was told last, here or in the export."""
        claims = {
            (record.memory.fact.subject, record.memory.fact.attribute)
            for record in records
            if record.memory.fact and record.memory.fact.single_valued and record.memory.state is MemoryState.ACTIVE
        }
        if not claims:
            return list(records), 0
        await lock_attributes(connection, scope.tenant_id, scope.namespace_id, claims)
        attributes = as_records({"subject": subject, "attribute": attribute} for subject, attribute in claims)
        cursor = await connection.execute(_SQL["active_values"], {**_place(scope), "attributes": attributes})
        active = {
            (subject, attribute): (told, memory_id) for memory_id, subject, attribute, told in await cursor.fetchall()
        }
        held = {memory_id for _, memory_id in active.values()}
        resolved: dict[UUID, ExportedMemory] = {}
        given_way: dict[UUID, tuple[UUID, datetime]] = {}
        for record in records:
            memory = record.memory
            resolved[memory.memory_id] = record
            if memory.fact is None or not memory.fact.single_valued or memory.state is not MemoryState.ACTIVE:
                continue
            key, claim = (memory.fact.subject, memory.fact.attribute), (told_at(record), memory.memory_id)
            rival = active.get(key)
            if rival is None or rival[1] == memory.memory_id:
                active[key] = claim
                continue
            later, earlier = max(rival, claim), min(rival, claim)
            active[key] = later
            given_way[earlier[1]] = (later[1], later[0])
        for memory_id in given_way.keys() & resolved.keys():
            by, at = given_way[memory_id]
            memory = resolved[memory_id].memory
            memory = replace(memory, state=MemoryState.SUPERSEDED, superseded_by=by, valid_to=memory.valid_to or at)
            resolved[memory_id] = replace(resolved[memory_id], memory=memory)
        superseded = [
            {"memory_id": memory_id, "superseded_by": by, "at": at}
            for memory_id, (by, at) in given_way.items()
            if memory_id in held
        ]
        if superseded:
            place = {**_place(scope), "now": now, "superseded": as_records(superseded)}
            await connection.execute(_SQL["supersede"], place)
            ids = [memory_id for memory_id in given_way if memory_id in held]
            await self._units.restore(connection, scope.tenant_id, scope.namespace_id, ids)
        return list(resolved.values()), len(given_way)


async def _advance(connection: Connection, scope: Scope, batch: ImportBatch, now: datetime) -> None:
    progress = batch.progress
    place = {
        **_place(scope),
        "export_id": batch.export_id,
        "before": batch.before,
        "lines": progress.lines,
        "checksum": progress.checksum,
        "touched": sorted(progress.touched_sessions),
        "now": now,
    }
    cursor = await connection.execute(_SQL["advance" if batch.before else "begin"], place)
    if await cursor.fetchone() is None:
        raise Conflict("another call goes on with this import; ask how far it is", retry_after_seconds=1.0)


async def _forgotten(
    connection: Connection, scope: Scope, source_namespace_id: UUID | None, ids: Mapping[UUID, UUID]
) -> frozenset[UUID]:
    """Return the ids of the export that were forgotten, here or where they came from."""
    here = await connection.execute(_SQL["forgotten"], {**_place(scope), "ids": list(ids.values())})
    source = {"tenant_id": scope.tenant_id, "namespace_id": source_namespace_id, "ids": list(ids)}
    there = await connection.execute(_SQL["forgotten"], source)
    gone = {row[0] for row in await here.fetchall()}
    return frozenset(
        [*(given for given, own in ids.items() if own in gone), *(row[0] for row in await there.fetchall())]
    )


def _unit_state(state: MemoryState) -> int:
    return int(UnitState.ACTIVE if state is MemoryState.ACTIVE else UnitState.INACTIVE)


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
