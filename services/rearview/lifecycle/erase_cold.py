"""The cold part of a purge."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.lifecycle.cold_moves import ColdMoves
from rearview.ports.tiering import TierStore

_PATIENCE = 20
_PAUSE_SECONDS = 0.25


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
        for _ in range(_PATIENCE):
            lease = await self._store.acquire(tenant_id, namespace_id, length=self._lease)
            if lease is not None:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            raise Conflict("another worker moves this namespace's memories", retry_after_seconds=2.0)
        try:
            return await self._moves.erase(lease, memory_ids, freed)
        finally:
            await self._store.release(lease, swept=False)
