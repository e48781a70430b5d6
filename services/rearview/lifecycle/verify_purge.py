"""The proof of a purge: every place is looked at for what was erased, and the receipt says that nothing was found."""

from collections import Counter
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.lifecycle.fault_points import NO_FAULTS, FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.erasure import ErasureCheck, ObjectErasureCheck, VolatileErasure

_SLICE = 500


class PurgeVerifier:
    """The end of the job `purge`. Running it again changes nothing."""

    def __init__(
        self,
        check: ErasureCheck,
        volatile: VolatileErasure,
        objects: ObjectErasureCheck,
        clock: Clock,
        *,
        faults: FaultPoints = NO_FAULTS,
    ) -> None:
        self._check = check
        self._volatile = volatile
        self._objects = objects
        self._clock = clock
        self._faults = faults

    async def verify(self, tenant_id: UUID, receipt_id: UUID) -> bool:
        """Look for what a receipt's purge erased; return whether there was anything to look for.

        Raises:
            Conflict: something is left, or the turns around forgotten ones are still to be made anew. The receipt
                stays PURGED, and the job is tried again.
            Unavailable: a place cannot be reached.
        """
        purged = await self._check.purged(tenant_id, receipt_id)
        if purged is None:
            return False
        left: Counter[str] = Counter()
        every: list[UUID] = []
        for start in range(0, max(purged.id_count, 1), _SLICE):
            ids = await self._check.ids(purged, start, _SLICE)
            left |= Counter(await self._check.found(purged, ids))
            left |= Counter(await self._volatile.left(tenant_id, purged.namespace_id, ids))
            every += ids
        # All ids at once: an object is read whether it is looked through for one or for thousands.
        left |= Counter(await self._objects.left(tenant_id, purged.namespace_id, every))
        if left:
            places = ", ".join(f"{place}={count}" for place, count in sorted(left.items()))
            raise Conflict(f"after the purge there is something left: {places}", retry_after_seconds=1.0)
        self._faults.reach("purge.searched")
        await self._check.verified(purged, now=self._clock.now())
        self._faults.reach("purge.verified")
        return True
