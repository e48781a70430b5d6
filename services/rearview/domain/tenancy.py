"""Tenants, namespaces and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from uuid import UUID

from rearview.domain.forget import DEFAULT_GRACE_PERIOD
from rearview.domain.principal import Role

DEFAULT_NAMESPACE = "default"
FIRST_ADMIN = "admin"


class Visibility(IntEnum):
    """Who may read a namespace; the numbers are those of `rearview.v1.Visibility` and of the database."""

    PRIVATE = 1
    PUBLIC = 2


@dataclass(frozen=True, slots=True)
class Quotas:
    """How much a tenant may use; 0 means the platform's default, which may be no limit."""

    requests_per_second: int = 0
    max_memories: int = 0
    max_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer of the platform: the border that nothing crosses. One that was deleted stays by name, with the counts
    by place of what was erased."""

    tenant_id: UUID
    name: str
    display_name: str
    created_at: datetime
    disabled: bool = False
    quotas: Quotas = Quotas()
    version: int = 1
    deleted_at: datetime | None = None
    erased_at: datetime | None = None
    erased: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential without its secret. `namespaces` empty means wherever the principal has access; no
    `requests_per_second` means those of its tenant only."""

    key_id: str
    principal: str
    role: Role
    created_at: datetime
    namespaces: tuple[str, ...] = ()
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    requests_per_second: int = 0


@dataclass(frozen=True, slots=True)
class Namespace:
    """A named space of memories."""

    namespace_id: UUID
    name: str
    owner: str
    created_at: datetime
    updated_at: datetime
    display_name: str = ""
    visibility: Visibility = Visibility.PRIVATE
    forget_grace_period: timedelta = DEFAULT_GRACE_PERIOD
    memory_count: int = 0
    version: int = 1
