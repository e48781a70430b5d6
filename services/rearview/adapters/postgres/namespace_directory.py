"""Which namespaces a principal reaches, and how: asked once a request, in one round trip."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.principal import Access, NamespaceAccess, Role
from rearview.ports.tenancy_store import Reach, Reader

_SQL = load_queries("namespaces")
_TIMEOUT_SECONDS = 5.0


class PostgresNamespaceDirectory:
    """Implements `NamespaceDirectory`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reach(self, reader: Reader, names: Collection[str], *, subscribed: bool = False) -> Mapping[str, Reach]:
        parameters = {**reader_parameters(reader), "names": list(names), "subscribed": subscribed}
        return _reached(
            await self._database.rows(reader.tenant_id, _SQL["reach"], parameters, timeout_seconds=_TIMEOUT_SECONDS)
        )

    async def reach_receipt(self, reader: Reader, receipt_id: UUID) -> Mapping[str, Reach] | None:
        return await self._reach_all_of(reader, "count_of_receipt", receipt_id=receipt_id)

    async def reach_trace(self, reader: Reader, trace_id: UUID) -> Mapping[str, Reach] | None:
        return await self._reach_all_of(reader, "count_of_trace", trace_id=trace_id)

    async def _reach_all_of(self, reader: Reader, count: str, **resource: UUID) -> Mapping[str, Reach] | None:
        parameters = {**reader_parameters(reader), **resource}
        async with self._database.transaction(reader.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            counted = await connection.execute(_SQL[count], parameters)
            reached = await connection.execute(_SQL["reach"], parameters)
            total = await counted.fetchone()
            found = _reached(await reached.fetchall())
        if total is None:
            return None
        return found if len(found) == total[0] else {}


def reader_parameters(reader: Reader) -> dict[str, Any]:
    """Return the parameters that say who asks; the rest of those of `reach` stand for "nothing of this kind"."""
    return {
        "tenant_id": reader.tenant_id,
        "principal": reader.principal,
        "admin": reader.role is Role.ADMIN,
        "only": list(reader.namespaces),
        "granted": list(reader.grants),
        "granted_write": [name for name, access in reader.grants.items() if access is Access.WRITE],
        "names": [],
        "subscribed": False,
        "receipt_id": None,
        "trace_id": None,
    }


def _reached(rows: Sequence[Sequence[Any]]) -> dict[str, Reach]:
    return {
        name: Reach(NamespaceAccess(namespace_id, Access.WRITE if writable else Access.READ), owned)
        for name, namespace_id, owned, writable in rows
    }
