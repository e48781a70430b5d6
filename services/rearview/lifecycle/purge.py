"""The end of a forget: everything is erased, place by place, and the receipt says so."""

from uuid import UUID

from rearview.lifecycle.fault_points import NO_FAULTS, FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.erasure import ColdErasure, ErasureStore, Purge, VolatileErasure

WORKING_MEMORY = "redis.working_memory"
ACCESS_COUNTS = "redis.access_counts"
SEGMENTS = "s3.cold_segment"
ANSWERS = "redis.answers"

_SLICE = 500


class Purger:
    """The job `purge`. Running it again, at the same time or after being killed anywhere, ends the same."""

    def __init__(
        self,
        store: ErasureStore,
        volatile: VolatileErasure,
        clock: Clock,
        cold: ColdErasure | None = None,
        *,
        faults: FaultPoints = NO_FAULTS,
    ) -> None:
        """Take the parts; without `cold` nothing was ever cold."""
        self._store = store
        self._cold = cold
        self._volatile = volatile
        self._clock = clock
        self._faults = faults

    async def purge(self, tenant_id: UUID, receipt_id: UUID) -> bool:
        """Erase what the receipt names; return whether there was anything to do.

        Segments are rewritten before the rows that point to them go. Of the rest the database comes first, so that an
        outage of Redis, where nothing lives longer than a day, does not hold it up. The receipt turns PURGED when all
        places are done.

        Raises:
            Unavailable: a place cannot be reached; what was erased, is. To be repeated.
        """
        purge = await self._store.begin(tenant_id, receipt_id, now=self._clock.now())
        if purge is None:
            return False
        self._faults.reach("purge.begun")
        if self._cold is not None:
            await self._erase_cold(purge, self._cold)
            self._faults.reach("purge.cold_erased")
        await self._store.erase(purge, now=self._clock.now())
        self._faults.reach("purge.rows_erased")
        await self._erase_volatile(purge)
        self._faults.reach("purge.volatile_erased")
        await self._store.finish(purge, now=self._clock.now())
        self._faults.reach("purge.finished")
        return True

    async def _erase_cold(self, purge: Purge, cold: ColdErasure) -> None:
        ids: list[UUID] = []
        for start in range(0, purge.memory_count, _SLICE):
            ids += await self._store.memory_ids(purge, start, _SLICE)
        rewritten = await cold.erase(purge.tenant_id, purge.namespace_id, ids, await self._store.rewritten(purge))
        await self._store.note(purge, {SEGMENTS: rewritten}, now=self._clock.now())

    async def _erase_volatile(self, purge: Purge) -> None:
        counts = {WORKING_MEMORY: await self._volatile.erase_turns(purge.turns), ACCESS_COUNTS: 0}
        for start in range(0, purge.memory_count, _SLICE):
            ids = await self._store.memory_ids(purge, start, _SLICE)
            counts[ACCESS_COUNTS] += await self._volatile.erase_access_counts(purge.tenant_id, purge.namespace_id, ids)
        counts[ANSWERS] = await self._volatile.erase_answers(purge.tenant_id)
        await self._store.note(purge, counts, now=self._clock.now())
