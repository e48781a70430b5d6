"""Adds a namespace to those that the caller recalls from, and removes it again."""

from uuid import UUID

from rearview.domain.principal import Caller
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class Subscriptions:
    """Every recall of a principal also searches what it subscribed to, as long as it may read that."""

    def __init__(self, namespaces: NamespaceStore, clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock

    async def add(self, caller: Caller, namespace_id: UUID, name: str) -> None:
        """Subscribe; twice changes nothing."""
        await self._namespaces.subscribe(caller, namespace_id, name, self._clock.now())

    async def remove(self, caller: Caller, namespace_id: UUID, name: str) -> None:
        """Unsubscribe; twice changes nothing."""
        await self._namespaces.unsubscribe(caller, namespace_id, name, self._clock.now())
