"""Re-embedding a tenant's memories for another model while the one before answers, and keeping up with what changes.

Each step is one transaction and can be repeated: what has a vector of the target is not asked for again, so a worker
that was killed leaves nothing to be told. Models run while no connection is held.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.cold import ColdMemory
from rearview.domain.errors import Conflict
from rearview.domain.ids import new_id
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.principal import Caller
from rearview.domain.stored_vector import stored_vector
from rearview.lifecycle.cold_moves import ColdMoves
from rearview.lifecycle.fault_points import FaultPoints
from rearview.lifecycle.patient_lease import patient_lease
from rearview.lifecycle.unit_vectors import UnitVectors
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.ports.embedders import Embedders
from rearview.ports.operations import Operations
from rearview.ports.reembedding import MemoryText, ReembeddingStore, TenantGenerations, UnitToEmbed
from rearview.ports.tiering import Lease, TierStore

UNITS, CHANGED, SEGMENTS = "units_embedded", "units_changed", "segments_embedded"
_NIL = UUID(int=0)
_MOST_PASSES = 100
_MOST_CHANGED = 100
"""So many units may wait for their vectors when the target begins to answer: there are always some that are being
written, and they are found by their words meanwhile."""
_MOST_STEPS = 200
_CLEARED_AT_ONCE = 2_000
_MERGED_AT_ONCE = 500
_TENANTS_AT_ONCE = 100
_LEASE_ATTEMPTS = 40


@dataclass(frozen=True, slots=True)
class ReembedRules:
    """How many units are embedded and stored at once, and how long a namespace's lease lasts."""

    step: int = 64
    lease: timedelta = timedelta(minutes=1)


