"""Waiting for a namespace's lease for a while."""

import asyncio
from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.ports.tiering import Lease, TierStore

_PAUSE_SECONDS = 0.25


async def patient_lease(
    store: TierStore, tenant_id: UUID, namespace_id: UUID, *, length: timedelta, attempts: int = 20
) -> Lease:
    """Return the lease; it is to be released. Raises: Conflict, when another worker holds it all the time."""
    for _ in range(attempts):
        lease = await store.acquire(tenant_id, namespace_id, length=length)
        if lease is not None:
            return lease
        await asyncio.sleep(_PAUSE_SECONDS)
    raise Conflict("another worker moves this namespace's memories", retry_after_seconds=2.0)
