"""Deleted namespaces in PostgreSQL: nothing is written into them any more, and what they held is erased."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.consequences import enqueue_operation
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import NamespaceDenied
from rearview.domain.principal import Access, Scope

_SQL = load_queries("namespace_erasure")

ERASER = ActingService("lifecycle")
"""In whose name the audit records an erasure."""


class PostgresNamespaceErasure:
    """The `NamespaceErasure` port."""

    def __init__(self, database: Database, *, batch: int = 2_000, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._batch = batch
        self._timeout_seconds = timeout_seconds

    async def erase(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Erase all rows in bounded transactions; see `NamespaceErasure.erase`."""
        place = {"namespace_id": namespace_id, "limit": self._batch}
        counts: Counter[str] = Counter()
        while True:
            async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
                rows = await (await connection.execute(_SQL["erase"], place)).fetchall()
            counts.update({f"postgres.{table}": count for table, count in rows})
            if sum(count for _, count in rows) < self._batch:
                return counts

    async def come_back(self, tenant_id: UUID, operation_id: UUID, at: datetime) -> None:
        """Have the operation looked at again; see `NamespaceErasure.come_back`."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await enqueue_operation(connection, tenant_id, operation_id, at)

    async def record(
        self, tenant_id: UUID, operation_id: UUID, namespace_id: UUID, counts: Mapping[str, int], *, now: datetime
    ) -> None:
        """Leave an audit record; see `NamespaceErasure.record`."""
        told = " ".join(f"{place}={count}" for place, count in sorted(counts.items()))
        names = [f"operations/{operation_id}"]
        detail = f"namespace_id={namespace_id} {told}".strip()
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await record_audit(connection, tenant_id, ERASER, "namespace.erase", names, now, detail)


async def refuse_deleted(connection: Connection, scope: Scope) -> None:
    """Raises: NamespaceDenied, when the namespace was deleted since the caller was let through."""
    place = {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
    row = await (await connection.execute(_SQL["is_deleted"], place)).fetchone()
    if row is not None and row[0]:
        raise deleted_namespace(scope)


def deleted_namespace(scope: Scope) -> NamespaceDenied:
    """Return the error for a namespace that was deleted since the caller was let through: as if there were none."""
    return NamespaceDenied(
        f"namespace {scope.namespace} does not exist or may not be reached for {Access.WRITE.value}",
        namespace=scope.namespace,
        access=Access.WRITE.value,
    )