class Reembedder:
    """Begins re-embeddings, carries them out, and embeds what changes while a tenant has two generations."""

    def __init__(
        self,
        store: ReembeddingStore,
        operations: Operations,
        tiers: TierStore,
        moves: ColdMoves,
        embedders: Embedders,
        vectors: UnitVectors,
        clock: Clock,
        *,
        rules: ReembedRules,
        faults: FaultPoints,
    ) -> None:
        self._store = store
        self._operations = operations
        self._tiers = tiers
        self._moves = moves
        self._embedders = embedders
        self._vectors = vectors
        self._clock = clock
        self._rules = rules
        self._faults = faults

    async def begin(self, caller: Caller, tenant_id: UUID, model: str) -> Operation:
        """Begin to embed a tenant's memories with another model.

        Raises:
            InvalidFields: no such model is configured.
            PreconditionFailed: it answers the tenant already, or the writers have yet to load the one that does.
            Conflict: another re-embedding is under way.
            Unavailable: the database does not answer.
        """
        generation = self._embedders.generation(model)
        operation = Operation(new_id(), OperationKind.REEMBED, self._clock.now())
        return await self._store.begin(caller, tenant_id, generation, operation)

    async def carry_out(self, tenant_id: UUID, operation: Operation) -> None:
        """Embed a tenant's memories for the target, and have it answer.

        Raises:
            PreconditionFailed: the target's model is not configured any more.
            Conflict, Unavailable, ModelError: it cannot go on now; another run goes on from here.
        """
        target = int(operation.arguments["ordinal"])
        stands = await self._store.generations(tenant_id)
        if stands.answering != target:
            await self._fill(tenant_id, operation, stands, target)
            await self._serve(tenant_id, target)
            self._faults.reach("reembed.served")
        # What became cold meanwhile, with the vectors of the generation before.
        for namespace_id in await self._tiers.namespaces(tenant_id, None):
            await self._reembed_cold(tenant_id, namespace_id, operation, target)

    async def catch_up(self) -> int:
        """Embed what has changed, of all tenants; return how many units there were. Raises as `carry_out`."""
        total = 0
        for tenant_id in await self._store.tenants_with_changes(limit=_TENANTS_AT_ONCE):
            total += await self._catch_up(tenant_id)
        return total

    async def _fill(self, tenant_id: UUID, operation: Operation, stands: TenantGenerations, target: int) -> None:
        embedder = await self._embedder(target)
        while not stands.cleared:
            cleared = await self._store.clear(tenant_id, target, limit=_CLEARED_AT_ONCE)
            self._faults.reach("reembed.cleared")
            stands = replace(stands, cleared=cleared)
        await self._store.await_writers()
        total = await self._store.unit_count(tenant_id, stands.answering)
        await self._operations.expect(tenant_id, operation.operation_id, total)
        for namespace_id in await self._tiers.namespaces(tenant_id, None):
            for _ in range(_MOST_PASSES):
                if not await self._one_pass(tenant_id, namespace_id, operation, stands.answering, target, embedder):
                    break
            while await self._store.merge(tenant_id, namespace_id, limit=_MERGED_AT_ONCE):
                self._faults.reach("reembed.merged")
            await self._reembed_cold(tenant_id, namespace_id, operation, target)
        self._faults.reach("reembed.filled")

    async def _one_pass(
        self, tenant_id: UUID, namespace_id: UUID, operation: Operation, source: int, target: int, embedder: Embedder
    ) -> int:
        after, done = _NIL, 0
        while True:
            units = await self._store.missing(
                tenant_id, namespace_id, source=source, target=target, after=after, limit=self._rules.step
            )
            if not units:
                return done
            await self._embed(tenant_id, namespace_id, target, units, embedder)
            await self._note(tenant_id, operation, len(units), {UNITS: len(units)})
            after, done = units[-1].unit_id, done + len(units)

    async def _embed(
        self, tenant_id: UUID, namespace_id: UUID, target: int, units: Sequence[UnitToEmbed], embedder: Embedder
    ) -> None:
        texts = await self._store.texts(tenant_id, namespace_id, units)
        self._faults.reach("reembed.read")
        vectors = await self._vectors.of(embedder, units, texts)
        self._faults.reach("reembed.embedded")
        await self._store.store(tenant_id, namespace_id, target, units, vectors)
        self._faults.reach("reembed.stored")

    async def _catch_up(self, tenant_id: UUID) -> int:
        total = 0
        for _ in range(_MOST_STEPS):
            changed = await self._store.changed(tenant_id, limit=self._rules.step)
            if changed is None:
                break
            embedder = await self._embedder(changed.ordinal)
            await self._embed(tenant_id, changed.namespace_id, changed.ordinal, changed.units, embedder)
            total += len(changed.units)
        return total

    async def _serve(self, tenant_id: UUID, target: int) -> None:
        for _ in range(_MOST_PASSES):
            await self._catch_up(tenant_id)
            self._faults.reach("reembed.caught_up")
            if await self._store.serve(tenant_id, target, most_changed=_MOST_CHANGED):
                return
        raise Conflict("memories change faster than they can be embedded", retry_after_seconds=10.0)

    async def _reembed_cold(self, tenant_id: UUID, namespace_id: UUID, operation: Operation, target: int) -> None:
        if all(one.generation == target for one in await self._tiers.segments(tenant_id, namespace_id)):
            return
        embedder = await self._embedder(target)
        lease = await patient_lease(
            self._tiers, tenant_id, namespace_id, length=self._rules.lease, attempts=_LEASE_ATTEMPTS
        )
        try:
            for segment in await self._tiers.segments(tenant_id, namespace_id):
                if segment.generation == target:
                    continue

                async def made(memories: Sequence[ColdMemory]) -> list[ColdMemory]:
                    return await self._made_cold(lease, memories, embedder)

                await self._moves.reembed(lease, segment, target, made)
                await self._note(tenant_id, operation, segment.units, {SEGMENTS: 1, UNITS: segment.units})
            await self._moves.delete_garbage(lease)
        finally:
            await self._tiers.release(lease, swept=False)

    async def _made_cold(self, lease: Lease, memories: Sequence[ColdMemory], embedder: Embedder) -> list[ColdMemory]:
        made = []
        for first in range(0, len(memories), self._rules.step):
            part = memories[first : first + self._rules.step]
            units = [UnitToEmbed(unit.unit_id, memory.memory_id) for memory in part for unit in memory.units]
            texts = await self._store.texts(lease.tenant_id, lease.namespace_id, units)
            contents = {one.memory_id: MemoryText(one.content, one.first) for one in part}
            known = {memory_id: contents[memory_id] for memory_id in texts.memories}
            vectors = iter(await self._vectors.of(embedder, units, replace(texts, memories=known)))
            for memory in part:
                fresh = [(unit, next(vectors)) for unit in memory.units]
                made.append(
                    replace(
                        memory,
                        units=tuple(
                            replace(unit, embedding=_half(vector, embedder.generation.dimension))
                            for unit, vector in fresh
                        ),
                    )
                )
            await self._tiers.renew(lease, length=self._rules.lease)
        return made

    async def _embedder(self, ordinal: int) -> Embedder:
        return await self._embedders.of(await self._store.generation_id(ordinal))

    async def _note(self, tenant_id: UUID, operation: Operation, done: int, counts: Mapping[str, int]) -> None:
        await self._operations.progress(tenant_id, operation.operation_id, done, counts)


def _half(vector: NDArray[np.float32] | None, dimension: int) -> NDArray[np.float16]:
    if vector is None:
        vector = np.eye(1, dimension, dtype=np.float32)[0]
    return stored_vector(vector)
