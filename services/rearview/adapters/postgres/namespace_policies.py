"""Namespaces' lifecycle policies in PostgreSQL."""

from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.lifecycle_values import lifecycle_parameters, lifecycle_values_of
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import CredentialInvalid, EtagMismatch
from rearview.domain.lifecycle_policy import (
    DEFAULT_LIFECYCLE,
    LifecycleChanges,
    NamespaceLifecycle,
    check_order,
    told,
)
from rearview.domain.principal import Caller

_SQL = load_queries("policies")
_TIMEOUT_SECONDS = 10.0


class PostgresNamespacePolicyStore:
    """The `NamespacePolicyStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant_id: UUID, namespace_id: UUID) -> NamespaceLifecycle:
        """Return what is in force; see `NamespacePolicyStore.get`."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            return await _read(connection, place)

    async def update(
        self, caller: Caller, namespace_id: UUID, namespace: str, changes: LifecycleChanges, now: datetime
    ) -> NamespaceLifecycle:
        """Change a namespace's own values; see `NamespacePolicyStore.update`."""
        tenant_id = caller.tenant_id
        if tenant_id is None:
            raise CredentialInvalid("the credential belongs to no tenant")
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
        values = {
            **lifecycle_parameters(changes.values),
            "mask": sorted(changes.mask),
            "version": changes.version,
            "now": now,
        }
        name = f"namespaces/{namespace}/policy"
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            row = await (await connection.execute(_SQL["update_namespace_lifecycle"], {**place, **values})).fetchone()
            if row is None:
                raise EtagMismatch("the policy has changed since it was read", resource_name=name)
            stored = await _read(connection, place)
            check_order(stored.policy, "policy.cold_after")
            detail = f"version={stored.version}{told(changes.values, changes.mask)}"
            await record_audit(connection, tenant_id, caller, "policy.update", [name], now, detail)
        return stored


async def _read(connection: Connection, place: dict[str, Any]) -> NamespaceLifecycle:
    row = await (await connection.execute(_SQL["namespace_lifecycle"], place)).fetchone()
    if row is None:
        return NamespaceLifecycle()
    version, *values = row
    half = len(values) // 2
    tenant = lifecycle_values_of(values[half:]).over(DEFAULT_LIFECYCLE)
    return NamespaceLifecycle(lifecycle_values_of(values[:half]).over(tenant), version)
