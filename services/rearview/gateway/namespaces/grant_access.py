"""Lets another principal read or write a namespace."""

from uuid import UUID

from rearview.domain.principal import Access, Caller
from rearview.domain.tenancy_changes import AccessGrant
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class GrantAccess:
    """Grants access; a grant that the principal had is replaced."""

    def __init__(self, namespaces: NamespaceStore, clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock

    async def __call__(
        self, caller: Caller, namespace_id: UUID, name: str, principal: str, access: Access
    ) -> AccessGrant:
        """Return the grant. Raises: NotFound: the namespace was deleted meanwhile."""
        grant = AccessGrant(name, principal, access, self._clock.now())
        return await self._namespaces.grant(caller, namespace_id, grant)
