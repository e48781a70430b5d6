"""Calls about tenants, keys and namespaces."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from google.protobuf.empty_pb2 import Empty
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.client.call import NAMESPACE_SERVICE, TENANT_SERVICE, Call, Defaults, Pages, call, read
from rearview.client.values import namespace_name, request_id_text, resource_name, time_message
from rearview.domain.errors import invalid_field
from rearview.domain.tenancy import Quotas
from rearview.rpc.convert.times import duration_to_proto
from rearview.v1 import namespace_pb2, tenant_pb2


def create_tenant(
    defaults: Defaults,
    tenant_id: str,
    *,
    display_name: str = "",
    quotas: Quotas | None = None,
    request_id: str | UUID | None = None,
) -> Call[tenant_pb2.CreateTenantResponse]:
    """Create a tenant and its first admin key, whose secret is in the answer. Operator.

    Not repeated by itself: only the first answer holds the secret.
    """
    del defaults  # tenants stand above namespaces
    request = tenant_pb2.CreateTenantRequest(
        tenant_id=tenant_id,
        tenant=tenant_pb2.Tenant(display_name=display_name, quotas=_quotas(quotas)),
        request_id=request_id_text(request_id),
    )
    return call(TENANT_SERVICE, "CreateTenant", request, tenant_pb2.CreateTenantResponse, repeatable=False)


def get_tenant(defaults: Defaults, tenant: str) -> Call[tenant_pb2.Tenant]:
    """Read a tenant, by id or name. Operator."""
    del defaults  # tenants stand above namespaces
    request = tenant_pb2.GetTenantRequest(name=resource_name("tenants", tenant))
    return read(TENANT_SERVICE, "GetTenant", request, tenant_pb2.Tenant)


def list_tenants(defaults: Defaults, *, page_size: int = 0) -> Pages[tenant_pb2.Tenant]:
    """Iterate over the tenants by name. Operator."""
    del defaults  # tenants stand above namespaces
    request = tenant_pb2.ListTenantsRequest(page_size=page_size)
    return Pages(
        read(TENANT_SERVICE, "ListTenants", request, tenant_pb2.ListTenantsResponse),
        lambda response: response.tenants,
    )


def update_tenant(
    defaults: Defaults,
    tenant: str,
    *,
    display_name: str | None = None,
    disabled: bool | None = None,
    quotas: Quotas | None = None,
    etag: str = "",
) -> Call[tenant_pb2.Tenant]:
    """Change what is not None. Operator."""
    del defaults  # tenants stand above namespaces
    request = tenant_pb2.UpdateTenantRequest(
        tenant=tenant_pb2.Tenant(
            name=resource_name("tenants", tenant),
            display_name=display_name or "",
            disabled=bool(disabled),
            quotas=_quotas(quotas),
            etag=etag,
        ),
        update_mask=_mask(display_name=display_name, disabled=disabled, quotas=quotas),
    )
    return call(TENANT_SERVICE, "UpdateTenant", request, tenant_pb2.Tenant, repeatable=not etag)


def delete_tenant(defaults: Defaults, tenant: str) -> Call[Empty]:
    """Disable a tenant at once and erase everything it holds. Operator."""
    del defaults  # tenants stand above namespaces
    request = tenant_pb2.DeleteTenantRequest(name=resource_name("tenants", tenant))
    return call(TENANT_SERVICE, "DeleteTenant", request, Empty, repeatable=False)


def create_api_key(
    defaults: Defaults,
    principal: str,
    role: str,
    *,
    namespaces: Sequence[str] = (),
    expires_at: datetime | None = None,
    requests_per_second: int = 0,
    request_id: str | UUID | None = None,
) -> Call[tenant_pb2.CreateApiKeyResponse]:
    """Create a key for a principal with the role read, write or admin; the secret is in the answer. Admin.

    `requests_per_second` limits it beside its tenant's limit. Not repeated by itself: only the first answer holds the
    secret.
    """
    request = tenant_pb2.CreateApiKeyRequest(
        api_key=tenant_pb2.ApiKey(
            principal=principal,
            role=_role(role),
            namespaces=[namespace_name(defaults, namespace) for namespace in namespaces],
            expire_time=time_message(expires_at, "expires_at"),
            requests_per_second=requests_per_second,
        ),
        request_id=request_id_text(request_id),
    )
    return call(TENANT_SERVICE, "CreateApiKey", request, tenant_pb2.CreateApiKeyResponse, repeatable=False)


def list_api_keys(defaults: Defaults, *, page_size: int = 0) -> Pages[tenant_pb2.ApiKey]:
    """Iterate over the tenant's keys, newest first, without secrets. Admin."""
    del defaults  # keys are the tenant's
    request = tenant_pb2.ListApiKeysRequest(page_size=page_size)
    return Pages(
        read(TENANT_SERVICE, "ListApiKeys", request, tenant_pb2.ListApiKeysResponse),
        lambda response: response.api_keys,
    )


def rotate_api_key(
    defaults: Defaults, api_key: str, *, overlap: timedelta | None = None
) -> Call[tenant_pb2.CreateApiKeyResponse]:
    """Make a successor of a key; both work until the overlap (one hour unless given) ends. Admin."""
    del defaults  # keys are the tenant's
    request = tenant_pb2.RotateApiKeyRequest(
        name=resource_name("apiKeys", api_key),
        overlap=None if overlap is None else duration_to_proto(overlap),
    )
    return call(TENANT_SERVICE, "RotateApiKey", request, tenant_pb2.CreateApiKeyResponse, repeatable=False)


