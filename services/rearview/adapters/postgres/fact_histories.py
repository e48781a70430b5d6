"""Histories of facts in PostgreSQL: summaries of them, and the undoing of a supersession."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_merge
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.facts import SQL, change_values, enqueue_summaries, held_value_of, lock_attributes
from rearview.adapters.postgres.memory_rows import insert_memories, read_memories
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.domain.consistency import HeldValue
from rearview.domain.errors import Conflict, NotFound, PreconditionFailed
from rearview.domain.fact import Stance
from rearview.domain.keyword_bag import count_units
from rearview.domain.memory import Fact, Memory, MemoryState
from rearview.domain.names import MemoryName
from rearview.domain.principal import Scope
from rearview.domain.search_unit import UnitFlag
from rearview.domain.writing import RequestKey
from rearview.ports.fact_histories import FactHistory
from rearview.ports.memory_store import NewMemory

MOST_VALUES = 100
"""So many of the newest values a summary looks at."""

_MOMENT = timedelta(microseconds=1)
_REPLACING = frozenset((Stance.CHANGE, Stance.CORRECTION))


class PostgresFactHistories:
    """The `FactHistories` port over the tables of one generation."""

    def __init__(self, database: Database, units: SearchUnits) -> None:
        self._database = database
        self._units = units

    async def read(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> FactHistory | None:
        """Return the history that a fact is part of; see `FactHistories.read`."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_id": memory_id}
        async with self._database.transaction(tenant_id) as connection:
            row = await (await connection.execute(SQL["fact_of"], place)).fetchone()
            return None if row is None else await _history(connection, tenant_id, namespace_id, row[0], row[1])

    async def replace(
        self, tenant_id: UUID, namespace_id: UUID, history: FactHistory, summary: NewMemory | None, *, now: datetime
    ) -> None:
        """Put a summary in the place of the present one; see `FactHistories.replace`."""
        async with self._database.transaction(tenant_id) as connection:
            await lock_attributes(connection, tenant_id, namespace_id, [(history.subject, history.attribute)])
            present = await _history(connection, tenant_id, namespace_id, history.subject, history.attribute)
            if _versions(present) != _versions(history):
                raise Conflict("the history changed while it was told", retry_after_seconds=1.0)
            if history.summary is not None:
                await self._take_back(connection, tenant_id, namespace_id, history.summary, summary, now)
            if summary is not None:
                await self._store(connection, tenant_id, namespace_id, history, summary, now)
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)

    async def undo(self, scope: Scope, memory_id: UUID, *, request: RequestKey | None, now: datetime) -> Memory:
        """Make a value active again; see `FactHistories.undo`."""
        tenant_id = scope.tenant_id
        async with self._database.transaction(tenant_id) as connection:
            earlier = await earlier_result(connection, tenant_id, request)
            if earlier is None:
                await self._undo(connection, scope, memory_id, now)
                await keep_result(connection, tenant_id, request, {"memory_id": str(memory_id)}, now)
            return await _live(connection, scope, memory_id)

    async def _undo(self, connection: Connection, scope: Scope, memory_id: UUID, now: datetime) -> None:
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        memory = await _live(connection, scope, memory_id)
        if memory.fact is None:
            raise _forbidden(scope, memory, "only facts are superseded")
        await lock_attributes(connection, tenant_id, namespace_id, [(memory.fact.subject, memory.fact.attribute)])
        known = await _known(connection, scope, memory.fact)
        restored = known.get(memory_id)
        if restored is None:
            raise _not_found(scope, memory_id)
        if restored.state is MemoryState.ACTIVE:
            raise _forbidden(scope, memory, "it is active")
        displaced = [
            replace(value, state=MemoryState.SUPERSEDED, superseded_by=memory_id, valid_to=max(now, value.starts_at))
            for value in known.values()
            if value.memory_id != memory_id and _stands_in_its_place(value, restored)
        ]
        # From now on it counts as told last, so that what is said next takes its place.
        told_at = max(now, *(value.told_at + _MOMENT for value in (restored, *displaced)))
        again = replace(restored, state=MemoryState.ACTIVE, superseded_by=None, valid_to=None, told_at=told_at)
        await change_values(connection, tenant_id, namespace_id, [*displaced, again], now)
        changed = [value.memory_id for value in (*displaced, again)]
        await self._units.restore(connection, tenant_id, namespace_id, changed)
        await enqueue_summaries(connection, tenant_id, namespace_id, changed)
        names = [_name(scope, one) for one in (memory_id, *(value.memory_id for value in displaced))]
        await record_audit(connection, tenant_id, scope, "memory.undo_supersession", names, now)
        await bump_epoch(connection, tenant_id, namespace_id, breaking=True)

    async def _take_back(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        old: Memory,
        new: NewMemory | None,
        now: datetime,
    ) -> None:
        value = HeldValue(
            memory_id=old.memory_id,
            value_key="",
            told_at=old.occurred_at,
            source_id=old.memory_id,
            starts_at=old.occurred_at,
            valid_to=max(now, old.occurred_at),
            state=MemoryState.SUPERSEDED,
            superseded_by=new.memory.memory_id if new else None,
        )
        await change_values(connection, tenant_id, namespace_id, [value], now)
        await self._units.restore(connection, tenant_id, namespace_id, [old.memory_id])

    async def _store(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        history: FactHistory,
        new: NewMemory,
        now: datetime,
    ) -> None:
        memory = new.memory
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now}
        await insert_memories(connection, tenant_id, namespace_id, self._units.generation, [memory])
        await connection.execute(SQL["describe_facts"], {**place, "facts": as_records([_summary_record(memory)])})
        links = [{"memory_id": memory.memory_id, "source_memory_id": value.memory_id} for value in history.values]
        await connection.execute(SQL["link_memories"], {**place, "links": as_records(links)})
        value_ids = [value.memory_id for value in history.values]
        await connection.execute(
            SQL["link_sources"], {**place, "memory_id": memory.memory_id, "value_ids": value_ids, "limit": MOST_VALUES}
        )
        await self._units.insert(connection, tenant_id, namespace_id, [new.unit], now)
        delta = NamespaceDelta(
            units=1,
            keyword_total=new.bag.length,
            chinese_units=int(bool(new.unit.flags & UnitFlag.CHINESE)),
            english_units=int(bool(new.unit.flags & UnitFlag.ENGLISH)),
            memories=1,
            size_bytes=len(memory.content.encode()),
        )
        await self._units.count(connection, tenant_id, namespace_id, delta, count_units([new.bag]))
        await enqueue_merge(connection, tenant_id, namespace_id, None)


