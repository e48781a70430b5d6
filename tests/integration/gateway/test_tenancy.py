"""Tenants, keys and namespaces through the public API."""

import uuid
from collections.abc import Awaitable
from datetime import timedelta

import grpc
import psycopg
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.domain import errors
from rearview.v1 import memory_service_pb2, namespace_pb2, recall_pb2, tenant_pb2
from tests.support.grpc_errors import code_of, failure_of
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer
from tests.support.stack import DatabaseUrls

AS_OPERATOR = bearer(OPERATOR_KEY)


async def test_a_new_tenant_has_a_namespace_and_a_key_that_works(gateway: RunningGateway) -> None:
    created = await gateway.tenants.CreateTenant(
        tenant_pb2.CreateTenantRequest(tenant_id="acme", tenant=tenant_pb2.Tenant(display_name="Acme 公司")),
        metadata=AS_OPERATOR,
    )
    assert created.tenant.name == "tenants/acme"
    assert created.tenant.display_name == "Acme 公司"
    assert (created.api_key.principal, created.api_key.role) == ("admin", tenant_pb2.PRINCIPAL_ROLE_ADMIN)
    assert created.api_key.name.removeprefix("apiKeys/") in created.secret
    listed = await gateway.namespaces.ListNamespaces(
        namespace_pb2.ListNamespacesRequest(), metadata=bearer(created.secret)
    )
    assert [(n.name, n.owner) for n in listed.namespaces] == [("namespaces/default", "admin")]


async def test_a_repeated_create_tenant_returns_it_without_the_secret(gateway: RunningGateway) -> None:
    request = tenant_pb2.CreateTenantRequest(tenant_id="acme", request_id=str(uuid.uuid4()))
    first = await gateway.tenants.CreateTenant(request, metadata=AS_OPERATOR)
    again = await gateway.tenants.CreateTenant(request, metadata=AS_OPERATOR)
    assert (again.tenant, again.api_key, again.secret) == (first.tenant, first.api_key, "")
    request.tenant_id = "other"
    code, error = await failure_of(gateway.tenants.CreateTenant(request, metadata=AS_OPERATOR))
    assert (code, type(error)) == (grpc.StatusCode.INVALID_ARGUMENT, errors.RequestIdReused)
    code, error = await failure_of(
        gateway.tenants.CreateTenant(tenant_pb2.CreateTenantRequest(tenant_id="acme"), metadata=AS_OPERATOR)
    )
    assert (code, type(error)) == (grpc.StatusCode.ALREADY_EXISTS, errors.AlreadyExists)


async def test_tenants_are_listed_in_pages_and_changed_under_their_etag(gateway: RunningGateway) -> None:
    for name in ("beta", "alpha", "gamma"):
        await gateway.new_tenant(name)
    request = tenant_pb2.ListTenantsRequest(page_size=2)
    first = await gateway.tenants.ListTenants(request, metadata=AS_OPERATOR)
    request.page_token = first.next_page_token
    second = await gateway.tenants.ListTenants(request, metadata=AS_OPERATOR)
    assert [t.name for t in (*first.tenants, *second.tenants)] == ["tenants/alpha", "tenants/beta", "tenants/gamma"]
    assert second.next_page_token == ""
    changes = tenant_pb2.UpdateTenantRequest(
        tenant=tenant_pb2.Tenant(
            name="tenants/beta", etag=first.tenants[1].etag, quotas=tenant_pb2.Quotas(max_memories=7)
        ),
        update_mask=FieldMask(paths=["quotas"]),
    )
    changed = await gateway.tenants.UpdateTenant(changes, metadata=AS_OPERATOR)
    assert changed.quotas.max_memories == 7
    code, error = await failure_of(gateway.tenants.UpdateTenant(changes, metadata=AS_OPERATOR))
    assert (code, type(error)) == (grpc.StatusCode.ABORTED, errors.EtagMismatch)
    read = await gateway.tenants.GetTenant(tenant_pb2.GetTenantRequest(name="tenants/beta"), metadata=AS_OPERATOR)
    assert read == changed


async def test_a_page_token_is_good_for_its_own_method_only(gateway: RunningGateway) -> None:
    for name in ("alpha", "beta"):
        await gateway.new_tenant(name)
    page = await gateway.tenants.ListTenants(tenant_pb2.ListTenantsRequest(page_size=1), metadata=AS_OPERATOR)
    admin = await gateway.new_tenant("gamma")
    request = namespace_pb2.ListNamespacesRequest(page_token=page.next_page_token)
    code, error = await failure_of(gateway.namespaces.ListNamespaces(request, metadata=bearer(admin)))
    assert (code, type(error)) == (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidPageToken)


