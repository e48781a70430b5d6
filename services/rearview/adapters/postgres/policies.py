"""Tenants' policies in PostgreSQL, and a short memory of them for whoever needs one at every request."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.lifecycle_values import lifecycle_parameters, lifecycle_values_of
from rearview.adapters.postgres.operations import begin_operation
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import CredentialInvalid, EtagMismatch
from rearview.domain.expiring_map import ExpiringMap
from rearview.domain.ids import new_id
from rearview.domain.lifecycle_policy import DEFAULT_LIFECYCLE, check_order, told
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.principal import Caller
from rearview.domain.redaction import PolicyChanges, RedactionPolicy, TenantPolicy
from rearview.domain.text import PiiCategory
from rearview.ports.policies import PolicyStore

_SQL = load_queries("policies")
_TIMEOUT_SECONDS = 10.0

REMEMBERED_SECONDS = 2.0
"""How long a changed policy may go unnoticed."""
_MAX_REMEMBERED = 10_000


class PostgresPolicyStore:
    """The `PolicyStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant_id: UUID) -> TenantPolicy:
        """Return a tenant's policy; see `PolicyStore.get`."""
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            row = await (await connection.execute(_SQL["get"], {"tenant_id": tenant_id})).fetchone()
        return _policy(row) if row else TenantPolicy()

    async def update(self, caller: Caller, changes: PolicyChanges, now: datetime) -> TenantPolicy:
        """Change the policy of the caller's tenant; see `PolicyStore.update`."""
        tenant_id = caller.tenant_id
        if tenant_id is None:
            raise CredentialInvalid("the credential belongs to no tenant")
        place = {
            "tenant_id": tenant_id,
            "categories": None if changes.categories is None else [category.value for category in changes.categories],
            "vault": changes.vault,
            "version": changes.version,
            "mask": sorted(changes.lifecycle_mask),
            **lifecycle_parameters(changes.lifecycle),
            "now": now,
        }
        async with self._database.transaction(tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            earlier = await (await connection.execute(_SQL["lock"], place)).fetchone()
            row = await (await connection.execute(_SQL["update"], place)).fetchone()
            if row is None:
                raise EtagMismatch("the policy has changed since it was read", resource_name="policy")
            policy = _policy(row)
            check_order(policy.lifecycle.over(DEFAULT_LIFECYCLE), "policy.lifecycle.cold_after")
            detail = (
                f"version={policy.version} vault={policy.redaction.vault} categories={','.join(row[0]) or 'default'}"
            )
            detail += told(changes.lifecycle, changes.lifecycle_mask)
            await record_audit(connection, tenant_id, caller, "policy.update", ["policy"], now, detail)
            await connection.execute(_SQL["bump_epochs"], {"tenant_id": tenant_id})
            if policy.redaction.is_stricter_than(_redaction(*earlier) if earlier else RedactionPolicy()):
                rescan = Operation(new_id(), OperationKind.RESCAN, now, {"dry_run": False})
                await begin_operation(connection, caller, tenant_id, rescan)
                policy = replace(policy, rescan_id=rescan.operation_id)
        return policy


class RememberedPolicies:
    """The `RedactionPolicies` port over a store: asks it once in a while for each tenant."""

    def __init__(
        self,
        store: PolicyStore,
        *,
        seconds: float = REMEMBERED_SECONDS,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._seconds = seconds
        self._now = monotonic_seconds
        self._known: ExpiringMap[RedactionPolicy] = ExpiringMap(_MAX_REMEMBERED, monotonic_seconds)

    async def redaction(self, tenant_id: UUID) -> RedactionPolicy:
        """Return a tenant's policy as it was at most `seconds` ago; see `RedactionPolicies.redaction`."""
        known = self._known.get(tenant_id)
        if known is not None:
            return known
        asked_at = self._now()
        policy = (await self._store.get(tenant_id)).redaction
        self._known.put(tenant_id, policy, asked_at + self._seconds - self._now())
        return policy


def _policy(row: Sequence[Any]) -> TenantPolicy:
    categories, vault, version, *lifecycle = row
    return TenantPolicy(_redaction(categories, vault), version, lifecycle_values_of(lifecycle))


def _redaction(categories: Sequence[str], vault: bool) -> RedactionPolicy:
    return RedactionPolicy(tuple(map(PiiCategory, categories)), vault)
