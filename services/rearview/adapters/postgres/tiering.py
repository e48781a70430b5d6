"""Moving memories between tiers in PostgreSQL; every statement stands in queries/tiering.sql and tier_units.sql."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_merge, enqueue_sweep
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.generations import answering_generation, search_generations
from rearview.adapters.postgres.lifecycle_values import lifecycle_values_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.session_locks import detach, lock_sessions_of
from rearview.adapters.postgres.tier_rows import (
    batch_of,
    pointer_of,
    restored_content,
    restored_units,
    segment_of,
    segment_parameters,
)
from rearview.adapters.postgres.unit_erasure import lower_counts
from rearview.domain.cold import SEGMENT_BYTES, SEGMENT_MEMORIES, ColdPointer, Segment
from rearview.domain.errors import Conflict
from rearview.domain.ids import new_id
from rearview.domain.lifecycle_policy import DEFAULT_LIFECYCLE, NOTHING_SET, LifecyclePolicy
from rearview.domain.memory import Tier
from rearview.domain.search_unit import UnitFlag
from rearview.ports.tiering import ColdBatch, ErasedUnit, KeptRow, Lease, Restored

_SQL = load_queries("tiering")

MOVER = ActingService("lifecycle")
"""In whose name the audit records a move."""


class PostgresTiering:
    """The `TierStore` port."""

    def __init__(
        self,
        database: Database,
        *,
        lease_length: timedelta = timedelta(seconds=60),
        timeout_seconds: float = 60.0,
    ) -> None:
        self._database = database
        self._lease_length = lease_length
        self._timeout_seconds = timeout_seconds

    async def acquire(self, tenant_id: UUID, namespace_id: UUID, *, length: timedelta) -> Lease | None:
        """Take a namespace's lease; see `TierStore.acquire`."""
        holder = new_id()
        async with self._transaction(tenant_id) as connection:
            place = {**_place(tenant_id, namespace_id), "holder": holder, "length": length}
            row = await (await connection.execute(_SQL["acquire"], place)).fetchone()
        return Lease(tenant_id, namespace_id, holder, row[0]) if row else None

    async def renew(self, lease: Lease, *, length: timedelta) -> None:
        """Hold a lease for longer; see `TierStore.renew`."""
        async with self._transaction(lease.tenant_id) as connection:
            await _hold(connection, lease, length)

    async def release(self, lease: Lease, *, swept: bool) -> None:
        """Give a lease back; see `TierStore.release`."""
        async with self._transaction(lease.tenant_id) as connection:
            await connection.execute(_SQL["release"], {**_held(lease), "swept": swept})

    async def policy(self, tenant_id: UUID, namespace_id: UUID) -> LifecyclePolicy:
        """Return the policy in force; see `TierStore.policy`."""
        async with self._transaction(tenant_id) as connection:
            row = await (await connection.execute(_SQL["policy"], _place(tenant_id, namespace_id))).fetchone()
        policy = (lifecycle_values_of(row) if row else NOTHING_SET).over(DEFAULT_LIFECYCLE)
        # A tenant's value may have overtaken a namespace's.
        return replace(policy, cold_after=max(policy.warm_after, policy.cold_after))

    async def namespaces(self, tenant_id: UUID, namespace_id: UUID | None) -> list[UUID]:
        """Return the tenant's namespaces; see `TierStore.namespaces`."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
        return await self._ids(tenant_id, "namespaces", place)

    async def unused(
        self, tenant_id: UUID, namespace_id: UUID, tier: int, *, cutoff: datetime, floor: float, limit: int
    ) -> list[UUID]:
        """Return what was not used since; see `TierStore.unused`."""
        place = {**_place(tenant_id, namespace_id), "tier": tier, "cutoff": cutoff, "floor": floor, "limit": limit}
        return await self._ids(tenant_id, "unused", place)

    async def excess(self, tenant_id: UUID, namespace_id: UUID, *, most: int, floor: float, limit: int) -> list[UUID]:
        """Return what is too much; see `TierStore.excess`."""
        place = _place(tenant_id, namespace_id)
        async with self._transaction(tenant_id) as connection:
            row = await (await connection.execute(_SQL["hot_count"], place)).fetchone()
            over = (row[0] if row else 0) - most
            if over <= 0:
                return []
            cursor = await connection.execute(_SQL["excess"], {**place, "floor": floor, "limit": min(over, limit)})
            return [found[0] for found in await cursor.fetchall()]

    async def used(self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int) -> list[UUID]:
        """Return what belongs into the hot tier again; see `TierStore.used`."""
        place = {**_place(tenant_id, namespace_id), "cutoff": cutoff, "limit": limit}
        return await self._ids(tenant_id, "used", place)

    async def make_warm(
        self, lease: Lease, memory_ids: Collection[UUID], *, cutoff: datetime | None, floor: float, now: datetime
    ) -> int:
        """Move hot memories to the warm tier; see `TierStore.make_warm`."""
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        place = {**_place(tenant_id, namespace_id), "cutoff": cutoff, "floor": floor}
        async with self._leased(lease) as connection:
            sessions = await lock_sessions_of(connection, tenant_id, namespace_id, memory_ids)
            cursor = await connection.execute(_SQL["lock_movable"], {**place, "memory_ids": list(memory_ids)})
            moved = [row[0] for row in await cursor.fetchall()]
            if moved:
                await detach(connection, tenant_id, namespace_id, sessions, moved)
                for ordinal in await search_generations(connection):
                    units = load_queries("tier_units", ordinal)
                    for name in ("warm_from_fresh", "copied", "warm_from_main", "not_copied", "analyze_warm"):
                        await connection.execute(units[name], {**place, "memory_ids": moved})
                await connection.execute(
                    _SQL["set_tier"], {**place, "memory_ids": moved, "tier": int(Tier.WARM), "now": now}
                )
                await _audit(connection, lease, "memory.tier", now, f"hot_to_warm={len(moved)}")
        return len(moved)

    async def segment_parts(self, lease: Lease, memory_ids: Collection[UUID]) -> list[list[UUID]]:
        """Return what makes one segment each; see `TierStore.segment_parts`."""
        place = {**_place(lease.tenant_id, lease.namespace_id), "memory_ids": list(memory_ids)}
        async with self._leased(lease) as connection:
            rows = await (await connection.execute(_SQL["segment_order"], place)).fetchall()
        parts: list[list[UUID]] = []
        size_bytes = 0
        for memory_id, length in rows:
            size_bytes += length
            if not parts or len(parts[-1]) >= SEGMENT_MEMORIES or size_bytes > SEGMENT_BYTES:
                parts.append([])
                size_bytes = length
            parts[-1].append(memory_id)
        return parts

    async def cold_batches(self, lease: Lease, memory_ids: Collection[UUID]) -> list[ColdBatch]:
        """Read warm memories with their units; see `TierStore.cold_batches`."""
        place = {**_place(lease.tenant_id, lease.namespace_id), "memory_ids": list(memory_ids)}
        batches = []
        async with self._leased(lease) as connection:
            ordinal = await answering_generation(connection, lease.tenant_id)
            # One statement each under READ COMMITTED: a change between the two shows in the version at the commit.
            cursor = connection.cursor(binary=True)
            await cursor.execute(_SQL["cold_batch"], {**place, "generation": ordinal})
            rows = await cursor.fetchall()
            if rows and ordinal is not None:
                ids = [row[0] for row in rows]
                units = connection.cursor(binary=True)
                await units.execute(load_queries("tier_units", ordinal)["read_warm"], {**place, "memory_ids": ids})
                batches.append(batch_of(ordinal, rows, await units.fetchall()))
        return batches

    async def make_cold(self, lease: Lease, segment: Segment, batch: ColdBatch, *, now: datetime) -> int:
        """Point memories to their segment; see `TierStore.make_cold`."""
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        ids = [memory.memory_id for memory in batch.memories]
        place = {**_place(tenant_id, namespace_id), "segment_id": segment.segment_id, "now": now}
        async with self._leased(lease) as connection:
            await connection.execute(_SQL["lock_warm"], {**place, "memory_ids": ids})
            cursor = await connection.execute(
                _SQL["point_to_segment"],
                {**place, "memory_ids": ids, "versions": list(batch.versions), "rows": list(range(len(ids)))},
            )
            moved = {row[0] for row in await cursor.fetchall()}
            if not moved:
                return 0
            await connection.execute(_SQL["insert_segment"], {**place, **segment_parameters(segment)})
            stayed = [(row, memory_id) for row, memory_id in enumerate(ids) if memory_id not in moved]
            await _bury(connection, place, stayed)
            for ordinal in await search_generations(connection):
                delete = load_queries("tier_units", ordinal)["delete_warm"]
                await connection.execute(delete, {**place, "memory_ids": sorted(moved)})
            await _audit(
                connection, lease, "memory.tier", now, f"warm_to_cold={len(moved)} segment={segment.segment_id}"
            )
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
        return len(moved)

    async def make_hot(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], *, now: datetime
    ) -> int:
        """Move warm memories back; see `TierStore.make_hot`."""
        place = _place(tenant_id, namespace_id)
        async with self._transaction(tenant_id) as connection:
            cursor = await connection.execute(_SQL["lock_warm"], {**place, "memory_ids": list(memory_ids)})
            moved = [row[0] for row in await cursor.fetchall()]
            if moved:
                for ordinal in await search_generations(connection):
                    statement = load_queries("tier_units", ordinal)["fresh_from_warm"]
                    await connection.execute(statement, {**place, "memory_ids": moved})
                await connection.execute(
                    _SQL["set_tier"], {**place, "memory_ids": moved, "tier": int(Tier.HOT), "now": now}
                )
                await enqueue_merge(connection, tenant_id, namespace_id, None)
        return len(moved)

    async def pointers(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[ColdPointer]:
        """Return where cold memories are; see `TierStore.pointers`."""
        place = {**_place(tenant_id, namespace_id), "memory_ids": list(memory_ids)}
        rows = await self._database.rows(tenant_id, _SQL["pointers"], place, timeout_seconds=self._timeout_seconds)
        return [pointer_of(row) for row in rows]

    async def restore(
        self, tenant_id: UUID, namespace_id: UUID, restored: Sequence[Restored], *, generation: int, now: datetime
    ) -> int:
        """Bring cold memories back; see `TierStore.restore`."""
        place = _place(tenant_id, namespace_id)
        ids = [one.pointer.memory_id for one in restored]
        async with self._transaction(tenant_id) as connection:
            rows = await (await connection.execute(_SQL["lock_cold"], {**place, "memory_ids": ids})).fetchall()
            at = {row[0]: (row[1], row[2]) for row in rows}
            chosen = [
                one for one in restored if at.get(one.pointer.memory_id) == (one.pointer.segment_id, one.pointer.row)
            ]
            if not chosen:
                return 0
            found = [one.pointer.memory_id for one in chosen]
            states = await connection.execute(_SQL["unit_states"], {**place, "memory_ids": found})
            state_of = dict(await states.fetchall())
            contents = as_records(restored_content(one) for one in chosen)
            await connection.execute(_SQL["restore_content"], {**place, "memories": contents, "now": now})
            units = as_records(unit for one in chosen for unit in restored_units(one, state_of, now))
            insert = load_queries("tier_units", generation)["insert_fresh"]
            await connection.execute(insert, {**place, "units": units})
            for segment_id in {one.pointer.segment_id for one in chosen}:
                dead = [
                    (one.pointer.row, one.pointer.memory_id) for one in chosen if one.pointer.segment_id == segment_id
                ]
                await _bury(connection, {**place, "segment_id": segment_id}, dead)
            await enqueue_merge(connection, tenant_id, namespace_id, None)
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
        return len(chosen)

    async def segments(
        self, tenant_id: UUID, namespace_id: UUID, segment_ids: Collection[UUID] | None = None
    ) -> list[Segment]:
        """Return catalog rows; see `TierStore.segments`."""
        wanted = None if segment_ids is None else list(segment_ids)
        async with self._transaction(tenant_id) as connection:
            cursor = await connection.execute(
                _SQL["segments"], {**_place(tenant_id, namespace_id), "segment_ids": wanted}
            )
            return [segment_of(row) for row in await cursor.fetchall()]

    async def segments_of(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[UUID]:
        """Return where anything of these memories stands; see `TierStore.segments_of`."""
        place = {**_place(tenant_id, namespace_id), "memory_ids": list(memory_ids)}
        return await self._ids(tenant_id, "segments_of", place)

    async def replace_segments(
        self,
        lease: Lease,
        old: Sequence[UUID],
        new: tuple[Segment, Sequence[KeptRow]] | None,
        *,
        doomed: Collection[UUID],
        erased: Sequence[ErasedUnit],
        now: datetime,
    ) -> None:
        """Put a segment in the place of others; see `TierStore.replace_segments`."""
        place = {**_place(lease.tenant_id, lease.namespace_id), "now": now}
        async with self._leased(lease) as connection:
            cursor = await connection.execute(_SQL["lock_pointers"], {**place, "segment_ids": list(old)})
            at = {row[0]: (row[1], row[2]) for row in await cursor.fetchall()}
            going = [memory_id for memory_id in at if memory_id in frozenset(doomed)]
            kept = [] if new is None else list(enumerate(new[1]))
            alive = [(row, one.memory_id) for row, one in kept if at.get(one.memory_id) == one.old]
            if len(alive) + len(going) != len(at):
                raise Conflict(
                    "a memory points to a row that would be lost; the segments stay", retry_after_seconds=1.0
                )
            if new is not None:
                await connection.execute(_SQL["insert_segment"], {**place, **segment_parameters(new[0])})
                where = {**place, "segment_id": new[0].segment_id}
                await connection.execute(
                    _SQL["repoint"], {**where, "memory_ids": [i for _, i in alive], "rows": [r for r, _ in alive]}
                )
                await _bury(
                    connection, where, [(r, one.memory_id) for r, one in kept if at.get(one.memory_id) != one.old]
                )
            if going:
                await connection.execute(_SQL["drop_pointers"], {**place, "memory_ids": going})
                lost = [
                    (list(unit.terms), not unit.flags & UnitFlag.UNCOUNTED, unit.flags)
                    for unit in erased
                    if unit.memory_id in frozenset(going)
                ]
                await lower_counts(connection, lease.tenant_id, lease.namespace_id, lost)
            await connection.execute(_SQL["drop_segments"], {**place, "segment_ids": list(old)})
            await _audit(
                connection, lease, "segment.rewrite", now, f"old={len(old)} erased={len(going)} kept={len(alive)}"
            )

    async def garbage(self, tenant_id: UUID, namespace_id: UUID) -> list[str]:
        """Return what is to be deleted; see `TierStore.garbage`."""
        async with self._transaction(tenant_id) as connection:
            cursor = await connection.execute(_SQL["garbage"], _place(tenant_id, namespace_id))
            return [row[0] for row in await cursor.fetchall()]

    async def drop_garbage(self, tenant_id: UUID, namespace_id: UUID, key: str) -> None:
        """Say that an object is deleted; see `TierStore.drop_garbage`."""
        async with self._transaction(tenant_id) as connection:
            await connection.execute(_SQL["drop_garbage"], {**_place(tenant_id, namespace_id), "object_key": key})

    async def object_keys(self, lease: Lease) -> frozenset[str]:
        """Return the keys of a namespace's segments; see `TierStore.object_keys`."""
        async with self._leased(lease) as connection:
            cursor = await connection.execute(_SQL["object_keys"], _place(lease.tenant_id, lease.namespace_id))
            return frozenset(row[0] for row in await cursor.fetchall())

    async def enqueue_sweeps(self, *, age: timedelta, limit: int) -> int:
        """Enqueue sweeps of namespaces that were not swept for so long; return how many."""
        async with self._transaction(None) as connection:
            cursor = await connection.execute(_SQL["unswept"], {"age": age, "limit": limit})
            found = await cursor.fetchall()
        for tenant_id, namespace_id in found:
            async with self._transaction(tenant_id) as connection:
                await enqueue_sweep(connection, tenant_id, namespace_id)
        return len(found)

    async def gone_segments(self, segment_ids: list[UUID]) -> list[UUID]:
        """Return which of these segments no catalog holds any more."""
        async with self._transaction(None) as connection:
            cursor = await connection.execute(_SQL["gone_segments"], {"segment_ids": segment_ids})
            return [row[0] for row in await cursor.fetchall()]

    async def _ids(self, tenant_id: UUID, name: str, parameters: dict[str, Any]) -> list[UUID]:
        async with self._transaction(tenant_id) as connection:
            return [row[0] for row in await (await connection.execute(_SQL[name], parameters)).fetchall()]

    @asynccontextmanager
    async def _leased(self, lease: Lease) -> AsyncIterator[Connection]:
        async with self._transaction(lease.tenant_id) as connection:
            await _hold(connection, lease, self._lease_length)
            yield connection

    @asynccontextmanager
    async def _transaction(self, tenant_id: UUID | None) -> AsyncIterator[Connection]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            yield connection


async def _hold(connection: Connection, lease: Lease, length: timedelta) -> None:
    row = await (await connection.execute(_SQL["hold"], {**_held(lease), "length": length})).fetchone()
    if row is None:
        raise Conflict("another worker moves this namespace's memories now", retry_after_seconds=1.0)


async def _bury(connection: Connection, place: dict[str, Any], rows: Sequence[tuple[int, UUID]]) -> None:
    if rows:
        dead = {"rows": [row for row, _ in rows], "memory_ids": [memory_id for _, memory_id in rows]}
        await connection.execute(_SQL["insert_dead"], {**place, **dead})


async def _audit(connection: Connection, lease: Lease, action: str, now: datetime, detail: str) -> None:
    names = [f"namespaces/{lease.namespace_id}"]
    await record_audit(connection, lease.tenant_id, MOVER, action, names, now, detail)


def _place(tenant_id: UUID, namespace_id: UUID) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "namespace_id": namespace_id}


def _held(lease: Lease) -> dict[str, Any]:
    return {**_place(lease.tenant_id, lease.namespace_id), "holder": lease.holder, "token": lease.token}