async def test_a_disabled_tenant_is_refused_at_once_and_let_in_again(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    for disabled in (True, False):
        await gateway.tenants.UpdateTenant(
            tenant_pb2.UpdateTenantRequest(
                tenant=tenant_pb2.Tenant(name="tenants/acme", disabled=disabled),
                update_mask=FieldMask(paths=["disabled"]),
            ),
            metadata=AS_OPERATOR,
        )
        call = gateway.namespaces.ListNamespaces(namespace_pb2.ListNamespacesRequest(), metadata=bearer(admin))
        if disabled:
            code, error = await failure_of(call)
            assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.TenantDisabled)
        else:
            await call


async def test_a_deleted_tenant_is_disabled_for_good_and_others_are_not(
    gateway: RunningGateway, database: DatabaseUrls
) -> None:
    admin, other = await gateway.new_tenant("acme"), await gateway.new_tenant("other")
    request = tenant_pb2.DeleteTenantRequest(name="tenants/acme")
    code, _ = await failure_of(gateway.tenants.DeleteTenant(request, metadata=bearer(admin)))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO legal_hold (tenant_id, hold_id, namespace_id, scope, target, principal, created_at)"
            " SELECT tenant_id, gen_random_uuid(), gen_random_uuid(), 'namespace', '', 'chief', now() FROM tenant"
            " WHERE name = 'acme'"
        )
        code, error = await failure_of(gateway.tenants.DeleteTenant(request, metadata=AS_OPERATOR))
        assert (code, type(error)) == (grpc.StatusCode.FAILED_PRECONDITION, errors.LegalHold)
        await gateway.namespaces.ListNamespaces(namespace_pb2.ListNamespacesRequest(), metadata=bearer(admin))
        connection.execute("DELETE FROM legal_hold")
    for _ in range(2):
        await gateway.tenants.DeleteTenant(request, metadata=AS_OPERATOR)
    enable = tenant_pb2.UpdateTenantRequest(
        tenant=tenant_pb2.Tenant(name="tenants/acme", disabled=False), update_mask=FieldMask(paths=["disabled"])
    )
    updated = await gateway.tenants.UpdateTenant(enable, metadata=AS_OPERATOR)
    assert updated.disabled
    assert updated.HasField("delete_time")
    assert not updated.HasField("erase_time")
    code, error = await failure_of(
        gateway.namespaces.ListNamespaces(namespace_pb2.ListNamespacesRequest(), metadata=bearer(admin))
    )
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.TenantDisabled)
    await gateway.namespaces.ListNamespaces(namespace_pb2.ListNamespacesRequest(), metadata=bearer(other))
    with psycopg.connect(database.superuser) as connection:
        jobs = connection.execute("SELECT task_name, args ->> 'tenant_id' FROM procrastinate_jobs").fetchall()
        deleted = connection.execute("SELECT tenant_id::text FROM tenant WHERE deleted_at IS NOT NULL").fetchall()
    assert jobs == [("erase_tenant", deleted[0][0])]
    request.name = "tenants/nobody"
    code, _ = await failure_of(gateway.tenants.DeleteTenant(request, metadata=AS_OPERATOR))
    assert code is grpc.StatusCode.NOT_FOUND


