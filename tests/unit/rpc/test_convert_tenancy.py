from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from hypothesis import given
from hypothesis import strategies as st

from rearview.client import tenancy_calls
from rearview.client.call import Defaults
from rearview.domain.errors import InvalidFields
from rearview.domain.principal import Access, Role
from rearview.domain.tenancy import ApiKey, Namespace, Quotas, Tenant, Visibility
from rearview.domain.tenancy_changes import AccessGrant, CreatedApiKey, CreatedTenant, NamespaceChanges, TenantChanges
from rearview.rpc.convert import namespaces as namespace_convert
from rearview.rpc.convert import tenancy as convert
from rearview.rpc.convert.times import duration_from_proto, duration_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import namespace_pb2, tenant_pb2
from tests.unit.rpc.garbage import convert_or_refuse, mutated
from tests.unit.rpc.strategies import NOW, durations, few, moments, namespaces, optional_texts

DEFAULTS = Defaults("default", 10)
principals = st.from_regex(r"\A[a-z0-9][a-z0-9_.-]{0,20}\Z")
limits = st.integers(0, 2**63 - 1)
quotas = st.builds(Quotas, limits, limits, limits)


def _fields(convert_it: Any, request: Any) -> set[str]:
    with pytest.raises(InvalidFields) as error:
        convert_it(request)
    return {v.field for v in error.value.violations}


@few
@given(namespaces, optional_texts, quotas)
def test_a_new_tenant_arrives(name: str, display_name: str, limits_: Quotas) -> None:
    request = tenancy_calls.create_tenant(DEFAULTS, name, display_name=display_name, quotas=limits_).request
    assert isinstance(request, tenant_pb2.CreateTenantRequest)
    new = convert.create_tenant_from_proto(request)
    assert (new.name, new.display_name, new.quotas, new.disabled) == (name, display_name, limits_, False)
    assert new.request is not None


@few
@given(st.none() | optional_texts, st.none() | st.booleans(), st.none() | quotas)
def test_changes_of_a_tenant_arrive(display_name: str | None, disabled: bool | None, limits_: Quotas | None) -> None:
    request = tenancy_calls.update_tenant(
        DEFAULTS, "acme", display_name=display_name, disabled=disabled, quotas=limits_, etag='"3"'
    ).request
    assert isinstance(request, tenant_pb2.UpdateTenantRequest)
    if (display_name, disabled, limits_) == (None, None, None):
        assert _fields(convert.update_tenant_from_proto, request) == {"update_mask"}
    else:
        expected = TenantChanges(display_name, disabled, limits_, 3)
        assert convert.update_tenant_from_proto(request) == ("acme", expected)


@few
@given(
    principals,
    st.sampled_from(["read", "write", "admin"]),
    st.lists(namespaces, max_size=3, unique=True),
    st.none() | moments,
)
def test_a_new_key_arrives(principal: str, role: str, limited: list[str], expires_at: datetime | None) -> None:
    request = tenancy_calls.create_api_key(DEFAULTS, principal, role, namespaces=limited, expires_at=expires_at).request
    assert isinstance(request, tenant_pb2.CreateApiKeyRequest)
    new = convert.create_api_key_from_proto(request)
    assert (new.principal, new.role, new.namespaces, new.expires_at) == (
        principal,
        Role(role),
        tuple(limited),
        expires_at,
    )


def test_bad_tenants_and_keys_are_refused_field_by_field() -> None:
    tenant = tenant_pb2.CreateTenantRequest(tenant_id="大", request_id="1")
    tenant.tenant.display_name = "名" * 201
    tenant.tenant.quotas.max_bytes = -1
    assert _fields(convert.create_tenant_from_proto, tenant) == {
        "tenant_id",
        "request_id",
        "tenant.display_name",
        "tenant.quotas.max_bytes",
    }
    key = tenant_pb2.CreateApiKeyRequest(
        api_key=tenant_pb2.ApiKey(principal="A b", role=tenant_pb2.PRINCIPAL_ROLE_OPERATOR, namespaces=["x"])
    )
    key.api_key.expire_time.seconds = -1
    assert _fields(convert.create_api_key_from_proto, key) == {
        "api_key.principal",
        "api_key.role",
        "api_key.namespaces[0]",
        "api_key.expire_time",
    }
    rotate = tenant_pb2.RotateApiKeyRequest(name="apiKeys/k", overlap=Duration(seconds=31 * 86_400))
    assert _fields(convert.rotate_api_key_from_proto, rotate) == {"overlap"}
    rotate.ClearField("overlap")
    assert convert.rotate_api_key_from_proto(rotate) == ("k", timedelta(hours=1))


@few
@given(quotas, moments, st.booleans())
def test_a_tenant_and_its_key_are_told_in_full(limits_: Quotas, created_at: datetime, disabled: bool) -> None:
    tenant = Tenant(UUID(int=1), "acme", "Acme 公司", created_at, disabled, limits_, 8)
    key = ApiKey("k1", "agent", Role.ADMIN, created_at, ("a",), created_at, None)
    message = convert.created_tenant_to_proto(CreatedTenant(tenant, key, "s3cret"))
    assert (message.tenant.name, message.tenant.display_name, message.tenant.etag) == (
        "tenants/acme",
        "Acme 公司",
        '"8"',
    )
    assert message.tenant.quotas.max_memories == limits_.max_memories
    assert (message.secret, message.tenant.disabled) == ("s3cret", disabled)
    assert (message.api_key.name, message.api_key.role) == ("apiKeys/k1", tenant_pb2.PRINCIPAL_ROLE_ADMIN)
    assert list(message.api_key.namespaces) == ["namespaces/a"]
    assert (message.api_key.HasField("expire_time"), message.api_key.HasField("revoke_time")) == (True, False)
    assert convert.created_api_key_to_proto(CreatedApiKey(key, None)).secret == ""


