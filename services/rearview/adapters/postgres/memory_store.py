"""Memories stored and changed by request, in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_merge
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.facts import FactsWritten, FactWriter
from rearview.adapters.postgres.known_statements import refuse_if_doubted
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.memory_rows import count_uses, insert_memories, read_memories, replace_memory
from rearview.adapters.postgres.namespace_erasure import refuse_deleted
from rearview.adapters.postgres.originals import replace_memory_original
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.quotas import QuotaCheck
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.adapters.postgres.session_locks import detach, lock_sessions_of
from rearview.domain.addition import Addition, addition_of
from rearview.domain.content_hash import content_hash
from rearview.domain.errors import Conflict, NotFound
from rearview.domain.keyword_bag import count_units
from rearview.domain.memory import Memory, MemoryState
from rearview.domain.names import MemoryName
from rearview.domain.principal import Scope
from rearview.domain.search_unit import UnitFlag
from rearview.domain.unit_projection import KeywordStatistics
from rearview.domain.writing import Remembered, RememberOutcome, RequestKey
from rearview.ports.known_statements import Watch
from rearview.ports.memory_store import NewMemory
from rearview.ports.stated_facts import StatedFact
from rearview.ports.write_observer import NoObserver, WriteObserver

_SQL = load_queries("memory_store")


class PostgresMemoryStore:
    """The `MemoryStore` port over the tables of one generation."""

    def __init__(
        self, database: Database, units: SearchUnits, quotas: QuotaCheck, observer: WriteObserver | None = None
    ) -> None:
        self._database = database
        self._units = units
        self._quotas = quotas
        self._facts = FactWriter(units)
        self._observer = observer or NoObserver()

    async def remembered_before(self, scope: Scope, request: RequestKey) -> Remembered | None:
        """Return the answer of a request that was carried out before; see `MemoryStore.remembered_before`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            earlier = await earlier_result(connection, scope.tenant_id, request)
            return None if earlier is None else await self._answer_again(connection, scope, earlier)

    async def updated_before(self, scope: Scope, request: RequestKey) -> Memory | None:
        """Return the memory that this request changed before; see `MemoryStore.updated_before`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            earlier = await earlier_result(connection, scope.tenant_id, request)
            return None if earlier is None else await _live(connection, scope, UUID(str(earlier["memory_id"])))

    async def statistics(self, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts, with those of the given terms."""
        return await self._units.committed_statistics(self._database, tenant_id, namespace_id, terms)

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return a memory that is not forgotten; see `MemoryStore.get`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            return await _live(connection, scope, memory_id)

    async def remember(
        self,
        scope: Scope,
        new: NewMemory,
        *,
        request: RequestKey | None,
        now: datetime,
        merge_units_at: datetime | None,
        facts: tuple[StatedFact, ...] = (),
        says_same: UUID | None = None,
        watch: Watch | None = None,
    ) -> Remembered:
        """Store a memory unless it is known; see `MemoryStore.remember`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            earlier = await earlier_result(connection, scope.tenant_id, request)
            if earlier is not None:
                return await self._answer_again(connection, scope, earlier)
            await refuse_deleted(connection, scope)
            known_id, outcome = await _known(connection, scope, new.memory, says_same, now)
            if known_id is None:
                await self._store(connection, scope, new, now, merge_units_at)
                remembered = Remembered(new.memory, outcome)
            else:
                known = await _live(connection, scope, known_id)
                remembered = Remembered(known, outcome, (known_id,))
            stated = await self._state(connection, scope, remembered.memory.memory_id, facts, now)
            added, bags = stated.added, stated.bags
            if known_id is None:
                added, bags = added + _added(new, memories=1, replaced=None), (*bags, new.bag)
            uses = {**stated.confirmed, **({known_id: 1} if known_id else {})}
            await count_uses(connection, scope.tenant_id, scope.namespace_id, uses, now)
            await self._units.count(connection, scope.tenant_id, scope.namespace_id, added, count_units(bags))
            if known_id is None and any(fact.adopts for fact in facts):
                remembered = Remembered(await _live(connection, scope, new.memory.memory_id), RememberOutcome.CREATED)
            if superseded := stated.superseded.get(remembered.memory.memory_id):
                remembered = Remembered(remembered.memory, RememberOutcome.SUPERSEDED, superseded)
            result = {
                "memory_id": str(remembered.memory.memory_id),
                "outcome": int(remembered.outcome),
                "related": [str(memory_id) for memory_id in remembered.related],
            }
            await keep_result(connection, scope.tenant_id, request, result, now)
            names = [_name(scope, remembered.memory.memory_id)]
            await record_audit(
                connection, scope.tenant_id, scope, "memory.remember", names, now, remembered.outcome.name
            )
            await bump_epoch(
                connection,
                scope.tenant_id,
                scope.namespace_id,
                breaking=stated.changed,
                addition=_addition(scope, new if known_id is None else None, facts),
            )
            if known_id is None:
                generation = self._units.generation
                await refuse_if_doubted(connection, scope.tenant_id, scope.namespace_id, generation, watch, now)
            if added.size_bytes > 0:
                await self._quotas.refuse_excess(connection, scope.tenant_id)
        self._observer.remembered(remembered.outcome)
        self._observer.superseded(stated.superseded_count)
        return remembered

    async def update(
        self,
        scope: Scope,
        before: Memory,
        after: Memory,
        *,
        projection: NewMemory | None,
        request: RequestKey | None,
        now: datetime,
        facts: tuple[StatedFact, ...] = (),
    ) -> Memory:
        """Replace a memory; see `MemoryStore.update`."""
        tenant_id, namespace_id, memory_id = scope.tenant_id, scope.namespace_id, before.memory_id
        async with self._database.transaction(tenant_id) as connection:
            earlier = await earlier_result(connection, tenant_id, request)
            if earlier is not None:
                return await _live(connection, scope, UUID(str(earlier["memory_id"])))
            await refuse_deleted(connection, scope)
            sessions = await lock_sessions_of(connection, tenant_id, namespace_id, [memory_id])
            await _lock_version(connection, scope, before)
            await replace_memory(connection, tenant_id, namespace_id, after)
            grown_bytes = 0
            if projection is not None:
                # Its turns' units speak the old text; it is found by the new one as a whole from now on.
                await detach(connection, tenant_id, namespace_id, sessions, [memory_id])
                await self._units.delete(connection, tenant_id, namespace_id, [memory_id])
                await self._units.insert(connection, tenant_id, namespace_id, [projection.unit], now)
                await self._facts.release(connection, tenant_id, namespace_id, memory_id, now)
                stated = await self._restate(connection, scope, before, after, facts, now)
                delta = _added(projection, memories=0, replaced=before) + stated.added
                grown_bytes = delta.size_bytes
                bags = (projection.bag, *stated.bags)
                await self._units.count(connection, tenant_id, namespace_id, delta, count_units(bags))
                await replace_memory_original(connection, tenant_id, namespace_id, memory_id, projection.original)
                await enqueue_merge(connection, tenant_id, namespace_id, None)
            elif after.occurred_at != before.occurred_at:
                await self._units.set_time(connection, tenant_id, namespace_id, memory_id, after.occurred_at)
            await keep_result(connection, tenant_id, request, {"memory_id": str(memory_id)}, now)
            await record_audit(connection, tenant_id, scope, "memory.update", [_name(scope, memory_id)], now)
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
            updated = await _live(connection, scope, memory_id)
            if grown_bytes > 0:
                await self._quotas.refuse_excess(connection, tenant_id)
            return updated

    async def _state(
        self, connection: Connection, scope: Scope, source_id: UUID, facts: Sequence[StatedFact], now: datetime
    ) -> FactsWritten:
        """Write what was stated, by the memory that says it: the new one, or the one that said so before."""
        stated = [
            replace(
                fact,
                value=replace(fact.value, source_id=source_id),
                # Where the same words are known already, a fact that is new is made beside them.
                adopts=fact.adopts and fact.memory.memory_id == source_id,
            )
            for fact in facts
        ]
        return await self._facts.write(connection, scope.tenant_id, scope.namespace_id, stated, now)

    async def _restate(
        self,
        connection: Connection,
        scope: Scope,
        before: Memory,
        after: Memory,
        facts: Sequence[StatedFact],
        now: datetime,
    ) -> FactsWritten:
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        restated = next((fact for fact in facts if fact.adopts), None)
        if before.fact is None or (restated is None and after.fact is not None):
            return await self._facts.write(connection, tenant_id, namespace_id, facts, now)
        return await self._facts.restate(connection, tenant_id, namespace_id, before, restated, now)

    async def _store(
        self, connection: Connection, scope: Scope, new: NewMemory, now: datetime, merge_units_at: datetime | None
    ) -> None:
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        await insert_memories(connection, tenant_id, namespace_id, self._units.generation, [new.memory])
        await self._units.insert(connection, tenant_id, namespace_id, [new.unit], now)
        if new.original is not None:
            await replace_memory_original(connection, tenant_id, namespace_id, new.memory.memory_id, new.original)
        if merge_units_at is not None:
            await enqueue_merge(connection, tenant_id, namespace_id, merge_units_at)

    async def _answer_again(self, connection: Connection, scope: Scope, earlier: Mapping[str, Any]) -> Remembered:
        memory = await _live(connection, scope, UUID(earlier["memory_id"]))
        outcome = RememberOutcome(earlier["outcome"])
        related = tuple(UUID(memory_id) for memory_id in earlier.get("related", ()))
        return Remembered(memory, outcome, related)


def _added(new: NewMemory, *, memories: int, replaced: Memory | None) -> NamespaceDelta:
    return NamespaceDelta(
        units=1,
        keyword_total=new.bag.length,
        chinese_units=int(bool(new.unit.flags & UnitFlag.CHINESE)),
        english_units=int(bool(new.unit.flags & UnitFlag.ENGLISH)),
        memories=memories,
        size_bytes=len(new.memory.content.encode()) - (len(replaced.content.encode()) if replaced else 0),
    )


def _addition(scope: Scope, new: NewMemory | None, facts: Sequence[StatedFact]) -> Addition:
    made = [fact for fact in facts if new is None or fact.memory.memory_id != new.memory.memory_id]
    memories = [*([new.memory] if new else []), *(fact.memory for fact in made)]
    units = [*([new.unit] if new else []), *(fact.unit for fact in made if fact.unit)]
    return addition_of(scope.namespace_id, memories[0].session_id if memories else "", units, memories)


async def _live(connection: Connection, scope: Scope, memory_id: UUID) -> Memory:
    memory = (await read_memories(connection, scope.tenant_id, scope.namespace_id, [memory_id])).get(memory_id)
    if memory is None or memory.state is MemoryState.TOMBSTONED:
        raise _not_found(scope, memory_id)
    return memory


async def _known(
    connection: Connection, scope: Scope, new: Memory, says_same: UUID | None, now: datetime
) -> tuple[UUID | None, RememberOutcome]:
    known_id = await _same_text(connection, scope, new, now)
    if known_id is not None:
        return known_id, RememberOutcome.REDUNDANT
    if says_same is not None:
        place = {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id, "memory_ids": [says_same]}
        row = await (await connection.execute(MEMORY_SQL["lock"], place)).fetchone()
        if row is not None and row[2] == MemoryState.ACTIVE:
            return says_same, RememberOutcome.MERGED
    return None, RememberOutcome.CREATED


async def _same_text(connection: Connection, scope: Scope, new: Memory, now: datetime) -> UUID | None:
    digest = content_hash(new.content)
    place = {
        "tenant_id": scope.tenant_id,
        "namespace_id": scope.namespace_id,
        "content_hash": digest,
        "session_id": new.session_id,
        "labels": Jsonb(dict(new.labels)),
        "given_day": new.given_day,
        "now": now,
        "key": f"{scope.tenant_id}/{scope.namespace_id}/{digest.hex()}",
    }
    await connection.execute(_SQL["lock_text"], place)
    cursor = await connection.execute(_SQL["find_same"], place)
    row = await cursor.fetchone()
    return row[0] if row else None


async def _lock_version(connection: Connection, scope: Scope, before: Memory) -> None:
    cursor = await connection.execute(
        MEMORY_SQL["lock"],
        {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id, "memory_ids": [before.memory_id]},
    )
    row = await cursor.fetchone()
    if row is None or row[2] == MemoryState.TOMBSTONED:
        raise _not_found(scope, before.memory_id)
    if row[1] != before.version:
        raise Conflict(
            "the memory was changed meanwhile; repeat the request",
            resource_name=str(MemoryName(scope.namespace, before.memory_id)),
        )


def _not_found(scope: Scope, memory_id: UUID) -> NotFound:
    return NotFound("there is no such memory", resource_name=_name(scope, memory_id))


def _name(scope: Scope, memory_id: UUID) -> str:
    return str(MemoryName(scope.namespace, memory_id))
