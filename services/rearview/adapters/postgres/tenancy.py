"""Tenants in PostgreSQL, under the operator's role: it makes them and reaches nothing that they hold."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import psycopg

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.credentials import key_parameters
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.legal_holds import held
from rearview.adapters.postgres.namespace_rows import namespace_parameters
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.request_ids import request_id_reused
from rearview.domain.errors import AlreadyExists, EtagMismatch, NotFound
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller, Role
from rearview.domain.tenancy import FIRST_ADMIN, ApiKey, Namespace, Quotas, Tenant
from rearview.domain.tenancy_changes import TenantChanges
from rearview.domain.writing import RequestKey

_SQL = load_queries("tenancy")
_INSERT_KEY = load_queries("credentials")["insert"]
_TIMEOUT_SECONDS = 10.0
_ONE_TENANT_A_REQUEST = "tenant_by_create_request"


class PostgresTenantStore:
    """Implements `TenantStore`; its database works as rearview_operator."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        caller: Caller,
        tenant: Tenant,
        first_key: ApiKey,
        secret_hash: bytes,
        first_namespace: Namespace,
        request: RequestKey | None,
    ) -> tuple[Tenant, ApiKey] | None:
        earlier = await self._created_before(request)
        if earlier is not None:
            return earlier
        try:
            async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
                await connection.execute(
                    _SQL["insert_tenant"],
                    {
                        **_tenant_parameters(tenant),
                        "request_id": request.request_id if request else None,
                        "fingerprint": request.fingerprint if request else None,
                        "first_key_id": first_key.key_id,
                    },
                )
                await connection.execute(_INSERT_KEY, key_parameters(tenant.tenant_id, first_key, secret_hash))
                await connection.execute(
                    _SQL["insert_first_namespace"], namespace_parameters(tenant.tenant_id, first_namespace)
                )
                await record_audit(
                    connection, tenant.tenant_id, caller, "create_tenant", [_name(tenant)], tenant.created_at
                )
        except psycopg.errors.UniqueViolation as error:
            if error.diag.constraint_name == _ONE_TENANT_A_REQUEST:
                earlier = await self._created_before(request)  # a concurrent repeat was faster
                if earlier is not None:
                    return earlier
            raise AlreadyExists("a tenant of this name exists", resource_name=f"tenants/{tenant.name}") from error
        return None

    async def get(self, name: str) -> Tenant:
        async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(_SQL["get_tenant"], {"name": name})
            row = await cursor.fetchone()
        if row is None:
            raise _no_such_tenant(name)
        return _tenant(row)

    async def list_tenants(self, page: PageRequest) -> Page[Tenant]:
        async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL["page_of_tenants"], {"after": page.after[0] if page.after else "", "limit": page.size + 1}
            )
            tenants = [_tenant(row) for row in await cursor.fetchall()]
        if len(tenants) <= page.size:
            return Page(tenants)
        return Page(tenants[: page.size], (tenants[page.size - 1].name,))

    async def update(self, caller: Caller, name: str, changes: TenantChanges, now: datetime) -> Tenant:
        quotas = changes.quotas
        async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL["update_tenant"],
                {
                    "name": name,
                    "version": changes.version,
                    "display_name": changes.display_name,
                    "disabled": changes.disabled,
                    "requests_per_second": quotas.requests_per_second if quotas else None,
                    "max_memories": quotas.max_memories if quotas else None,
                    "max_bytes": quotas.max_bytes if quotas else None,
                },
            )
            row = await cursor.fetchone()
            if row is None:
                cursor = await connection.execute(_SQL["get_tenant"], {"name": name})
                if await cursor.fetchone() is None:
                    raise _no_such_tenant(name)
                raise EtagMismatch("the tenant has changed since it was read", resource_name=f"tenants/{name}")
            tenant = _tenant(row)
            own = tenant.quotas
            detail = (
                f"disabled {tenant.disabled}, {own.requests_per_second} requests/s, {own.max_memories} memories, "
                f"{own.max_bytes} bytes"
            )
            await record_audit(connection, tenant.tenant_id, caller, "update_tenant", [_name(tenant)], now, detail)
        return tenant

    async def delete(self, caller: Caller, name: str, now: datetime) -> None:
        async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            row = await (await connection.execute(_SQL["delete_tenant"], {"name": name, "now": now})).fetchone()
            if row is None:
                raise _no_such_tenant(name)
            tenant_id, hold_id = row
            if hold_id is not None:
                raise held(f"tenants/{name}", hold_id)
            await record_audit(connection, tenant_id, caller, "delete_tenant", [f"tenants/{name}"], now)

    async def _created_before(self, request: RequestKey | None) -> tuple[Tenant, ApiKey] | None:
        if request is None:
            return None
        async with self._database.transaction(None, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(_SQL["created_by_request"], {"request_id": request.request_id})
            row = await cursor.fetchone()
        if row is None:
            return None
        *of_tenant, fingerprint, first_key_id = row
        if bytes(fingerprint) != request.fingerprint:
            raise request_id_reused(request)
        tenant = _tenant(of_tenant)
        # The operator's role cannot read keys; the first one is known without that, as it was when it was made.
        return tenant, ApiKey(first_key_id, FIRST_ADMIN, Role.ADMIN, tenant.created_at)


def _tenant_parameters(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant_id": tenant.tenant_id,
        "name": tenant.name,
        "display_name": tenant.display_name,
        "disabled": tenant.disabled,
        "requests_per_second": tenant.quotas.requests_per_second,
        "max_memories": tenant.quotas.max_memories,
        "max_bytes": tenant.quotas.max_bytes,
        "created_at": tenant.created_at,
    }


def _tenant(row: Sequence[Any]) -> Tenant:
    tenant_id, name, display_name, created_at, disabled, requests_per_second, max_memories, max_bytes, *more = row
    quotas = Quotas(requests_per_second, max_memories, max_bytes)
    return Tenant(tenant_id, name, display_name, created_at, disabled, quotas, *more)


def _no_such_tenant(name: str) -> NotFound:
    return NotFound("the tenant does not exist", resource_name=f"tenants/{name}")


def _name(tenant: Tenant) -> str:
    return f"tenants/{tenant.name}"
