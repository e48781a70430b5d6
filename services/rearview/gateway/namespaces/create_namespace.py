"""Makes a namespace that belongs to the caller."""

from rearview.domain.errors import NamespaceDenied
from rearview.domain.ids import new_id
from rearview.domain.principal import Caller
from rearview.domain.tenancy import Namespace
from rearview.domain.tenancy_requests import NewNamespace
from rearview.gateway.display_names import DisplayNames
from rearview.gateway.namespaces.public_needs_admin import check_may_set_visibility
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import NamespaceStore


class CreateNamespace:
    """Makes namespaces: private ones for everybody who may write, public ones for admins."""

    def __init__(self, namespaces: NamespaceStore, display_names: DisplayNames, clock: Clock) -> None:
        self._namespaces = namespaces
        self._display_names = display_names
        self._clock = clock

    async def __call__(
        self,
        caller: Caller,
        own_limits: tuple[str, ...],
        new: NewNamespace,
    ) -> Namespace:
        """Return the namespace.

        Raises:
            RoleInsufficient: a public namespace takes an admin.
            NamespaceDenied: the caller's key is limited to other namespaces.
            AlreadyExists: the name is taken.
            RequestIdReused: the request id stands for another request.
        """
        check_may_set_visibility(caller, new.visibility, "rearview.v1.NamespaceService/CreateNamespace")
        if own_limits and new.name not in own_limits:
            raise NamespaceDenied(
                f"this key is limited to some namespaces, and {new.name} is none of them",
                namespace=new.name,
                access="own",
            )
        now = self._clock.now()
        namespace = Namespace(
            namespace_id=new_id(),
            name=new.name,
            owner=caller.principal,
            created_at=now,
            updated_at=now,
            display_name=self._display_names.stored(new.display_name),
            visibility=new.visibility,
            forget_grace_period=new.forget_grace_period,
        )
        return await self._namespaces.create(caller, namespace, new.request)
