"""Deleted tenants in PostgreSQL."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import enqueue_tenant_erasure
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.namespace_erasure import ERASER
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.tenant_erasure import DeletedTenant

_SQL = load_queries("tenant_erasure")


class PostgresTenantErasure:
    """The `TenantErasure` port."""

    def __init__(self, database: Database, *, batch: int = 2_000, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._batch = batch
        self._timeout_seconds = timeout_seconds

    async def deleted(self, tenant_id: UUID) -> DeletedTenant | None:
        """Return a tenant that is to be erased; see `TenantErasure.deleted`."""
        rows = await self._rows(tenant_id, "deleted")
        return DeletedTenant(tenant_id, *rows[0]) if rows else None

    async def namespaces(self, tenant_id: UUID) -> list[UUID]:
        """Return the ids of all its namespaces."""
        return [row[0] for row in await self._rows(tenant_id, "namespaces")]

    async def erase(self, tenant_id: UUID) -> Mapping[str, int]:
        """Erase all rows in bounded transactions; see `TenantErasure.erase`."""
        counts: Counter[str] = Counter()
        while True:
            rows = await self._rows(tenant_id, "erase", limit=self._batch)
            counts.update({f"postgres.{table}": count for table, count in rows})
            if sum(count for _, count in rows) < self._batch:
                return counts

    async def note(self, tenant_id: UUID, counts: Mapping[str, int]) -> None:
        """Add to what was erased; see `TenantErasure.note`."""
        await self._rows(tenant_id, "note", counts=Jsonb(dict(counts)), ended=None)

    async def come_back(self, tenant_id: UUID, at: datetime) -> None:
        """Have it looked at again; see `TenantErasure.come_back`."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await enqueue_tenant_erasure(connection, tenant_id, at)

    async def end(self, tenant_id: UUID, *, now: datetime) -> None:
        """Say that nothing is left; see `TenantErasure.end`."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await connection.execute(_SQL["note"], {"counts": Jsonb({}), "ended": now})
            await record_audit(connection, tenant_id, ERASER, "tenant.erase", [], now, f"tenant_id={tenant_id}")

    async def _rows(self, tenant_id: UUID, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            return await (await connection.execute(_SQL[name], {"tenant_id": tenant_id, **parameters})).fetchall()
