"""Where tenants, keys, namespaces and grants are kept.

Every change is one transaction with its audit record and, where it changes what somebody may read, the breaking
epoch of the namespace. All methods raise Unavailable when the store does not answer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.domain.tenancy import ApiKey, Namespace, Tenant
from rearview.domain.tenancy_changes import AccessGrant, NamespaceChanges, TenantChanges
from rearview.domain.writing import RequestKey


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose access is asked about. `namespaces` empty means wherever the principal has access; `grants` are those
    that its credential brings, beside those that are stored."""

    tenant_id: UUID
    principal: str
    role: Role
    namespaces: tuple[str, ...] = ()
    grants: Mapping[str, Access] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reach:
    """How a principal reaches a namespace; `owned` also for admins, who stand in for every owner."""

    access: NamespaceAccess
    owned: bool


class NamespaceDirectory(Protocol):
    """Turns names into ids, with the access that ownership, grants, visibility and role give. One round trip each."""

    async def reach(self, reader: Reader, names: Collection[str], *, subscribed: bool = False) -> Mapping[str, Reach]:
        """Return those of the named namespaces that the reader may at least read, by name.

        With `subscribed` also those that the principal subscribed to and may still read.
        """
        ...

    async def reach_receipt(self, reader: Reader, receipt_id: UUID) -> Mapping[str, Reach] | None:
        """Return the readable namespace of a forget receipt (or nothing), by name; None if there is no receipt."""
        ...

    async def reach_trace(self, reader: Reader, trace_id: UUID) -> Mapping[str, Reach] | None:
        """Return the namespaces of a recall trace by name, if all of them are readable, else nothing; None if there
        is no such trace (it may still be on its way)."""
        ...


class TenantStore(Protocol):
    """Tenants, under the operator's database role, which sees no memories."""

    async def create(
        self,
        caller: Caller,
        tenant: Tenant,
        first_key: ApiKey,
        secret_hash: bytes,
        first_namespace: Namespace,
        request: RequestKey | None,
    ) -> tuple[Tenant, ApiKey] | None:
        """Store a tenant, its first key and its first namespace.

        Return None when they were stored now; when this request was carried out before, what it stored then.

        Raises:
            AlreadyExists: the name is taken.
            RequestIdReused: the request id stands for another request.
        """
        ...

    async def get(self, name: str) -> Tenant:
        """Raises: NotFound."""
        ...

    async def list_tenants(self, page: PageRequest) -> Page[Tenant]:
        """Return tenants by name; a position is (name,)."""
        ...

    async def update(self, caller: Caller, name: str, changes: TenantChanges, now: datetime) -> Tenant:
        """Raises: NotFound; EtagMismatch."""
        ...

    async def delete(self, caller: Caller, name: str, now: datetime) -> None:
        """Disable a tenant for good and have everything that it holds erased; doing it again changes nothing.

        Raises:
            NotFound: there is no such tenant.
            LegalHold: one stands somewhere in it.
        """
        ...


class ApiKeyStore(Protocol):
    """The keys of the caller's tenant."""

    async def create(
        self,
        caller: Caller,
        key: ApiKey,
        secret_hash: bytes,
        private_namespace: Namespace | None,
        request: RequestKey | None,
    ) -> ApiKey | None:
        """Store a key, and the principal's private namespace unless one of that name exists.

        Return None when it was stored now; when this request was carried out before, the key it stored then.

        Raises:
            RequestIdReused: the request id stands for another request.
        """
        ...

    async def get(self, caller: Caller, key_id: str) -> ApiKey:
        """Raises: NotFound."""
        ...

    async def list_keys(self, caller: Caller, page: PageRequest) -> Page[ApiKey]:
        """Return keys, newest first; a position is (ISO time, key id)."""
        ...

    async def rotate(
        self, caller: Caller, key_id: str, successor: ApiKey, secret_hash: bytes, old_expires_at: datetime
    ) -> None:
        """Store the successor and let the old key end at `old_expires_at`, or earlier if it ends earlier anyway.

        Raises:
            NotFound: no such key.
            PreconditionFailed: it was revoked meanwhile.
        """
        ...

    async def revoke(self, caller: Caller, key_id: str, now: datetime) -> ApiKey:
        """End a key at once; revoking twice changes nothing. Raises: NotFound."""
        ...


class NamespaceStore(Protocol):
    """The namespaces of the caller's tenant. Whether the caller may is decided before."""

    async def create(self, caller: Caller, namespace: Namespace, request: RequestKey | None) -> Namespace:
        """Store it; when this request was carried out before, return what it stored then.

        Raises:
            AlreadyExists: the name is taken.
            RequestIdReused: the request id stands for another request.
        """
        ...

    async def get(self, caller: Caller, namespace_id: UUID) -> Namespace:
        """Raises: NotFound."""
        ...

    async def list_readable(self, reader: Reader, page: PageRequest) -> Page[Namespace]:
        """Return the namespaces that the reader may read, by name; a position is (name,)."""
        ...

    async def update(
        self, caller: Caller, namespace_id: UUID, name: str, changes: NamespaceChanges, now: datetime
    ) -> Namespace:
        """Raises: NotFound; EtagMismatch."""
        ...

    async def delete(self, caller: Caller, namespace_id: UUID, name: str, now: datetime, *, force: bool) -> None:
        """Delete a namespace with its grants and subscriptions, and have everything in it erased by an operation that
        the audit record names.

        Raises:
            NotFound: it is gone already.
            NamespaceNotEmpty: it holds memories or events that were not forgotten, and `force` is not set.
            LegalHold: one stands on it, or on anything in it.
        """
        ...

    async def grant(self, caller: Caller, namespace_id: UUID, grant: AccessGrant) -> AccessGrant:
        """Set what a principal may do; a grant that it had is replaced. Raises: NotFound."""
        ...

    async def revoke(self, caller: Caller, namespace_id: UUID, name: str, principal: str, now: datetime) -> None:
        """Take a grant back; when there is none nothing changes."""
        ...

    async def subscribe(self, caller: Caller, namespace_id: UUID, name: str, now: datetime) -> None:
        """Add it to those that the caller's principal recalls from; twice changes nothing."""
        ...

    async def unsubscribe(self, caller: Caller, namespace_id: UUID, name: str, now: datetime) -> None:
        """Remove it again; when there is no subscription nothing changes."""
        ...
