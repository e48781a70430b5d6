"""Tenants and API keys."""

from collections.abc import Mapping
from datetime import timedelta

from rearview.domain.names import NAMESPACE_ID, PRINCIPAL_ID, NamespaceName, parse_named, parse_namespace
from rearview.domain.principal import Role
from rearview.domain.tenancy import ApiKey, Quotas, Tenant
from rearview.domain.tenancy_changes import CreatedApiKey, CreatedTenant, TenantChanges
from rearview.domain.tenancy_requests import NewApiKey, NewTenant
from rearview.rpc.convert.requests import etag_of, mask_from_proto, request_key_from_proto, version_from_etag
from rearview.rpc.convert.times import (
    duration_from_proto,
    optional_time_to_proto,
    time_from_proto,
    time_to_proto,
)
from rearview.rpc.convert.violations import Violations
from rearview.v1 import tenant_pb2

TENANTS = "tenants"
API_KEYS = "apiKeys"
MAX_DISPLAY_NAME_CHARACTERS = 200
MAX_KEY_NAMESPACES = 100
DEFAULT_OVERLAP = timedelta(hours=1)
MAX_OVERLAP = timedelta(days=30)

_TENANT_FIELDS = frozenset({"display_name", "disabled", "quotas"})
_LARGEST_INT64 = 2**63 - 1
_ROLES: Mapping[Role, tenant_pb2.PrincipalRole.ValueType] = {
    Role.READ: tenant_pb2.PRINCIPAL_ROLE_READ,
    Role.WRITE: tenant_pb2.PRINCIPAL_ROLE_WRITE,
    Role.ADMIN: tenant_pb2.PRINCIPAL_ROLE_ADMIN,
    Role.OPERATOR: tenant_pb2.PRINCIPAL_ROLE_OPERATOR,
}
_ROLE_OF_NUMBER = {int(number): role for role, number in _ROLES.items()}


def create_tenant_from_proto(request: tenant_pb2.CreateTenantRequest) -> NewTenant:
    """Return the tenant to make. Raises: InvalidFields."""
    found = Violations()
    if not NAMESPACE_ID.fullmatch(request.tenant_id):
        found.add("tenant_id", "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit")
    tenant = NewTenant(
        name=request.tenant_id,
        display_name=display_name_from_proto(request.tenant.display_name, "tenant.display_name", found),
        disabled=request.tenant.disabled,
        quotas=_quotas_from_proto(request.tenant.quotas, "tenant.quotas", found),
        request=request_key_from_proto(request, request.request_id, found),
    )
    found.raise_if_any()
    return tenant


def update_tenant_from_proto(request: tenant_pb2.UpdateTenantRequest) -> tuple[str, TenantChanges]:
    """Return the tenant's name and what is to change. Raises: InvalidFields."""
    found = Violations()
    tenant = request.tenant
    name = found.attempt("", parse_named, tenant.name, TENANTS, "tenant.name")
    mask = mask_from_proto(request.update_mask.paths, _TENANT_FIELDS, "update_mask", found)
    changes = TenantChanges(
        display_name=display_name_from_proto(tenant.display_name, "tenant.display_name", found)
        if "display_name" in mask
        else None,
        disabled=tenant.disabled if "disabled" in mask else None,
        quotas=_quotas_from_proto(tenant.quotas, "tenant.quotas", found) if "quotas" in mask else None,
        version=version_from_etag(tenant.etag, "tenant.etag", found),
    )
    found.raise_if_any()
    return name, changes


def tenant_name_from_proto(name: str) -> str:
    """Return the last part of `tenants/{tenant}`. Raises: InvalidFields."""
    return parse_named(name, TENANTS, "name")


def tenant_to_proto(tenant: Tenant) -> tenant_pb2.Tenant:
    """Return the tenant's message."""
    return tenant_pb2.Tenant(
        name=f"{TENANTS}/{tenant.name}",
        display_name=tenant.display_name,
        disabled=tenant.disabled,
        quotas=tenant_pb2.Quotas(
            requests_per_second=tenant.quotas.requests_per_second,
            max_memories=tenant.quotas.max_memories,
            max_bytes=tenant.quotas.max_bytes,
        ),
        create_time=time_to_proto(tenant.created_at),
        etag=etag_of(tenant.version),
        delete_time=optional_time_to_proto(tenant.deleted_at),
        erase_time=optional_time_to_proto(tenant.erased_at),
        erased_counts=tenant.erased,
    )


