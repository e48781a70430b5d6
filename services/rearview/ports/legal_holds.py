"""Where legal holds are kept; each change is one transaction with its audit record."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.legal_hold import SetHold, StandingHold
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope


class LegalHoldStore(Protocol):
    """Holds of namespaces."""

    async def set(self, scope: Scope, command: SetHold, *, now: datetime) -> None:
        """Set a hold; one that stands already is left as it is. From here on nothing that it stands on is forgotten or
        expires, and no purge of it begins. Raises: NotFound, when there is no such memory or session; Unavailable."""
        ...

    async def lift(self, scope: Scope, command: SetHold, *, now: datetime) -> None:
        """Lift a hold. Raises: NotFound, when none stands; Unavailable."""
        ...

    async def standing(self, tenant_id: UUID, namespace_id: UUID | None, page: PageRequest) -> Page[StandingHold]:
        """Return a page of the holds in a namespace, or in all (None), newest first. Raises: Unavailable."""
        ...
