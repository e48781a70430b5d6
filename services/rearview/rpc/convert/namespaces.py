"""Namespaces and grants."""

from datetime import timedelta

from rearview.domain.forget import DEFAULT_GRACE_PERIOD, MAX_GRACE_PERIOD
from rearview.domain.names import NAMESPACE_ID, NamespaceName, parse_namespace
from rearview.domain.principal import Access
from rearview.domain.tenancy import Namespace, Visibility
from rearview.domain.tenancy_changes import AccessGrant, NamespaceChanges
from rearview.domain.tenancy_requests import NewNamespace
from rearview.rpc.convert.requests import etag_of, mask_from_proto, request_key_from_proto, version_from_etag
from rearview.rpc.convert.tenancy import display_name_from_proto, principal_from_proto
from rearview.rpc.convert.times import duration_from_proto, duration_to_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import namespace_pb2

_NAMESPACE_FIELDS = frozenset({"display_name", "visibility", "forget_grace_period"})
_ACCESSES = {Access.READ: namespace_pb2.ACCESS_READ, Access.WRITE: namespace_pb2.ACCESS_WRITE}
_ACCESS_OF_NUMBER = {int(number): access for access, number in _ACCESSES.items()}


def create_namespace_from_proto(request: namespace_pb2.CreateNamespaceRequest) -> NewNamespace:
    """Return the namespace to make. Raises: InvalidFields."""
    found = Violations()
    if not NAMESPACE_ID.fullmatch(request.namespace_id):
        found.add("namespace_id", "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit")
    namespace = NewNamespace(
        name=request.namespace_id,
        display_name=display_name_from_proto(request.namespace.display_name, "namespace.display_name", found),
        visibility=_visibility(request.namespace, found),
        forget_grace_period=_grace_period(request.namespace, found),
        request=request_key_from_proto(request, request.request_id, found),
    )
    found.raise_if_any()
    return namespace


def update_namespace_from_proto(
    request: namespace_pb2.UpdateNamespaceRequest,
) -> tuple[NamespaceName, NamespaceChanges]:
    """Return the namespace's name and what is to change. Raises: InvalidFields."""
    found = Violations()
    namespace = request.namespace
    name = found.attempt(NamespaceName(""), parse_namespace, namespace.name, "namespace.name")
    mask = mask_from_proto(request.update_mask.paths, _NAMESPACE_FIELDS, "update_mask", found)
    changes = NamespaceChanges(
        display_name=display_name_from_proto(namespace.display_name, "namespace.display_name", found)
        if "display_name" in mask
        else None,
        visibility=_visibility(namespace, found) if "visibility" in mask else None,
        forget_grace_period=_grace_period(namespace, found) if "forget_grace_period" in mask else None,
        version=version_from_etag(namespace.etag, "namespace.etag", found),
    )
    found.raise_if_any()
    return name, changes


def namespace_to_proto(namespace: Namespace) -> namespace_pb2.Namespace:
    """Return the namespace's message."""
    return namespace_pb2.Namespace(
        name=str(NamespaceName(namespace.name)),
        display_name=namespace.display_name,
        visibility=namespace_pb2.Visibility.ValueType(namespace.visibility),
        owner=namespace.owner,
        create_time=time_to_proto(namespace.created_at),
        update_time=time_to_proto(namespace.updated_at),
        memory_count=namespace.memory_count,
        forget_grace_period=duration_to_proto(namespace.forget_grace_period),
        etag=etag_of(namespace.version),
    )


def grant_access_from_proto(request: namespace_pb2.GrantAccessRequest) -> tuple[NamespaceName, str, Access]:
    """Return the namespace, the principal and what it may do. Raises: InvalidFields."""
    found = Violations()
    name = found.attempt(NamespaceName(""), parse_namespace, request.name, "name")
    principal = principal_from_proto(request.principal, "principal", found)
    access = _ACCESS_OF_NUMBER.get(request.access)
    if access is None:
        found.add("access", "must be READ or WRITE")
    found.raise_if_any()
    return name, principal, access or Access.READ


def revoke_access_from_proto(request: namespace_pb2.RevokeAccessRequest) -> tuple[NamespaceName, str]:
    """Return the namespace and the principal. Raises: InvalidFields."""
    found = Violations()
    name = found.attempt(NamespaceName(""), parse_namespace, request.name, "name")
    principal = principal_from_proto(request.principal, "principal", found)
    found.raise_if_any()
    return name, principal


def access_grant_to_proto(grant: AccessGrant) -> namespace_pb2.AccessGrant:
    """Return the grant's message."""
    return namespace_pb2.AccessGrant(
        namespace=str(NamespaceName(grant.namespace)),
        principal=grant.principal,
        access=_ACCESSES[grant.access],
        create_time=time_to_proto(grant.created_at),
    )


def _visibility(namespace: namespace_pb2.Namespace, found: Violations) -> Visibility:
    return found.member(Visibility, namespace.visibility, "namespace.visibility", Visibility.PRIVATE)


def _grace_period(namespace: namespace_pb2.Namespace, found: Violations) -> timedelta:
    if not namespace.HasField("forget_grace_period"):
        return DEFAULT_GRACE_PERIOD
    return duration_from_proto(
        namespace.forget_grace_period, "namespace.forget_grace_period", found, high=MAX_GRACE_PERIOD
    )
