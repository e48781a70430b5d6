"""The end of a deleted tenant: its namespaces are emptied one by one, then all that is left of it."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.lifecycle.erase_namespace import MOST_PASSES, OBJECTS, NamespaceEraser
from rearview.lifecycle.fault_points import NO_FAULTS, FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.namespace_erasure import VolatileNamespaces
from rearview.ports.tenant_erasure import TenantErasure
from rearview.ports.tiering import SegmentStore


class TenantEraser:
    """The job `erase_tenant`; killed anywhere, it begins again and goes on. As with a namespace, the last pass is made
    when `settle` has gone by, and it ends with a pass that finds nothing."""

    def __init__(
        self,
        store: TenantErasure,
        namespaces: NamespaceEraser,
        volatile: VolatileNamespaces,
        segments: SegmentStore,
        clock: Clock,
        *,
        settle: timedelta,
        faults: FaultPoints = NO_FAULTS,
    ) -> None:
        self._store = store
        self._namespaces = namespaces
        self._volatile = volatile
        self._segments = segments
        self._clock = clock
        self._settle = settle
        self._faults = faults

    async def erase(self, tenant_id: UUID) -> bool:
        """Erase a deleted tenant; return whether that has come to its end, now or before.

        Raises:
            Conflict: a move of its memories is under way, or something keeps writing. To be repeated.
            Unavailable: a place cannot be reached; what was erased, is. To be repeated.
        """
        tenant = await self._store.deleted(tenant_id)
        if tenant is None:
            return True
        settled_at = tenant.deleted_at + self._settle
        for _ in range(MOST_PASSES):
            settled = self._clock.now() >= settled_at
            found = await self._pass(tenant_id)
            await self._store.note(tenant_id, found)
            if not settled:
                await self._store.come_back(tenant_id, settled_at)
                return False
            if not found:
                await self._store.end(tenant_id, now=self._clock.now())
                self._faults.reach("tenant.ended")
                return True
        raise Conflict("something keeps writing for a deleted tenant", retry_after_seconds=5.0)

    async def _pass(self, tenant_id: UUID) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for namespace_id in await self._store.namespaces(tenant_id):
            found.update(await self._namespaces.empty(tenant_id, namespace_id))
        self._faults.reach("tenant.namespaces_erased")
        found[OBJECTS] += await self._segments.erase_all(tenant_id)
        self._faults.reach("tenant.objects_erased")
        found.update(await self._volatile.erase_tenant(tenant_id))
        self._faults.reach("tenant.volatile_erased")
        found.update(await self._store.erase(tenant_id))
        self._faults.reach("tenant.rows_erased")
        return +found