async def test_a_key_brings_its_principal_a_private_namespace(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    request = tenant_pb2.CreateApiKeyRequest(
        api_key=tenant_pb2.ApiKey(principal="helper.bot", role=tenant_pb2.PRINCIPAL_ROLE_WRITE),
        request_id=str(uuid.uuid4()),
    )
    created = await gateway.tenants.CreateApiKey(request, metadata=bearer(admin))
    again = await gateway.tenants.CreateApiKey(request, metadata=bearer(admin))
    assert (again.api_key, again.secret) == (created.api_key, "")
    listed = await gateway.namespaces.ListNamespaces(
        namespace_pb2.ListNamespacesRequest(), metadata=bearer(created.secret)
    )
    assert [(n.name, n.owner) for n in listed.namespaces] == [("namespaces/helper-bot", "helper.bot")]


async def test_keys_expire_rotate_and_end(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    listing = namespace_pb2.ListNamespacesRequest()
    old = await gateway.new_key(admin, "helper")
    name = "apiKeys/" + old.split("_")[1]
    rotated = await gateway.tenants.RotateApiKey(tenant_pb2.RotateApiKeyRequest(name=name), metadata=bearer(admin))
    assert rotated.api_key.principal == "helper"
    for key in (old, rotated.secret):
        await gateway.namespaces.ListNamespaces(listing, metadata=bearer(key))
    at_once = tenant_pb2.RotateApiKeyRequest(name=name, overlap=Duration())
    await gateway.tenants.RotateApiKey(at_once, metadata=bearer(admin))
    code, error = await failure_of(gateway.namespaces.ListNamespaces(listing, metadata=bearer(old)))
    assert (code, type(error)) == (grpc.StatusCode.UNAUTHENTICATED, errors.CredentialExpired)
    assert "expire_time" in error.metadata
    code, error = await failure_of(gateway.tenants.RotateApiKey(at_once, metadata=bearer(admin)))
    assert error.metadata["state"] == "expired"
    revoked = await gateway.tenants.RevokeApiKey(
        tenant_pb2.RevokeApiKeyRequest(name=rotated.api_key.name), metadata=bearer(admin)
    )
    assert revoked.HasField("revoke_time")
    code, error = await failure_of(gateway.namespaces.ListNamespaces(listing, metadata=bearer(rotated.secret)))
    assert (code, type(error)) == (grpc.StatusCode.UNAUTHENTICATED, errors.CredentialInvalid)
    keys = await gateway.tenants.ListApiKeys(tenant_pb2.ListApiKeysRequest(), metadata=bearer(admin))
    assert len(keys.api_keys) == 4
    assert not any(secret.split("_")[2] in str(keys) for secret in (admin, old, rotated.secret))


async def test_a_key_cannot_be_made_expired(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    request = tenant_pb2.CreateApiKeyRequest(
        api_key=tenant_pb2.ApiKey(
            principal="helper", role=tenant_pb2.PRINCIPAL_ROLE_READ, expire_time=Timestamp(seconds=1_000_000_000)
        )
    )
    code, error = await failure_of(gateway.tenants.CreateApiKey(request, metadata=bearer(admin)))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, errors.InvalidFields)
    assert [v.field for v in error.violations] == ["api_key.expire_time"]


async def test_a_limited_key_cannot_make_or_take_one_that_reaches_further(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    limited = await gateway.new_key(admin, "deputy", "ADMIN", namespaces=("default",))
    await gateway.new_key(limited, "clerk", namespaces=("default",))
    for namespaces in ((), ("namespaces/default", "namespaces/deputy")):
        request = tenant_pb2.CreateApiKeyRequest(
            api_key=tenant_pb2.ApiKey(principal="clerk", role=tenant_pb2.PRINCIPAL_ROLE_ADMIN, namespaces=namespaces)
        )
        code, error = await failure_of(gateway.tenants.CreateApiKey(request, metadata=bearer(limited)))
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)
    rotate = tenant_pb2.RotateApiKeyRequest(name="apiKeys/" + admin.split("_")[1])
    code, _ = await failure_of(gateway.tenants.RotateApiKey(rotate, metadata=bearer(limited)))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    revoke = tenant_pb2.RevokeApiKeyRequest(name="apiKeys/" + admin.split("_")[1])
    code, _ = await failure_of(gateway.tenants.RevokeApiKey(revoke, metadata=bearer(limited)))
    assert code is grpc.StatusCode.PERMISSION_DENIED


async def test_access_follows_ownership_grants_visibility_and_role(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    owner, other = await gateway.new_key(admin, "owner"), await gateway.new_key(admin, "other")
    name = "namespaces/owner"

    async def may(key: str, access: str) -> bool:
        call: Awaitable[object] = (
            gateway.memories.ListSessions(memory_service_pb2.ListSessionsRequest(parent=name), metadata=bearer(key))
            if access == "read"
            else gateway.memories.EndSession(
                memory_service_pb2.EndSessionRequest(name=f"{name}/sessions/s1"), metadata=bearer(key)
            )
        )
        return await code_of(call) is not grpc.StatusCode.PERMISSION_DENIED

    assert [await may(key, "write") for key in (owner, admin, other)] == [True, True, False]
    assert not await may(other, "read")
    for access, writes in ((namespace_pb2.ACCESS_READ, False), (namespace_pb2.ACCESS_WRITE, True)):
        await gateway.namespaces.GrantAccess(
            namespace_pb2.GrantAccessRequest(name=name, principal="other", access=access), metadata=bearer(owner)
        )
        assert (await may(other, "read"), await may(other, "write")) == (True, writes)
    await gateway.namespaces.RevokeAccess(
        namespace_pb2.RevokeAccessRequest(name=name, principal="other"), metadata=bearer(owner)
    )
    assert not await may(other, "read")
    publish = namespace_pb2.UpdateNamespaceRequest(
        namespace=namespace_pb2.Namespace(name=name, visibility=namespace_pb2.VISIBILITY_PUBLIC),
        update_mask=FieldMask(paths=["visibility"]),
    )
    code, error = await failure_of(gateway.namespaces.UpdateNamespace(publish, metadata=bearer(owner)))
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.RoleInsufficient)
    await gateway.namespaces.UpdateNamespace(publish, metadata=bearer(admin))
    assert (await may(other, "read"), await may(other, "write")) == (True, False)


async def test_only_owners_and_admins_change_a_namespace(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    await gateway.new_key(admin, "owner")
    friend = await gateway.new_key(admin, "friend")
    await gateway.namespaces.GrantAccess(
        namespace_pb2.GrantAccessRequest(
            name="namespaces/owner", principal="friend", access=namespace_pb2.ACCESS_WRITE
        ),
        metadata=bearer(admin),
    )
    code, error = await failure_of(
        gateway.namespaces.DeleteNamespace(
            namespace_pb2.DeleteNamespaceRequest(name="namespaces/owner"), metadata=bearer(friend)
        )
    )
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)
    assert error.metadata == {"namespace": "owner", "access": "own"}


async def test_unknown_and_forbidden_namespaces_are_not_told_apart(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    await gateway.new_key(admin, "owner")
    nosy = await gateway.new_key(admin, "nosy")
    told = []
    for name in ("owner", "zzzzz"):
        code, error = await failure_of(
            gateway.namespaces.GetNamespace(
                namespace_pb2.GetNamespaceRequest(name=f"namespaces/{name}"), metadata=bearer(nosy)
            )
        )
        told.append((code, error.reason, error.message.replace(name, "?"), error.metadata["access"]))
    assert told[0] == told[1]
    assert told[0][:2] == (grpc.StatusCode.PERMISSION_DENIED, "NAMESPACE_DENIED")


async def test_namespaces_of_one_name_in_two_tenants_have_nothing_in_common(gateway: RunningGateway) -> None:
    first, second = await gateway.new_tenant("acme"), await gateway.new_tenant("umbrella")
    request = namespace_pb2.CreateNamespaceRequest(
        namespace_id="plans", namespace=namespace_pb2.Namespace(display_name="机密 plans")
    )
    await gateway.namespaces.CreateNamespace(request, metadata=bearer(first))
    code, _ = await failure_of(
        gateway.namespaces.GetNamespace(
            namespace_pb2.GetNamespaceRequest(name="namespaces/plans"), metadata=bearer(second)
        )
    )
    assert code is grpc.StatusCode.PERMISSION_DENIED
    await gateway.namespaces.CreateNamespace(request, metadata=bearer(second))
    revoke = tenant_pb2.RevokeApiKeyRequest(name="apiKeys/" + first.split("_")[1])
    code, _ = await failure_of(gateway.tenants.RevokeApiKey(revoke, metadata=bearer(second)))
    assert code is grpc.StatusCode.NOT_FOUND


async def test_namespace_lifecycle(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    request = namespace_pb2.CreateNamespaceRequest(
        namespace_id="team",
        namespace=namespace_pb2.Namespace(forget_grace_period=Duration(seconds=0)),
        request_id=str(uuid.uuid4()),
    )
    created = await gateway.namespaces.CreateNamespace(request, metadata=admin)
    assert await gateway.namespaces.CreateNamespace(request, metadata=admin) == created
    assert created.forget_grace_period.ToTimedelta() == timedelta(0)
    request.request_id = str(uuid.uuid4())
    code, _ = await failure_of(gateway.namespaces.CreateNamespace(request, metadata=admin))
    assert code is grpc.StatusCode.ALREADY_EXISTS
    update = namespace_pb2.UpdateNamespaceRequest(
        namespace=namespace_pb2.Namespace(name=created.name, display_name="团队", etag=created.etag),
        update_mask=FieldMask(paths=["display_name"]),
    )
    updated = await gateway.namespaces.UpdateNamespace(update, metadata=admin)
    assert (updated.display_name, updated.forget_grace_period) == ("团队", created.forget_grace_period)
    code, error = await failure_of(gateway.namespaces.UpdateNamespace(update, metadata=admin))
    assert (code, type(error)) == (grpc.StatusCode.ABORTED, errors.EtagMismatch)
    delete = namespace_pb2.DeleteNamespaceRequest(name=created.name)
    await gateway.namespaces.DeleteNamespace(delete, metadata=admin)
    code, _ = await failure_of(gateway.namespaces.DeleteNamespace(delete, metadata=admin))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    request.request_id = ""
    await gateway.namespaces.CreateNamespace(request, metadata=admin)


@pytest.mark.parametrize("force", [False, True])
async def test_a_namespace_that_holds_something_is_deleted_by_force_only(
    gateway: RunningGateway, database: DatabaseUrls, force: bool
) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    with psycopg.connect(database.superuser) as connection:
        connection.execute(
            "INSERT INTO event (tenant_id, namespace_id, event_id, session_id, sequence, role, content, occurred_at,"
            " created_at) SELECT tenant_id, namespace_id, gen_random_uuid(), 's', 1, 1, '你好', now(), now()"
            " FROM namespace WHERE name = 'default'"
        )
    request = namespace_pb2.DeleteNamespaceRequest(name="namespaces/default", force=force)
    if force:
        await gateway.namespaces.DeleteNamespace(request, metadata=admin)
    code, error = await failure_of(gateway.namespaces.DeleteNamespace(request, metadata=admin))
    if force:
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)
    else:
        assert (code, type(error)) == (grpc.StatusCode.FAILED_PRECONDITION, errors.NamespaceNotEmpty)
    with psycopg.connect(database.superuser) as connection:
        kinds = connection.execute("SELECT kind FROM operation").fetchall()
    assert kinds == ([("erase_namespace",)] if force else [])


async def test_a_recall_also_searches_what_its_principal_subscribed_to(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    await gateway.namespaces.CreateNamespace(
        namespace_pb2.CreateNamespaceRequest(
            namespace_id="handbook", namespace=namespace_pb2.Namespace(visibility=namespace_pb2.VISIBILITY_PUBLIC)
        ),
        metadata=bearer(admin),
    )
    agent = bearer(await gateway.new_key(admin, "agent"))
    recall = recall_pb2.RecallRequest(parent="namespaces/agent", query="报销 policy")
    await gateway.memories.Recall(recall, metadata=agent)
    assert list(gateway.retriever.last.caller.namespaces) == ["agent"]
    await gateway.namespaces.Subscribe(namespace_pb2.SubscribeRequest(name="namespaces/handbook"), metadata=agent)
    await gateway.memories.Recall(recall, metadata=agent)
    assert list(gateway.retriever.last.request.request.additional_namespaces) == ["namespaces/handbook"]
    assert sorted(gateway.retriever.last.caller.namespaces) == ["agent", "handbook"]
    await gateway.namespaces.UpdateNamespace(
        namespace_pb2.UpdateNamespaceRequest(
            namespace=namespace_pb2.Namespace(name="namespaces/handbook", visibility=namespace_pb2.VISIBILITY_PRIVATE),
            update_mask=FieldMask(paths=["visibility"]),
        ),
        metadata=bearer(admin),
    )
    await gateway.memories.Recall(recall, metadata=agent)
    assert list(gateway.retriever.last.caller.namespaces) == ["agent"]


async def test_changes_leave_audit_records_and_raise_epochs(gateway: RunningGateway, database: DatabaseUrls) -> None:
    admin = await gateway.new_tenant("acme")
    await gateway.new_key(admin, "friend")
    grant = namespace_pb2.GrantAccessRequest(
        name="namespaces/default", principal="friend", access=namespace_pb2.ACCESS_READ
    )
    await gateway.namespaces.GrantAccess(grant, metadata=(*bearer(admin), ("x-request-id", "req-7")))
    await gateway.namespaces.RevokeAccess(
        namespace_pb2.RevokeAccessRequest(name="namespaces/default", principal="friend"), metadata=bearer(admin)
    )
    with psycopg.connect(database.superuser) as connection:
        records = connection.execute(
            "SELECT action, principal, resource_names[1], request_id = 'req-7' FROM audit_record ORDER BY record_id"
        ).fetchall()
        epoch = connection.execute(
            "SELECT sum(breaking) FROM namespace_epoch e JOIN namespace n USING (tenant_id, namespace_id)"
            " WHERE n.name = 'default'"
        ).fetchone()
    assert [(action, principal) for action, principal, _, _ in records] == [
        ("create_tenant", "operator"),
        ("create_api_key", "admin"),
        ("grant_access", "admin"),
        ("revoke_access", "admin"),
    ]
    assert records[2][2:] == ("namespaces/default", True)
    assert epoch == (2,)
