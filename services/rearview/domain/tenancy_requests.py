"""What a caller asks to be made of tenants, keys and namespaces: validated, not yet authorised."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from rearview.domain.forget import DEFAULT_GRACE_PERIOD
from rearview.domain.principal import Role
from rearview.domain.tenancy import Quotas, Visibility
from rearview.domain.writing import RequestKey


@dataclass(frozen=True, slots=True)
class NewTenant:
    """A tenant to be made, with its first key."""

    name: str
    display_name: str = ""
    disabled: bool = False
    quotas: Quotas = field(default_factory=Quotas)
    request: RequestKey | None = None


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to be made. `namespaces` empty means wherever the principal has access."""

    principal: str
    role: Role
    namespaces: tuple[str, ...] = ()
    expires_at: datetime | None = None
    requests_per_second: int = 0
    request: RequestKey | None = None


@dataclass(frozen=True, slots=True)
class NewNamespace:
    """A namespace to be made, owned by the caller's principal."""

    name: str
    display_name: str = ""
    visibility: Visibility = Visibility.PRIVATE
    forget_grace_period: timedelta = DEFAULT_GRACE_PERIOD
    request: RequestKey | None = None
