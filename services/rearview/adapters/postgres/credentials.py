"""Keys in PostgreSQL: found before a tenant is known, managed within one afterwards."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.namespace_rows import namespace_parameters
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.domain.errors import NotFound, PreconditionFailed
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller, Role
from rearview.domain.tenancy import ApiKey, Namespace
from rearview.domain.writing import RequestKey
from rearview.ports.credential_store import StoredCredential, StoredTenant

_SQL = load_queries("credentials")
_LOOKUP_TIMEOUT_SECONDS = 5.0
_CHANGE_TIMEOUT_SECONDS = 10.0


class PostgresCredentialStore:
    """Implements `CredentialStore` through functions that need no tenant named before."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key_id: str) -> Sequence[StoredCredential]:
        rows = await self._database.rows(
            None, _SQL["find"], {"key_id": key_id}, timeout_seconds=_LOOKUP_TIMEOUT_SECONDS
        )
        return [
            StoredCredential(
                tenant_id=tenant_id,
                tenant_disabled=disabled,
                requests_per_second=requests_per_second,
                secret_hash=bytes(secret_hash),
                principal=principal,
                role=Role(role),
                namespaces=tuple(namespaces),
                expires_at=expires_at,
                revoked_at=revoked_at,
                key_requests_per_second=key_requests_per_second,
                access_version=access_version,
            )
            for (
                tenant_id,
                disabled,
                requests_per_second,
                secret_hash,
                principal,
                role,
                namespaces,
                expires_at,
                revoked_at,
                key_requests_per_second,
                access_version,
            ) in rows
        ]

    async def find_tenant(self, name: str) -> StoredTenant | None:
        rows = await self._database.rows(
            None, _SQL["find_tenant"], {"name": name}, timeout_seconds=_LOOKUP_TIMEOUT_SECONDS
        )
        return StoredTenant(*rows[0]) if rows else None


class PostgresApiKeyStore:
    """Implements `ApiKeyStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        caller: Caller,
        key: ApiKey,
        secret_hash: bytes,
        private_namespace: Namespace | None,
        request: RequestKey | None,
    ) -> ApiKey | None:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_CHANGE_TIMEOUT_SECONDS) as connection:
            earlier = await earlier_result(connection, tenant_id, request)
            if earlier is not None:
                return await _get(connection, tenant_id, str(earlier["key_id"]))
            await connection.execute(_SQL["insert"], key_parameters(tenant_id, key, secret_hash))
            if private_namespace is not None:
                await connection.execute(
                    _SQL["insert_private_namespace"], namespace_parameters(tenant_id, private_namespace)
                )
            await keep_result(connection, tenant_id, request, {"key_id": key.key_id}, key.created_at)
            detail = f"principal {key.principal}, role {key.role.value}"
            if key.requests_per_second:
                detail += f", {key.requests_per_second} requests/s"
            names = [f"apiKeys/{key.key_id}"]
            await record_audit(connection, tenant_id, caller, "create_api_key", names, key.created_at, detail)
        return None

    async def get(self, caller: Caller, key_id: str) -> ApiKey:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_LOOKUP_TIMEOUT_SECONDS) as connection:
            return await _get(connection, tenant_id, key_id)

    async def list_keys(self, caller: Caller, page: PageRequest) -> Page[ApiKey]:
        tenant_id = tenant_of(caller)
        after_time, after_id = (datetime.fromisoformat(page.after[0]), page.after[1]) if page.after else (None, "")
        async with self._database.transaction(tenant_id, timeout_seconds=_LOOKUP_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(
                _SQL["page"],
                {"tenant_id": tenant_id, "after_time": after_time, "after_id": after_id, "limit": page.size + 1},
            )
            keys = [_key(row) for row in await cursor.fetchall()]
        if len(keys) <= page.size:
            return Page(keys)
        last = keys[page.size - 1]
        return Page(keys[: page.size], (last.created_at.isoformat(), last.key_id))

    async def rotate(
        self, caller: Caller, key_id: str, successor: ApiKey, secret_hash: bytes, old_expires_at: datetime
    ) -> None:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_CHANGE_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(_SQL["lock"], {"tenant_id": tenant_id, "key_id": key_id})
            row = await cursor.fetchone()
            if row is None:
                raise _no_such_key(key_id)
            if row[0] is not None:
                raise PreconditionFailed("the key is revoked", resource_name=f"apiKeys/{key_id}", state="revoked")
            await connection.execute(
                _SQL["expire"], {"tenant_id": tenant_id, "key_id": key_id, "expires_at": old_expires_at}
            )
            await connection.execute(_SQL["insert"], key_parameters(tenant_id, successor, secret_hash))
            names = [f"apiKeys/{key_id}", f"apiKeys/{successor.key_id}"]
            await record_audit(connection, tenant_id, caller, "rotate_api_key", names, successor.created_at)

    async def revoke(self, caller: Caller, key_id: str, now: datetime) -> ApiKey:
        tenant_id = tenant_of(caller)
        async with self._database.transaction(tenant_id, timeout_seconds=_CHANGE_TIMEOUT_SECONDS) as connection:
            cursor = await connection.execute(_SQL["revoke"], {"tenant_id": tenant_id, "key_id": key_id, "now": now})
            if await cursor.fetchone() is not None:
                await record_audit(connection, tenant_id, caller, "revoke_api_key", [f"apiKeys/{key_id}"], now)
            return await _get(connection, tenant_id, key_id)


def tenant_of(caller: Caller) -> UUID:
    """Return the caller's tenant; the operator, who has none, never gets this far."""
    if caller.tenant_id is None:
        raise LookupError("a caller without a tenant reached a tenant's store")
    return caller.tenant_id


def key_parameters(tenant_id: UUID, key: ApiKey, secret_hash: bytes) -> dict[str, Any]:
    """Return the parameters of the statement `insert`."""
    return {
        "tenant_id": tenant_id,
        "key_id": key.key_id,
        "secret_hash": secret_hash,
        "principal": key.principal,
        "role": key.role.value,
        "namespaces": list(key.namespaces),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "requests_per_second": key.requests_per_second,
    }


async def _get(connection: Connection, tenant_id: UUID, key_id: str) -> ApiKey:
    cursor = await connection.execute(_SQL["get"], {"tenant_id": tenant_id, "key_id": key_id})
    row = await cursor.fetchone()
    if row is None:
        raise _no_such_key(key_id)
    return _key(row)


def _key(row: Sequence[Any]) -> ApiKey:
    key_id, principal, role, created_at, namespaces, expires_at, revoked_at, requests_per_second = row
    return ApiKey(
        key_id, principal, Role(role), created_at, tuple(namespaces), expires_at, revoked_at, requests_per_second
    )


def _no_such_key(key_id: str) -> NotFound:
    return NotFound("the key does not exist", resource_name=f"apiKeys/{key_id}")
