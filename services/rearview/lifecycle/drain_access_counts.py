"""What recall counted is added to the memories' statistics."""

from uuid import UUID

from rearview.ports.access_counts import AccessCountSource, AccessCountStore


class AccessCountDrain:
    """Carries counts in batches: set apart, added, dropped. Killed anywhere, or doubled, it loses and doubles none."""

    def __init__(self, source: AccessCountSource, store: AccessCountStore, *, batch: int = 500) -> None:
        self._source = source
        self._store = store
        self._batch = batch

    async def drain(self) -> int:
        """Carry all counts that are there; return how many memories' statistics grew.

        Raises:
            Unavailable: Redis or PostgreSQL cannot be reached; what is left comes next time.
        """
        grown = 0
        async for tenant_id in self._source.tenants():
            grown += await self._drain_tenant(tenant_id)
        return grown

    async def _drain_tenant(self, tenant_id: UUID) -> int:
        grown = 0
        while (batch := await self._source.take(tenant_id, limit=self._batch)) is not None:
            grown += await self._store.add(batch)
            await self._source.confirm(batch)
        return grown
