"""Operations in PostgreSQL."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import enqueue_operation
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import NotFound
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.principal import Caller
from rearview.domain.rescan import RescanReceipt

_SQL = load_queries("operations")
_TIMEOUT_SECONDS = 10.0


class PostgresOperations:
    """The `Operations` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, caller: Caller, tenant_id: UUID, operation: Operation) -> Operation:
        """Keep a new operation; see `Operations.begin`."""
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            await begin_operation(connection, caller, tenant_id, operation)
        return operation

    async def get(self, tenant_id: UUID, operation_id: UUID) -> Operation:
        """Return an operation; see `Operations.get`."""
        place = {"tenant_id": tenant_id, "operation_id": operation_id}
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            row = await (await connection.execute(_SQL["get"], place)).fetchone()
        if row is None:
            raise NotFound("there is no such operation", resource_name=f"operations/{operation_id}")
        found, kind, started_at, arguments, completed, total, counts, error, ended_at, *rescan = row
        receipt = RescanReceipt(found, *rescan) if rescan[0] is not None else None
        return Operation(
            found, OperationKind(kind), started_at, arguments, completed, total, counts, error, ended_at, receipt
        )

    async def expect(self, tenant_id: UUID, operation_id: UUID, total: int) -> None:
        """Say how much there is to do; see `Operations.expect`."""
        await self._change("expect", tenant_id, operation_id, total=total)

    async def progress(self, tenant_id: UUID, operation_id: UUID, completed: int, counts: Mapping[str, int]) -> None:
        """Add to what is done; see `Operations.progress`."""
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            await add_progress(connection, tenant_id, operation_id, completed, counts)

    async def end(self, tenant_id: UUID, operation_id: UUID, *, error: str, now: datetime) -> None:
        """Say that it has ended; see `Operations.end`."""
        await self._change("end", tenant_id, operation_id, error=error, now=now)

    async def _change(self, name: str, tenant_id: UUID, operation_id: UUID, **parameters: Any) -> None:
        place = {"tenant_id": tenant_id, "operation_id": operation_id, **parameters}
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            await connection.execute(_SQL[name], place)


async def add_progress(
    connection: Connection, tenant_id: UUID, operation_id: UUID, completed: int, counts: Mapping[str, int]
) -> None:
    """Add to what is done, as part of the caller's transaction."""
    place = {
        "tenant_id": tenant_id,
        "operation_id": operation_id,
        "completed": completed,
        "counts": Jsonb(dict(counts)),
    }
    await connection.execute(_SQL["progress"], place)


async def begin_operation(connection: Connection, caller: Caller, tenant_id: UUID, operation: Operation) -> None:
    """Keep a new operation with its audit record and have it carried out, as part of the caller's transaction."""
    await keep_operation(connection, tenant_id, operation)
    names = [f"operations/{operation.operation_id}"]
    action = f"operation.{operation.kind.value}"
    await record_audit(connection, tenant_id, caller, action, names, operation.started_at)


async def keep_operation(connection: Connection, tenant_id: UUID, operation: Operation) -> None:
    """Keep a new operation and have it carried out, as part of the caller's transaction."""
    place = {
        "tenant_id": tenant_id,
        "operation_id": operation.operation_id,
        "kind": operation.kind.value,
        "arguments": Jsonb(dict(operation.arguments)),
        "now": operation.started_at,
    }
    await connection.execute(_SQL["begin"], place)
    await enqueue_operation(connection, tenant_id, operation.operation_id)
