"""Sweeps, rehydrations, erasures, re-embeddings and rescans that an administrator asked for, carried out by a job."""

import asyncio
from collections.abc import Collection, Mapping
from uuid import UUID

from rearview.domain.errors import Conflict, DeadlineExceeded, Overloaded, RearviewError, Unavailable
from rearview.domain.ids import new_id
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.principal import Caller
from rearview.lifecycle.erase_namespace import NamespaceEraser
from rearview.lifecycle.reembed import Reembedder
from rearview.lifecycle.rescan import Rescanner
from rearview.lifecycle.sweep import MOVES, TO_HOT, Sweeper
from rearview.ports.clock import Clock
from rearview.ports.operations import Operations
from rearview.ports.tiering import Rehydrator, TierStore

_MOST_ATTEMPTS = 30
_STEP = 500
_PASSING = (Conflict, DeadlineExceeded, Overloaded, Unavailable)
"""What another attempt may not meet."""
_TRIED_AGAIN = (OperationKind.REEMBED, OperationKind.RESCAN)


class OperationWork:
    """Begins operations, and carries them out; killed anywhere, the job begins again and goes on."""

    def __init__(
        self,
        operations: Operations,
        store: TierStore,
        sweeper: Sweeper,
        rehydrator: Rehydrator,
        eraser: NamespaceEraser,
        reembedder: Reembedder,
        rescanner: Rescanner,
        clock: Clock,
    ) -> None:
        self._operations = operations
        self._store = store
        self._sweeper = sweeper
        self._rehydrator = rehydrator
        self._eraser = eraser
        self._reembedder = reembedder
        self._rescanner = rescanner
        self._clock = clock

    async def begin_sweep(
        self, caller: Caller, tenant_id: UUID, namespace_id: UUID | None, *, dry_run: bool
    ) -> Operation:
        """Begin a sweep of a namespace, or of all. Raises: Unavailable."""
        arguments = {"namespace_id": str(namespace_id) if namespace_id else "", "dry_run": dry_run}
        return await self._begin(caller, tenant_id, OperationKind.SWEEP, arguments)

    async def begin_rehydration(
        self, caller: Caller, tenant_id: UUID, memories: Mapping[UUID, Collection[UUID]]
    ) -> Operation:
        """Begin to bring memories (by namespace) back to the hot tier. Raises: Unavailable."""
        arguments = {"memories": {str(key): [str(one) for one in ids] for key, ids in memories.items()}}
        return await self._begin(caller, tenant_id, OperationKind.REHYDRATE, arguments)

    async def begin_reembedding(self, caller: Caller, tenant_id: UUID, model: str) -> Operation:
        """Begin to embed a tenant's memories with another model. Raises what `Reembedder.begin` raises."""
        return await self._reembedder.begin(caller, tenant_id, model)

    async def begin_rescan(self, caller: Caller, tenant_id: UUID, *, dry_run: bool) -> Operation:
        """Begin to rewrite what is stored by the redaction policy. Raises what `Rescanner.begin` raises."""
        return await self._rescanner.begin(caller, tenant_id, dry_run=dry_run)

    async def get(self, tenant_id: UUID, operation_id: UUID) -> Operation:
        """Return an operation as it stands. Raises: NotFound; Unavailable."""
        return await self._operations.get(tenant_id, operation_id)

    async def carry_out(self, tenant_id: UUID, operation_id: UUID) -> None:
        """Carry an operation out to its end; a failure that lasts ends it with its reason, unless it is an erasure, a
        re-embedding or a rescan that cannot go on now, which are tried again. Raises: Unavailable, Conflict,
        ModelError."""
        operation = await self._operations.get(tenant_id, operation_id)
        if operation.ended_at is not None:
            return
        error = ""
        if operation.kind is OperationKind.ERASE_NAMESPACE:
            if await self._eraser.carry_out(tenant_id, operation):
                await self._operations.end(tenant_id, operation_id, error="", now=self._clock.now())
            return
        try:
            if operation.kind is OperationKind.REHYDRATE:
                await self._rehydrate(tenant_id, operation)
            elif operation.kind is OperationKind.REEMBED:
                await self._reembedder.carry_out(tenant_id, operation)
            elif operation.kind is OperationKind.RESCAN:
                if not await self._rescanner.carry_out(tenant_id, operation):
                    return
            else:
                await self._sweep(tenant_id, operation)
        except RearviewError as failure:
            if operation.kind in _TRIED_AGAIN and isinstance(failure, _PASSING):
                raise
            error = f"{failure.reason}: {failure.message}"
        await self._operations.end(tenant_id, operation_id, error=error, now=self._clock.now())

    async def _sweep(self, tenant_id: UUID, operation: Operation) -> None:
        named = operation.arguments["namespace_id"]
        namespaces = await self._store.namespaces(tenant_id, UUID(named) if named else None)
        plans = [await self._sweeper.plan(tenant_id, namespace_id) for namespace_id in namespaces]
        total = sum(sum(plan.values()) for plan in plans)
        await self._operations.expect(tenant_id, operation.operation_id, total)
        if operation.arguments["dry_run"]:
            for plan in plans:
                await self._operations.progress(tenant_id, operation.operation_id, 0, plan)
            return
        for namespace_id in namespaces:
            while await self._one_pass(tenant_id, namespace_id, operation):
                continue

    async def _one_pass(self, tenant_id: UUID, namespace_id: UUID, operation: Operation) -> bool:
        async def note(counts: Mapping[str, int]) -> None:
            moved = sum(counts.get(name, 0) for name in MOVES)
            await self._operations.progress(tenant_id, operation.operation_id, moved, counts)

        for attempt in range(_MOST_ATTEMPTS):
            try:
                return (await self._sweeper.sweep(tenant_id, namespace_id, note)).more
            except (Conflict, Unavailable):
                if attempt == _MOST_ATTEMPTS - 1:
                    raise
                await asyncio.sleep(min(5.0, 0.25 * 2.0**attempt))
        return False

    async def _rehydrate(self, tenant_id: UUID, operation: Operation) -> None:
        named: Mapping[str, list[str]] = operation.arguments["memories"]
        await self._operations.expect(tenant_id, operation.operation_id, sum(map(len, named.values())))
        for namespace_id, ids in named.items():
            for first in range(0, len(ids), _STEP):
                part = [UUID(one) for one in ids[first : first + _STEP]]
                moved = await self._rehydrator.rehydrate(tenant_id, UUID(namespace_id), part)
                await self._operations.progress(tenant_id, operation.operation_id, len(part), {TO_HOT: moved})

    async def _begin(
        self, caller: Caller, tenant_id: UUID, kind: OperationKind, arguments: Mapping[str, object]
    ) -> Operation:
        operation = Operation(new_id(), kind, self._clock.now(), arguments)
        return await self._operations.begin(caller, tenant_id, operation)
