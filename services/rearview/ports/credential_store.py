"""Where credentials are looked up, before any tenant is known."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.principal import Role


@dataclass(frozen=True, slots=True)
class StoredCredential:
    """A key as it is stored. `namespaces` empty means wherever the principal has access; of requests a second, the
    tenant's and the key's own, 0 is no limit. `access_version` is that of its tenant (see `AccessStates`), None where
    there is none."""

    tenant_id: UUID
    tenant_disabled: bool
    requests_per_second: int
    secret_hash: bytes = field(repr=False)
    principal: str
    role: Role
    namespaces: tuple[str, ...]
    expires_at: datetime | None
    revoked_at: datetime | None
    key_requests_per_second: int = 0
    access_version: UUID | None = None


@dataclass(frozen=True, slots=True)
class StoredTenant:
    """What is known of a tenant before anybody speaks for it; `access_version` as of a `StoredCredential`."""

    tenant_id: UUID
    disabled: bool
    requests_per_second: int
    access_version: UUID | None = None


class CredentialStore(Protocol):
    """Finds keys by the id that stands in them, and the tenants that tokens name."""

    async def find(self, key_id: str) -> Sequence[StoredCredential]:
        """Return the keys of this id: none, one, or (ids being random) practically never more.

        Raises:
            Unavailable: the store does not answer.
        """
        ...

    async def find_tenant(self, name: str) -> StoredTenant | None:
        """Return the tenant of this name, None if there is none.

        Raises:
            Unavailable: the store does not answer.
        """
        ...
