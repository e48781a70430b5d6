"""Changes a namespace's name for people, its visibility, and its grace period."""

from dataclasses import replace
from uuid import UUID

from rearview.domain.principal import Caller
from rearview.domain.tenancy import Namespace
from rearview.domain.tenancy_changes import NamespaceChanges
from rearview.gateway.display_names import DisplayNames
from rearview.gateway.namespaces.public_needs_admin import check_may_set_visibility
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class UpdateNamespace:
    """Changes namespaces."""

    def __init__(self, namespaces: NamespaceStore, display_names: DisplayNames, clock: Clock) -> None:
        self._namespaces = namespaces
        self._display_names = display_names
        self._clock = clock

    async def __call__(self, caller: Caller, namespace_id: UUID, name: str, changes: NamespaceChanges) -> Namespace:
        """Return the namespace as it is now. Raises: RoleInsufficient; EtagMismatch; NotFound."""
        check_may_set_visibility(caller, changes.visibility, "rearview.v1.NamespaceService/UpdateNamespace")
        changes = replace(changes, display_name=self._display_names.changed(changes.display_name))
        return await self._namespaces.update(caller, namespace_id, name, changes, self._clock.now())
