"""Where legal holds are kept; each change is one transaction with its audit record."""

from datetime import datetime
from typing import Protocol

from rearview.domain.legal_hold import SetHold
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
