"""The end of a deleted namespace: every place is emptied, and emptied again until nothing is found."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.domain.operation import Operation
from rearview.lifecycle.fault_points import NO_FAULTS, FaultPoints
from rearview.lifecycle.patient_lease import patient_lease
from rearview.ports.clock import Clock
from rearview.ports.namespace_erasure import NamespaceErasure, VolatileNamespaces
from rearview.ports.operations import Operations
from rearview.ports.tiering import SegmentStore, TierStore

OBJECTS = "s3.object_versions"
MOST_PASSES = 20
_PATIENCE = 40


class NamespaceEraser:
    """Carries out operations of the kind `erase_namespace`; killed anywhere, the job begins again and goes on.

    A request that had been let through before the namespace was deleted may still write for a moment. So the last pass
    is made when `settle` has gone by, and the operation ends with a pass that finds nothing.
    """

    def __init__(
        self,
        store: NamespaceErasure,
        volatile: VolatileNamespaces,
        segments: SegmentStore,
        tiers: TierStore,
        operations: Operations,
        clock: Clock,
        *,
        lease: timedelta,
        settle: timedelta,
        faults: FaultPoints = NO_FAULTS,
    ) -> None:
        self._store = store
        self._volatile = volatile
        self._segments = segments
        self._tiers = tiers
        self._operations = operations
        self._clock = clock
        self._lease = lease
        self._settle = settle
        self._faults = faults

    async def carry_out(self, tenant_id: UUID, operation: Operation) -> bool:
        """Erase the operation's namespace; return whether it has come to its end.

        Raises:
            Conflict: a move of the namespace's memories is under way, or something keeps writing. To be repeated.
            Unavailable: a place cannot be reached; what was erased, is. To be repeated.
        """
        namespace_id = UUID(operation.arguments["namespace_id"])
        settled_at = operation.started_at + self._settle
        for _ in range(MOST_PASSES):
            settled = self._clock.now() >= settled_at
            found = await self.empty(tenant_id, namespace_id)
            done = sum(found.values())
            await self._operations.progress(tenant_id, operation.operation_id, done, found)
            if not settled:
                await self._store.come_back(tenant_id, operation.operation_id, settled_at)
                return False
            if not done:
                counts = (await self._operations.get(tenant_id, operation.operation_id)).counts
                await self._store.record(tenant_id, operation.operation_id, namespace_id, counts, now=self._clock.now())
                self._faults.reach("erasure.recorded")
                return True
        raise Conflict("something keeps writing into a deleted namespace", retry_after_seconds=5.0)

    async def empty(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Go once through every place of a deleted namespace; return how much was erased, by place. Raises as
        `carry_out`."""
        # Objects before the rows that say where they are, and under the lease: no move may be writing one.
        lease = await patient_lease(self._tiers, tenant_id, namespace_id, length=self._lease, attempts=_PATIENCE)
        found: Counter[str] = Counter()
        try:
            self._faults.reach("erasure.leased")
            found[OBJECTS] = await self._segments.erase_all(tenant_id, namespace_id)
            self._faults.reach("erasure.objects_erased")
            found.update(await self._volatile.erase_namespace(tenant_id, namespace_id))
            self._faults.reach("erasure.volatile_erased")
            found.update(await self._store.erase(tenant_id, namespace_id))
            self._faults.reach("erasure.rows_erased")
        finally:
            await self._tiers.release(lease, swept=False)
        found["postgres.lifecycle_lease"] = 0  # that was our own
        return +found