def revoke_api_key(defaults: Defaults, api_key: str) -> Call[tenant_pb2.ApiKey]:
    """End a key at once. Admin."""
    del defaults  # keys are the tenant's
    request = tenant_pb2.RevokeApiKeyRequest(name=resource_name("apiKeys", api_key))
    return call(TENANT_SERVICE, "RevokeApiKey", request, tenant_pb2.ApiKey, repeatable=True)


def create_namespace(
    defaults: Defaults,
    namespace_id: str,
    *,
    display_name: str = "",
    public: bool = False,
    forget_grace_period: timedelta | None = None,
    request_id: str | UUID | None = None,
) -> Call[namespace_pb2.Namespace]:
    """Create a namespace, private unless `public`."""
    del defaults  # it is named here
    request = namespace_pb2.CreateNamespaceRequest(
        namespace_id=namespace_id,
        namespace=namespace_pb2.Namespace(
            display_name=display_name,
            visibility=_visibility(public),
            forget_grace_period=None if forget_grace_period is None else duration_to_proto(forget_grace_period),
        ),
        request_id=request_id_text(request_id),
    )
    return call(NAMESPACE_SERVICE, "CreateNamespace", request, namespace_pb2.Namespace, repeatable=True)


def get_namespace(defaults: Defaults, namespace: str | None = None) -> Call[namespace_pb2.Namespace]:
    """Read a namespace, the default one unless another is named."""
    request = namespace_pb2.GetNamespaceRequest(name=namespace_name(defaults, namespace))
    return read(NAMESPACE_SERVICE, "GetNamespace", request, namespace_pb2.Namespace)


def list_namespaces(defaults: Defaults, *, page_size: int = 0) -> Pages[namespace_pb2.Namespace]:
    """Iterate over the namespaces that the caller may read, by name."""
    del defaults  # all of them
    request = namespace_pb2.ListNamespacesRequest(page_size=page_size)
    return Pages(
        read(NAMESPACE_SERVICE, "ListNamespaces", request, namespace_pb2.ListNamespacesResponse),
        lambda response: response.namespaces,
    )


def update_namespace(
    defaults: Defaults,
    namespace: str | None = None,
    *,
    display_name: str | None = None,
    public: bool | None = None,
    forget_grace_period: timedelta | None = None,
    etag: str = "",
) -> Call[namespace_pb2.Namespace]:
    """Change what is not None."""
    request = namespace_pb2.UpdateNamespaceRequest(
        namespace=namespace_pb2.Namespace(
            name=namespace_name(defaults, namespace),
            display_name=display_name or "",
            visibility=_visibility(bool(public)),
            forget_grace_period=None if forget_grace_period is None else duration_to_proto(forget_grace_period),
            etag=etag,
        ),
        update_mask=_mask(display_name=display_name, visibility=public, forget_grace_period=forget_grace_period),
    )
    return call(NAMESPACE_SERVICE, "UpdateNamespace", request, namespace_pb2.Namespace, repeatable=not etag)


def delete_namespace(defaults: Defaults, namespace: str, *, force: bool = False) -> Call[Empty]:
    """Delete a namespace and forget everything in it; one that holds memories only if forced."""
    request = namespace_pb2.DeleteNamespaceRequest(name=namespace_name(defaults, namespace), force=force)
    return call(NAMESPACE_SERVICE, "DeleteNamespace", request, Empty, repeatable=False)


def grant_access(
    defaults: Defaults, principal: str, *, write: bool = False, namespace: str | None = None
) -> Call[namespace_pb2.AccessGrant]:
    """Let another principal read, or write, in a namespace."""
    request = namespace_pb2.GrantAccessRequest(
        name=namespace_name(defaults, namespace),
        principal=principal,
        access=namespace_pb2.ACCESS_WRITE if write else namespace_pb2.ACCESS_READ,
    )
    return call(NAMESPACE_SERVICE, "GrantAccess", request, namespace_pb2.AccessGrant, repeatable=True)


def revoke_access(defaults: Defaults, principal: str, *, namespace: str | None = None) -> Call[Empty]:
    """Take a grant back."""
    request = namespace_pb2.RevokeAccessRequest(name=namespace_name(defaults, namespace), principal=principal)
    return call(NAMESPACE_SERVICE, "RevokeAccess", request, Empty, repeatable=True)


def subscribe(defaults: Defaults, namespace: str) -> Call[Empty]:
    """Add a public namespace to those that the caller recalls from."""
    request = namespace_pb2.SubscribeRequest(name=namespace_name(defaults, namespace))
    return call(NAMESPACE_SERVICE, "Subscribe", request, Empty, repeatable=True)


def unsubscribe(defaults: Defaults, namespace: str) -> Call[Empty]:
    """Remove it again."""
    request = namespace_pb2.UnsubscribeRequest(name=namespace_name(defaults, namespace))
    return call(NAMESPACE_SERVICE, "Unsubscribe", request, Empty, repeatable=True)


def _role(role: str) -> tenant_pb2.PrincipalRole.ValueType:
    try:
        return tenant_pb2.PrincipalRole.Value(f"PRINCIPAL_ROLE_{role.upper()}")
    except ValueError:
        raise invalid_field("role", f"{role!r} is none of read, write, admin") from None


def _visibility(public: bool) -> namespace_pb2.Visibility.ValueType:
    return namespace_pb2.VISIBILITY_PUBLIC if public else namespace_pb2.VISIBILITY_PRIVATE


def _quotas(quotas: Quotas | None) -> tenant_pb2.Quotas | None:
    if quotas is None:
        return None
    return tenant_pb2.Quotas(
        requests_per_second=quotas.requests_per_second,
        max_memories=quotas.max_memories,
        max_bytes=quotas.max_bytes,
    )


def _mask(**changes: object) -> FieldMask:
    return FieldMask(paths=sorted(path for path, value in changes.items() if value is not None))
