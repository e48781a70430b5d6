"""Namespaces, grants and subscriptions in PostgreSQL.

What changes who may read a namespace raises its breaking epoch in the same transaction, so no cached answer outlives
a right.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.credentials import tenant_of
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.legal_holds import check_namespace
from rearview.adapters.postgres.namespace_directory import reader_parameters
from rearview.adapters.postgres.namespace_rows import namespace_of, namespace_parameters
from rearview.adapters.postgres.operations import keep_operation
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.domain.errors import AlreadyExists, EtagMismatch, NamespaceNotEmpty, NotFound
from rearview.domain.ids import new_id
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller
from rearview.domain.tenancy import Namespace
from rearview.domain.tenancy_changes import AccessGrant, NamespaceChanges
from rearview.domain.writing import RequestKey
from rearview.ports.tenancy_store import Reader

_SQL = load_queries("namespaces")
_TIMEOUT_SECONDS = 10.0


class PostgresNamespaceStore:
    """Implements `NamespaceStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, caller: Caller, namespace: Namespace, request: RequestKey | None) -> Namespace:
        tenant_id = tenant_of(caller)
        try:
            async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
                earlier = await earlier_result(connection, tenant_id, request)
                if earlier is not None:
                    return await _get(connection, tenant_id, UUID(str(earlier["namespace_id"])), namespace.name)
                await connection.execute(_SQL["insert"], namespace_parameters(tenant_id, namespace))
                result = {"namespace_id": str(namespace.namespace_id)}
                await keep_result(connection, tenant_id, request, result, namespace.created_at)
                await _record(connection, caller, "create_namespace", namespace.name, namespace.created_at)
        except psycopg.errors.UniqueViolation as error:
            raise AlreadyExists(
                "a namespace of this name exists", resource_name=f"namespaces/{namespace.name}"
            ) from error
        return namespace

    async def get(self, caller: Caller, namespace_id: UUID) -> Namespace:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            return await _get(connection, tenant_id, namespace_id)

    async def list_readable(self, reader: Reader, page: PageRequest) -> Page[Namespace]:
        parameters = reader_parameters(reader)
        async with self._database.transaction(reader.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL["page_of_readable"],
                {**parameters, "after": page.after[0] if page.after else "", "limit": page.size + 1},
            )
            namespaces = [namespace_of(row) for row in await cursor.fetchall()]
        if len(namespaces) <= page.size:
            return Page(namespaces)
        return Page(namespaces[: page.size], (namespaces[page.size - 1].name,))

    async def update(
        self, caller: Caller, namespace_id: UUID, name: str, changes: NamespaceChanges, now: datetime
    ) -> Namespace:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            version = await _lock(connection, tenant_id, namespace_id, name)
            if changes.version not in (None, version):
                raise EtagMismatch("the namespace has changed since it was read", resource_name=f"namespaces/{name}")
            await connection.execute(
                _SQL["update"],
                {
                    "tenant_id": tenant_id,
                    "namespace_id": namespace_id,
                    "display_name": changes.display_name,
                    "visibility": None if changes.visibility is None else int(changes.visibility),
                    "forget_grace_period": changes.forget_grace_period,
                    "now": now,
                },
            )
            if changes.visibility is not None:
                await _bump_breaking_epoch(connection, tenant_id, namespace_id)
            await _record(connection, caller, "update_namespace", name, now, _described(changes))
            return await _get(connection, tenant_id, namespace_id)

    async def delete(self, caller: Caller, namespace_id: UUID, name: str, now: datetime, *, force: bool) -> None:
        tenant_id = tenant_of(caller)
        which = {"tenant_id": tenant_id, "namespace_id": namespace_id}
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            await _lock(connection, tenant_id, namespace_id, name)
            await check_namespace(connection, tenant_id, namespace_id, name)
            cursor = await connection.execute(_SQL["holds_anything"], which)
            full = await cursor.fetchone()
            if full is not None and full[0] and not force:
                raise NamespaceNotEmpty("the namespace still holds memories", resource_name=f"namespaces/{name}")
            await connection.execute(_SQL["mark_deleted"], {**which, "now": now})
            await connection.execute(_SQL["delete_grants"], which)
            await connection.execute(_SQL["delete_subscriptions"], which)
            await _bump_breaking_epoch(connection, tenant_id, namespace_id)
            erasure = Operation(new_id(), OperationKind.ERASE_NAMESPACE, now, {"namespace_id": str(namespace_id)})
            await keep_operation(connection, tenant_id, erasure)
            names = [f"namespaces/{name}", f"operations/{erasure.operation_id}"]
            detail = f"namespace_id={namespace_id}"
            await record_audit(connection, tenant_id, caller, "delete_namespace", names, now, detail)

    async def grant(self, caller: Caller, namespace_id: UUID, grant: AccessGrant) -> AccessGrant:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            await _lock(connection, tenant_id, namespace_id, grant.namespace)
            cursor = await connection.execute(
                _SQL["grant"],
                {
                    "tenant_id": tenant_id,
                    "namespace_id": namespace_id,
                    "principal": grant.principal,
                    "access": grant.access.value,
                    "created_at": grant.created_at,
                },
            )
            row = await cursor.fetchone()
            await _bump_breaking_epoch(connection, tenant_id, namespace_id)
            detail = f"principal {grant.principal}, access {grant.access.value}"
            await _record(connection, caller, "grant_access", grant.namespace, grant.created_at, detail)
        created_at = grant.created_at if row is None else row[0]
        return AccessGrant(grant.namespace, grant.principal, grant.access, created_at)

    async def revoke(self, caller: Caller, namespace_id: UUID, name: str, principal: str, now: datetime) -> None:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL["revoke"], {"tenant_id": tenant_id, "namespace_id": namespace_id, "principal": principal}
            )
            if await cursor.fetchone() is not None:
                await _bump_breaking_epoch(connection, tenant_id, namespace_id)
                await _record(connection, caller, "revoke_access", name, now, f"principal {principal}")

    async def subscribe(self, caller: Caller, namespace_id: UUID, name: str, now: datetime) -> None:
        await self._change_subscription("subscribe", caller, namespace_id, name, now)

    async def unsubscribe(self, caller: Caller, namespace_id: UUID, name: str, now: datetime) -> None:
        await self._change_subscription("unsubscribe", caller, namespace_id, name, now)

    async def _change_subscription(
        self, change: str, caller: Caller, namespace_id: UUID, name: str, now: datetime
    ) -> None:
        # No epoch: which namespaces a recall searches is part of what a cached answer is kept under.
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL[change],
                {"tenant_id": tenant_id, "namespace_id": namespace_id, "principal": caller.principal, "now": now},
            )
            if await cursor.fetchone() is not None:
                await _record(connection, caller, change, name, now)


async def _get(connection: Connection, tenant_id: UUID, namespace_id: UUID, name: str = "") -> Namespace:
    cursor = await connection.execute(_SQL["get"], {"tenant_id": tenant_id, "namespace_id": namespace_id})
    row: Sequence[Any] | None = await cursor.fetchone()
    if row is None:
        raise _no_such_namespace(name or str(namespace_id))
    return namespace_of(row)


async def _lock(connection: Connection, tenant_id: UUID, namespace_id: UUID, name: str) -> int:
    cursor = await connection.execute(_SQL["lock"], {"tenant_id": tenant_id, "namespace_id": namespace_id})
    row = await cursor.fetchone()
    if row is None:
        raise _no_such_namespace(name)
    return int(row[0])


async def _bump_breaking_epoch(connection: Connection, tenant_id: UUID, namespace_id: UUID) -> None:
    await connection.execute(_SQL["bump_breaking_epoch"], {"tenant_id": tenant_id, "namespace_id": namespace_id})


async def _record(
    connection: Connection, caller: Caller, action: str, name: str, now: datetime, detail: str = ""
) -> None:
    await record_audit(connection, tenant_of(caller), caller, action, [f"namespaces/{name}"], now, detail)


def _described(changes: NamespaceChanges) -> str:
    told = []
    if changes.visibility is not None:
        told.append(f"visibility {changes.visibility.name.lower()}")
    if changes.forget_grace_period is not None:
        told.append(f"grace period {changes.forget_grace_period.total_seconds():.0f} s")
    if changes.display_name is not None:
        told.append("display name")
    return ", ".join(told)


def _no_such_namespace(name: str) -> NotFound:
    return NotFound("the namespace does not exist", resource_name=f"namespaces/{name}")
