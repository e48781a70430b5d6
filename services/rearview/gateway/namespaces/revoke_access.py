"""Takes a grant back."""

from uuid import UUID

from rearview.domain.principal import Caller
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class RevokeAccess:
    """Revokes grants; where there is none, nothing changes."""

    def __init__(self, namespaces: NamespaceStore, clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock

    async def __call__(self, caller: Caller, namespace_id: UUID, name: str, principal: str) -> None:
        """From here on the principal reaches the namespace only if it is public, its own, or the principal an admin."""
        await self._namespaces.revoke(caller, namespace_id, name, principal, self._clock.now())
