"""Deletes a namespace that holds nothing."""

from uuid import UUID

from rearview.domain.errors import FeatureNotOffered, NamespaceNotEmpty
from rearview.domain.principal import Caller
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class DeleteNamespace:
    """Deletes empty namespaces; what a full one holds is to be forgotten first."""

    def __init__(self, namespaces: NamespaceStore, clock: Clock) -> None:
        self._namespaces = namespaces
        self._clock = clock

    async def __call__(self, caller: Caller, namespace_id: UUID, name: str, *, force: bool) -> None:
        """Delete it with its grants and subscriptions; its name is free again.

        Raises:
            NamespaceNotEmpty: it holds memories or events.
            FeatureNotOffered: it does, and `force` is set.
            NotFound: it was deleted meanwhile.
        """
        try:
            await self._namespaces.delete(caller, namespace_id, name, self._clock.now())
        except NamespaceNotEmpty as error:
            if force:
                raise FeatureNotOffered(
                    "deleting a namespace together with its memories is not offered yet; forget them first",
                    feature="namespace_erasure",
                ) from error
            raise
