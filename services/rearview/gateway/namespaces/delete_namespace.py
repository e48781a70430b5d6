"""Deletes a namespace; what it held is erased by the lifecycle service."""

from uuid import UUID

from rearview.domain.principal import Caller
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class DeleteNamespace:
    """Deletes empty namespaces, and with `force` full ones."""

    def __init__(self, namespaces: NamespaceStore, clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock

    async def __call__(self, caller: Caller, namespace_id: UUID, name: str, *, force: bool) -> None:
        """Delete it with its grants and subscriptions: from here on nobody reaches it, and its name is free again.

        Raises:
            NamespaceNotEmpty: it holds memories or events, and `force` is not set.
            LegalHold: one stands on it, or on anything in it.
            NotFound: it was deleted meanwhile.
        """
        await self._namespaces.delete(caller, namespace_id, name, self._clock.now(), force=force)
