"""The cold part of a purge."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from rearview.lifecycle.cold_moves import ColdMoves
from rearview.lifecycle.patient_lease import patient_lease
from rearview.ports.tiering import TierStore


class ColdEraser:
    """The `ColdErasure` port: erases under the namespace's lease, so that no move carries a forgotten row along."""

    def __init__(self, store: TierStore, moves: ColdMoves, *, lease: timedelta) -> None:
        self._store = store
        self._moves = moves
        self._lease = lease

    async def erase(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], freed: Collection[UUID] = ()
    ) -> int:
        """Rewrite segments without these memories; see `ColdErasure.erase`."""
        if not memory_ids and not freed:
            return 0
        # Always under the lease: a move under way may be carrying one of them into a segment right now.
        lease = await patient_lease(self._store, tenant_id, namespace_id, length=self._lease)
        try:
            erased = await self._moves.erase(lease, memory_ids, freed)
            # An object that was written, and never entered in the catalog, may hold them as well.
            await self._store.renew(lease, length=self._lease)
            await self._moves.sweep_orphans(lease, of_any_age=True)
            return erased
        finally:
            await self._store.release(lease, swept=False)
