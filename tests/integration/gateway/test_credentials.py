"""Credentials as they arrive: good, bad and ugly."""

from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rearview.domain import errors
from rearview.v1 import lifecycle_pb2, memory_service_pb2, namespace_pb2, tenant_pb2
from tests.support.grpc_errors import failure_of
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer

LISTING = namespace_pb2.ListNamespacesRequest()


async def test_the_key_may_come_in_either_header(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    for metadata in (bearer(admin), (("authorization", f"bEARER  {admin}"),), (("x-api-key", admin),)):
        await gateway.namespaces.ListNamespaces(LISTING, metadata=metadata)


async def test_without_a_credential_nobody_gets_in(gateway: RunningGateway) -> None:
    for call in (
        gateway.namespaces.ListNamespaces(LISTING),
        gateway.memories.GetMemory(memory_service_pb2.GetMemoryRequest(name="not even a name")),
        gateway.tenants.ListTenants(tenant_pb2.ListTenantsRequest()),
        gateway.lifecycles.VerifyAudit(lifecycle_pb2.VerifyAuditRequest()),
    ):
        code, error = await failure_of(call)
        assert (code, type(error)) == (grpc.StatusCode.UNAUTHENTICATED, errors.CredentialMissing)
    assert not gateway.retriever.calls


async def test_every_bad_credential_gets_the_same_answer(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    _, key_id, secret = admin.split("_")
    operator_id, operator_secret = OPERATOR_KEY.split("_", 2)[1:]
    bad: list[Any] = [
        bearer(f"rv_{key_id}_{secret[:-1]}{'0' if secret[-1] != '0' else '1'}"),
        bearer(f"rv_{'a' * 16}_{secret}"),
        bearer(f"rv_{key_id}_{operator_secret}"),
        bearer(f"rv_{operator_id}_{secret}"),
        bearer(""),
        bearer("rv__"),
        bearer(admin.upper()),
        bearer(admin + " "[:0] + "x" * 200),
        bearer("x" * 4_000),
        bearer("rv_" + key_id + "_' OR 1=1 --" + "x" * 43),
        (("authorization", "Basic dXNlcjpwYXNz"),),
        (("authorization", ""),),
        (("authorization", "Bearer"),),
        (("x-api-key", ""),),
        (("authorization", f"Bearer {admin}"), ("authorization", f"Bearer {admin}")),
        (("authorization", f"Bearer {admin}"), ("x-api-key", admin)),
    ]
    answers = set()
    for metadata in bad:
        code, error = await failure_of(gateway.namespaces.ListNamespaces(LISTING, metadata=metadata))
        answers.add((code, error.reason, error.message))
    assert answers == {
        (
            grpc.StatusCode.UNAUTHENTICATED,
            "CREDENTIAL_INVALID",
            "the credential is unknown, malformed or revoked",
        )
    }


@pytest.mark.parametrize(
    ("role", "allowed"), [("READ", [True, False, False]), ("WRITE", [True, True, False]), ("ADMIN", [True, True, True])]
)
async def test_roles(gateway: RunningGateway, role: str, allowed: list[bool]) -> None:
    admin = await gateway.new_tenant("acme")
    key = bearer(await gateway.new_key(admin, "agent", role))
    session = "namespaces/agent/sessions/s1"
    calls: list[Awaitable[object]] = [
        gateway.memories.GetWorkingMemory(memory_service_pb2.GetWorkingMemoryRequest(name=session), metadata=key),
        gateway.memories.EndSession(memory_service_pb2.EndSessionRequest(name=session), metadata=key),
        gateway.lifecycles.ListAuditRecords(lifecycle_pb2.ListAuditRecordsRequest(), metadata=key),
    ]
    for call, may in zip(calls, allowed, strict=True):
        if may:
            await call
            continue
        code, error = await failure_of(call)
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.RoleInsufficient)
        assert error.metadata["role"] == role.lower()
        assert set(error.metadata) == {"method", "required_role", "role"}


async def test_the_operator_reaches_no_tenant_and_no_tenant_is_the_operator(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    for call in (
        gateway.tenants.ListTenants(tenant_pb2.ListTenantsRequest(), metadata=admin),
        gateway.namespaces.ListNamespaces(LISTING, metadata=bearer(OPERATOR_KEY)),
        gateway.memories.ListSessions(
            memory_service_pb2.ListSessionsRequest(parent="namespaces/default"), metadata=bearer(OPERATOR_KEY)
        ),
        gateway.tenants.ListApiKeys(tenant_pb2.ListApiKeysRequest(), metadata=bearer(OPERATOR_KEY)),
    ):
        code, error = await failure_of(call)
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.RoleInsufficient)


async def test_a_limited_key_reaches_its_namespaces_only(gateway: RunningGateway) -> None:
    admin = await gateway.new_tenant("acme")
    limited = bearer(await gateway.new_key(admin, "admin", "ADMIN", namespaces=("default",)))
    await gateway.new_key(admin, "other")
    listed = await gateway.namespaces.ListNamespaces(LISTING, metadata=limited)
    assert [n.name for n in listed.namespaces] == ["namespaces/default"]
    for call in (
        gateway.memories.ListSessions(
            memory_service_pb2.ListSessionsRequest(parent="namespaces/other"), metadata=limited
        ),
        gateway.namespaces.CreateNamespace(namespace_pb2.CreateNamespaceRequest(namespace_id="new"), metadata=limited),
        gateway.lifecycles.GetTierStats(lifecycle_pb2.GetTierStatsRequest(), metadata=limited),
        gateway.lifecycles.ListAuditRecords(lifecycle_pb2.ListAuditRecordsRequest(), metadata=limited),
    ):
        code, error = await failure_of(call)
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)
    await gateway.lifecycles.GetTierStats(
        lifecycle_pb2.GetTierStatsRequest(namespace="namespaces/default"), metadata=limited
    )


async def test_health_is_open_to_everybody(gateway: RunningGateway) -> None:
    stub: Any = health_pb2_grpc.HealthStub(gateway.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service="rearview.v1.MemoryService"))
    assert answer.status in (health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING)
