"""What may change about tenants and namespaces, and grants. A value of None leaves a field as it is."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rearview.domain.principal import Access
from rearview.domain.tenancy import ApiKey, Quotas, Tenant, Visibility


@dataclass(frozen=True, slots=True)
class TenantChanges:
    """New values of a tenant; with a `version` they are refused unless it is the stored one."""

    display_name: str | None = None
    disabled: bool | None = None
    quotas: Quotas | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class NamespaceChanges:
    """New values of a namespace; with a `version` they are refused unless it is the stored one."""

    display_name: str | None = None
    visibility: Visibility | None = None
    forget_grace_period: timedelta | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class AccessGrant:
    """A right of a principal in a namespace that is not its own."""

    namespace: str
    principal: str
    access: Access
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CreatedTenant:
    """A new tenant and its first admin key. `secret` is None when the request was a repeat: it is shown only once."""

    tenant: Tenant
    api_key: ApiKey
    secret: str | None


@dataclass(frozen=True, slots=True)
class CreatedApiKey:
    """A new key. `secret` is None when the request was a repeat: it is shown only once."""

    api_key: ApiKey
    secret: str | None