async def _history(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, subject: str, attribute: str
) -> FactHistory:
    place = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "subject": subject,
        "attribute": attribute,
        "limit": MOST_VALUES,
    }
    values = [row[0] for row in await (await connection.execute(SQL["values_of"], place)).fetchall()]
    summary = await (await connection.execute(SQL["summary_of"], place)).fetchone()
    ids = [*values, *(summary or ())]
    found = await read_memories(connection, tenant_id, namespace_id, ids)
    return FactHistory(
        subject,
        attribute,
        tuple(found[memory_id] for memory_id in values if memory_id in found),
        found.get(summary[0]) if summary else None,
    )


async def _known(connection: Connection, scope: Scope, fact: Fact) -> dict[UUID, HeldValue]:
    statement = {
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value_key": "" if fact.single_valued else fact.value_key,
        "category": fact.category,
        "replaces": "",
        "single_valued": fact.single_valued,
    }
    place = {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
    cursor = await dict_rows(
        connection, SQL["lock_known"], {**place, "statements": as_records([statement]), "limit": MOST_VALUES}
    )
    return {row["memory_id"]: held_value_of(row) for row in await cursor.fetchall()}


def _stands_in_its_place(value: HeldValue, restored: HeldValue) -> bool:
    if value.state is not MemoryState.ACTIVE or value.is_bounded:
        return False
    if restored.single_valued:
        return value.single_valued
    took_it = value.memory_id == restored.superseded_by and value.stance in _REPLACING
    return took_it or (value.same_value(restored) and value.denied != restored.denied)


def _summary_record(memory: Memory) -> dict[str, object]:
    fact = memory.fact or Fact("", "", "")
    return {
        "memory_id": memory.memory_id,
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "unit": fact.unit,
        "single_valued": False,
        "denied": False,
        "stance": Stance.STANDING.value,
        "told_at": memory.occurred_at,
        "state": int(MemoryState.ACTIVE),
        "extractor": fact.extractor,
        "prompt_version": "",
        "note": "",
        "derived": True,
    }


def _versions(history: FactHistory) -> list[tuple[UUID, int]]:
    memories = [*history.values, *([history.summary] if history.summary else [])]
    return [(memory.memory_id, memory.version) for memory in memories]


async def _live(connection: Connection, scope: Scope, memory_id: UUID) -> Memory:
    memory = (await read_memories(connection, scope.tenant_id, scope.namespace_id, [memory_id])).get(memory_id)
    if memory is None or memory.state is MemoryState.TOMBSTONED:
        raise _not_found(scope, memory_id)
    return memory


def _forbidden(scope: Scope, memory: Memory, why: str) -> PreconditionFailed:
    return PreconditionFailed(
        f"there is nothing to undo: {why}", resource_name=_name(scope, memory.memory_id), state=memory.state.name
    )


def _not_found(scope: Scope, memory_id: UUID) -> NotFound:
    return NotFound("there is no such memory", resource_name=_name(scope, memory_id))


def _name(scope: Scope, memory_id: UUID) -> str:
    return str(MemoryName(scope.namespace, memory_id))
