"""NamespaceService: the gateway's own."""

from typing import Any
from uuid import UUID

from google.protobuf import empty_pb2

from rearview.domain.errors import CredentialInvalid
from rearview.domain.names import parse_namespace
from rearview.domain.principal import Caller
from rearview.gateway.authorize import Authorizer, current_credential
from rearview.gateway.display_names import DisplayNames
from rearview.gateway.namespaces.create_namespace import CreateNamespace
from rearview.gateway.namespaces.delete_namespace import DeleteNamespace
from rearview.gateway.namespaces.grant_access import GrantAccess
from rearview.gateway.namespaces.read_namespaces import ReadNamespaces
from rearview.gateway.namespaces.revoke_access import RevokeAccess
from rearview.gateway.namespaces.subscriptions import Subscriptions
from rearview.gateway.namespaces.update_namespace import UpdateNamespace
from rearview.ports.clock import Clock
from rearview.ports.policies import NamespacePolicyStore
from rearview.ports.tenancy_store import NamespaceStore
from rearview.rpc.convert.lifecycle_policies import (
    namespace_lifecycle_to_proto,
    update_namespace_policy_from_proto,
)
from rearview.rpc.convert.namespaces import (
    access_grant_to_proto,
    create_namespace_from_proto,
    grant_access_from_proto,
    namespace_to_proto,
    revoke_access_from_proto,
    update_namespace_from_proto,
)
from rearview.rpc.convert.requests import next_page_token, page_from_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import lifecycle_pb2
from rearview.v1 import namespace_pb2 as pb
from rearview.v1.namespace_pb2_grpc import NamespaceServiceServicer


class NamespaceServicer(NamespaceServiceServicer):
    """Converts, calls the use case, converts. Bad fields are told before access is looked at, all at once."""

    def __init__(
        self,
        authorizer: Authorizer,
        namespaces: NamespaceStore,
        display_names: DisplayNames,
        policies: NamespacePolicyStore,
        clock: Clock,
        page_key: bytes,
    ) -> None:
        self._authorizer = authorizer
        self._page_key = page_key
        self._policies = policies
        self._clock = clock
        self._create = CreateNamespace(namespaces, display_names, clock)
        self._read = ReadNamespaces(namespaces)
        self._update = UpdateNamespace(namespaces, display_names, clock)
        self._delete = DeleteNamespace(namespaces, clock)
        self._grant = GrantAccess(namespaces, clock)
        self._revoke = RevokeAccess(namespaces, clock)
        self._subscriptions = Subscriptions(namespaces, clock)

    async def CreateNamespace(self, request: pb.CreateNamespaceRequest, context: Any) -> pb.Namespace:
        """Make a namespace of the caller's own."""
        new = create_namespace_from_proto(request)
        caller = await self._authorizer.caller_of(request)
        return namespace_to_proto(await self._create(caller, current_credential().namespaces, new))

    async def GetNamespace(self, request: pb.GetNamespaceRequest, context: Any) -> pb.Namespace:
        """Read a namespace."""
        caller, namespace_id, _ = await self._reached(request, request.name)
        return namespace_to_proto(await self._read.one(caller, namespace_id))

    async def ListNamespaces(self, request: pb.ListNamespacesRequest, context: Any) -> pb.ListNamespacesResponse:
        """List those that the caller may read."""
        found = Violations()
        page = page_from_proto(request, request.page_size, request.page_token, self._page_key, found)
        found.raise_if_any()
        listed = await self._read.page(current_credential().reader(), page)
        return pb.ListNamespacesResponse(
            namespaces=[namespace_to_proto(namespace) for namespace in listed.rows],
            next_page_token=next_page_token(request, listed.next_after, self._page_key),
        )

    async def UpdateNamespace(self, request: pb.UpdateNamespaceRequest, context: Any) -> pb.Namespace:
        """Change the fields that the mask names."""
        name, changes = update_namespace_from_proto(request)
        caller, namespace_id, _ = await self._reached(request, str(name))
        return namespace_to_proto(await self._update(caller, namespace_id, name.namespace, changes))

    async def DeleteNamespace(self, request: pb.DeleteNamespaceRequest, context: Any) -> empty_pb2.Empty:
        """Delete an empty namespace."""
        caller, namespace_id, name = await self._reached(request, request.name)
        await self._delete(caller, namespace_id, name, force=request.force)
        return empty_pb2.Empty()

    async def GrantAccess(self, request: pb.GrantAccessRequest, context: Any) -> pb.AccessGrant:
        """Let another principal read or write."""
        _, principal, access = grant_access_from_proto(request)
        caller, namespace_id, name = await self._reached(request, request.name)
        return access_grant_to_proto(await self._grant(caller, namespace_id, name, principal, access))

    async def RevokeAccess(self, request: pb.RevokeAccessRequest, context: Any) -> empty_pb2.Empty:
        """Take a grant back."""
        _, principal = revoke_access_from_proto(request)
        caller, namespace_id, name = await self._reached(request, request.name)
        await self._revoke(caller, namespace_id, name, principal)
        return empty_pb2.Empty()

    async def Subscribe(self, request: pb.SubscribeRequest, context: Any) -> empty_pb2.Empty:
        """Add a namespace to those that the caller recalls from."""
        await self._subscriptions.add(*await self._reached(request, request.name))
        return empty_pb2.Empty()

    async def Unsubscribe(self, request: pb.UnsubscribeRequest, context: Any) -> empty_pb2.Empty:
        """Remove it again."""
        await self._subscriptions.remove(*await self._reached(request, request.name))
        return empty_pb2.Empty()

    async def GetNamespacePolicy(
        self, request: pb.GetNamespacePolicyRequest, context: Any
    ) -> lifecycle_pb2.LifecyclePolicy:
        """Read what is in force."""
        caller, namespace_id, _ = await self._reached(request, request.name)
        return namespace_lifecycle_to_proto(await self._policies.get(_tenant_of(caller), namespace_id))

    async def UpdateNamespacePolicy(
        self, request: pb.UpdateNamespacePolicyRequest, context: Any
    ) -> lifecycle_pb2.LifecyclePolicy:
        """Override the tenant's policy."""
        changes = update_namespace_policy_from_proto(request)
        caller, namespace_id, name = await self._reached(request, request.name)
        return namespace_lifecycle_to_proto(
            await self._policies.update(caller, namespace_id, name, changes, self._clock.now())
        )

    async def _reached(self, request: Any, name: str) -> tuple[Caller, UUID, str]:
        caller = await self._authorizer.caller_of(request)
        namespace = parse_namespace(name, "name").namespace
        return caller, caller.namespaces[namespace].namespace_id, namespace


def _tenant_of(caller: Caller) -> UUID:
    if caller.tenant_id is None:
        raise CredentialInvalid("the credential belongs to no tenant")
    return caller.tenant_id