def created_tenant_to_proto(created: CreatedTenant) -> tenant_pb2.CreateTenantResponse:
    """Return the answer that shows the first key's secret, this once."""
    return tenant_pb2.CreateTenantResponse(
        tenant=tenant_to_proto(created.tenant),
        api_key=api_key_to_proto(created.api_key),
        secret=created.secret or "",
    )


def create_api_key_from_proto(request: tenant_pb2.CreateApiKeyRequest) -> NewApiKey:
    """Return the key to make. Raises: InvalidFields."""
    found = Violations()
    key = request.api_key
    if len(key.namespaces) > MAX_KEY_NAMESPACES:
        found.add("api_key.namespaces", f"has {len(key.namespaces)} entries; at most {MAX_KEY_NAMESPACES} are allowed")
    new = NewApiKey(
        principal=principal_from_proto(key.principal, "api_key.principal", found),
        role=_role_from_proto(key.role, "api_key.role", found),
        namespaces=tuple(
            dict.fromkeys(
                found.attempt(NamespaceName(""), parse_namespace, name, f"api_key.namespaces[{index}]").namespace
                for index, name in enumerate(key.namespaces[:MAX_KEY_NAMESPACES])
            )
        ),
        expires_at=time_from_proto(key.expire_time, "api_key.expire_time", found)
        if key.HasField("expire_time")
        else None,
        requests_per_second=_limit_from_proto(key.requests_per_second, "api_key.requests_per_second", found),
        request=request_key_from_proto(request, request.request_id, found),
    )
    found.raise_if_any()
    return new


def rotate_api_key_from_proto(request: tenant_pb2.RotateApiKeyRequest) -> tuple[str, timedelta]:
    """Return the key's id and how long it still works. Raises: InvalidFields."""
    found = Violations()
    key_id = found.attempt("", parse_named, request.name, API_KEYS, "name")
    overlap = (
        duration_from_proto(request.overlap, "overlap", found, high=MAX_OVERLAP)
        if request.HasField("overlap")
        else DEFAULT_OVERLAP
    )
    found.raise_if_any()
    return key_id, overlap


def api_key_id_from_proto(name: str) -> str:
    """Return the last part of `apiKeys/{api_key}`. Raises: InvalidFields."""
    return parse_named(name, API_KEYS, "name")


def api_key_to_proto(key: ApiKey) -> tenant_pb2.ApiKey:
    """Return the key's message, without its secret."""
    return tenant_pb2.ApiKey(
        name=f"{API_KEYS}/{key.key_id}",
        principal=key.principal,
        role=_ROLES[key.role],
        namespaces=[str(NamespaceName(namespace)) for namespace in key.namespaces],
        create_time=time_to_proto(key.created_at),
        expire_time=optional_time_to_proto(key.expires_at),
        revoke_time=optional_time_to_proto(key.revoked_at),
        requests_per_second=key.requests_per_second,
    )


def created_api_key_to_proto(created: CreatedApiKey) -> tenant_pb2.CreateApiKeyResponse:
    """Return the answer that shows the key's secret, this once."""
    return tenant_pb2.CreateApiKeyResponse(api_key=api_key_to_proto(created.api_key), secret=created.secret or "")


def principal_from_proto(principal: str, field: str, found: Violations) -> str:
    """Return the principal's name; note what is none."""
    if not PRINCIPAL_ID.fullmatch(principal):
        found.add(field, "must be 1 to 63 of a-z, 0-9, _, . and -, and begin with a letter or digit")
    return principal


def display_name_from_proto(name: str, field: str, found: Violations) -> str:
    """Return the name for people; note what is too long."""
    return found.text(name, field, max_characters=MAX_DISPLAY_NAME_CHARACTERS)


def _role_from_proto(number: int, field: str, found: Violations) -> Role:
    role = _ROLE_OF_NUMBER.get(number)
    if role is None or role is Role.OPERATOR:
        found.add(field, "must be READ, WRITE or ADMIN")
        return Role.READ
    return role


def _quotas_from_proto(quotas: tenant_pb2.Quotas, field: str, found: Violations) -> Quotas:
    return Quotas(
        _limit_from_proto(quotas.requests_per_second, f"{field}.requests_per_second", found),
        _limit_from_proto(quotas.max_memories, f"{field}.max_memories", found),
        _limit_from_proto(quotas.max_bytes, f"{field}.max_bytes", found),
    )


def _limit_from_proto(value: int, field: str, found: Violations) -> int:
    return found.whole(value, field, default=0, low=0, high=_LARGEST_INT64)