@pytest.mark.parametrize("role", list(Role))
def test_every_role_has_its_number(role: Role) -> None:
    key = convert.api_key_to_proto(ApiKey("k", "p", role, NOW))
    assert tenant_pb2.PrincipalRole.Name(key.role) == f"PRINCIPAL_ROLE_{role.name}"


@few
@given(namespaces, optional_texts, st.booleans(), durations)
def test_a_new_namespace_arrives(name: str, display_name: str, public: bool, grace: timedelta) -> None:
    request = tenancy_calls.create_namespace(
        DEFAULTS, name, display_name=display_name, public=public, forget_grace_period=grace
    ).request
    assert isinstance(request, namespace_pb2.CreateNamespaceRequest)
    new = namespace_convert.create_namespace_from_proto(request)
    assert (new.name, new.display_name, new.forget_grace_period) == (name, display_name, grace)
    assert new.visibility is (Visibility.PUBLIC if public else Visibility.PRIVATE)


def test_an_update_leaves_alone_what_it_does_not_name() -> None:
    request = tenancy_calls.update_namespace(DEFAULTS, public=True).request
    assert isinstance(request, namespace_pb2.UpdateNamespaceRequest)
    name, changes = namespace_convert.update_namespace_from_proto(request)
    assert (name.namespace, changes) == ("default", NamespaceChanges(visibility=Visibility.PUBLIC))
    request.update_mask.CopyFrom(FieldMask(paths=["owner", "forget_grace_period", "visibility"]))
    request.namespace.forget_grace_period.seconds = 91 * 86_400
    request.namespace.visibility = 9  # type: ignore[assignment]
    assert _fields(namespace_convert.update_namespace_from_proto, request) == {
        "update_mask",
        "namespace.forget_grace_period",
        "namespace.visibility",
    }


@few
@given(moments, durations)
def test_a_namespace_is_told_in_full(moment: datetime, grace: timedelta) -> None:
    message = namespace_convert.namespace_to_proto(
        Namespace(UUID(int=1), "team", "alice", moment, moment, "团队", Visibility.PUBLIC, grace, 12, 3)
    )
    assert (message.name, message.owner, message.display_name) == ("namespaces/team", "alice", "团队")
    assert (message.visibility, message.memory_count, message.etag) == (namespace_pb2.VISIBILITY_PUBLIC, 12, '"3"')
    assert message.forget_grace_period.ToTimedelta() == grace


def test_grants_go_both_ways() -> None:
    request = tenancy_calls.grant_access(DEFAULTS, "bob", write=True).request
    assert isinstance(request, namespace_pb2.GrantAccessRequest)
    name, principal, access = namespace_convert.grant_access_from_proto(request)
    assert (name.namespace, principal, access) == ("default", "bob", Access.WRITE)
    message = namespace_convert.access_grant_to_proto(AccessGrant("default", "bob", access, NOW))
    assert (message.namespace, message.access) == ("namespaces/default", namespace_pb2.ACCESS_WRITE)
    bad = namespace_pb2.GrantAccessRequest(name="x", principal="坏")
    assert _fields(namespace_convert.grant_access_from_proto, bad) == {"name", "principal", "access"}


@few
@given(durations)
def test_durations_come_back(length: timedelta) -> None:
    found = Violations()
    assert duration_from_proto(duration_to_proto(length), "d", found, high=timedelta(days=90)) == length
    found.raise_if_any()


@few
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1))
def test_odd_durations_are_refused_or_in_range(seconds: int, nanos: int) -> None:
    length = duration_from_proto(Duration(seconds=seconds, nanos=nanos), "d", Violations(), high=timedelta(days=9))
    assert timedelta(0) <= length <= timedelta(days=9)


_KEY = tenancy_calls.create_api_key(DEFAULTS, "agent", "write", namespaces=["a"], expires_at=NOW).request
_TENANT = tenancy_calls.update_tenant(DEFAULTS, "acme", display_name="公司", quotas=Quotas(1, 2, 3), etag='"1"').request
_NAMESPACE = tenancy_calls.update_namespace(DEFAULTS, public=True, forget_grace_period=timedelta(1), etag='"1"').request


@few
@given(mutated(_KEY), mutated(_TENANT), mutated(_NAMESPACE))
def test_garbage_never_raises_anything_else(key: bytes, tenant: bytes, namespace: bytes) -> None:
    convert_or_refuse(tenant_pb2.CreateApiKeyRequest, key, convert.create_api_key_from_proto)
    convert_or_refuse(tenant_pb2.UpdateTenantRequest, tenant, convert.update_tenant_from_proto)
    convert_or_refuse(tenant_pb2.CreateTenantRequest, tenant, convert.create_tenant_from_proto)
    convert_or_refuse(namespace_pb2.UpdateNamespaceRequest, namespace, namespace_convert.update_namespace_from_proto)
