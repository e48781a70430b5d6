"""Tenants' policies."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.lifecycle_policy import LifecycleChanges, NamespaceLifecycle
from rearview.domain.principal import Caller
from rearview.domain.redaction import PolicyChanges, RedactionPolicy, TenantPolicy


class RedactionPolicies(Protocol):
    """What is redacted for a tenant; a change is seen within seconds."""

    async def redaction(self, tenant_id: UUID) -> RedactionPolicy:
        """Return the policy, the default one where none was set. Raises: Unavailable."""
        ...


class PolicyStore(Protocol):
    """Where policies are kept; a change is one transaction with its audit record and the tenant's breaking epochs, and
    with the beginning of a rescan where more is taken out from now on."""

    async def get(self, tenant_id: UUID) -> TenantPolicy:
        """Return the policy, of version 0 where none was set. Raises: Unavailable."""
        ...

    async def update(self, caller: Caller, changes: PolicyChanges, now: datetime) -> TenantPolicy:
        """Change the policy of the caller's tenant and return it. Raises: EtagMismatch; Unavailable."""
        ...


class NamespacePolicyStore(Protocol):
    """Where namespaces' lifecycle policies are kept; a change is one transaction with its audit record."""

    async def get(self, tenant_id: UUID, namespace_id: UUID) -> NamespaceLifecycle:
        """Return what is in force in a namespace. Raises: Unavailable."""
        ...

    async def update(
        self, caller: Caller, namespace_id: UUID, namespace: str, changes: LifecycleChanges, now: datetime
    ) -> NamespaceLifecycle:
        """Change a namespace's own values. Raises: EtagMismatch; InvalidFields; Unavailable."""
        ...
