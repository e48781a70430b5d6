"""Who may call what: every method of the public API, called with a key of every role."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
import grpc.aio
import pytest
import pytest_asyncio
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor

from rearview.domain.errors import FeatureNotOffered, RoleInsufficient
from rearview.gateway.app import SERVED
from tests.support.grpc_errors import failure_of
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

METHODS: list[MethodDescriptor] = [
    method for name in SERVED for method in descriptor_pool.Default().FindServiceByName(name).methods
]
# Written down once more, so that a rule that is changed by mistake does not change what is expected of it.
OPERATOR = {"CreateTenant", "GetTenant", "ListTenants", "UpdateTenant", "DeleteTenant"}
READ = {
    *("GetMemory", "ListMemories", "Recall", "GetRecallTrace", "GetForgetReceipt", "ListMemoryHistory"),
    *("ExportMemories", "GetWorkingMemory", "ListEvents", "ListSessions", "GetCaptureTrace"),
    *("GetNamespace", "ListNamespaces", "Subscribe", "Unsubscribe", "GetNamespacePolicy"),
}
WRITE = READ | {
    *("AppendEvents", "EndSession", "Remember", "BatchRemember", "UpdateMemory", "Forget", "Restore"),
    *("UndoSupersession", "ImportMemories"),
    *("CreateNamespace", "UpdateNamespace", "DeleteNamespace", "GrantAccess", "RevokeAccess"),
}
ADMIN = WRITE | {
    *("RevealRedacted", "UpdateNamespacePolicy", "CreateApiKey", "ListApiKeys", "RotateApiKey", "RevokeApiKey"),
    *("GetPolicy", "UpdatePolicy", "ExportSubject", "GetTierStats", "RunSweep", "GetOperation", "Rehydrate"),
    *(
        "SetLegalHold",
        "ListLegalHolds",
        "ListModelGenerations",
        "StartReembedding",
        "RescanRedactions",
        "ListDeadLetters",
        "ReplayDeadLetter",
    ),
    *("ListAuditRecords", "VerifyAudit"),
}
MATRIX: Mapping[str, set[str]] = {"operator": OPERATOR, "admin": ADMIN, "write": WRITE, "read": READ}


@pytest_asyncio.fixture(scope="module")
async def gateway(module_database: DatabaseUrls) -> AsyncIterator[RunningGateway]:
    """One gateway for all methods; requests without a field change nothing."""
    async with running_gateway(module_database) as running:
        yield running


@pytest_asyncio.fixture(scope="module")
async def keys(gateway: RunningGateway) -> Mapping[str, str]:
    """A key of each role."""
    admin = await gateway.new_tenant("acme")
    return {
        "operator": OPERATOR_KEY,
        "admin": admin,
        "write": await gateway.new_key(admin, "writer", "WRITE"),
        "read": await gateway.new_key(admin, "reader", "READ"),
    }


def test_the_matrix_knows_every_method() -> None:
    assert {method.name for method in METHODS} == OPERATOR | ADMIN


@pytest.mark.parametrize("role", MATRIX)
async def test_a_role_opens_its_methods_and_no_other(
    gateway: RunningGateway, keys: Mapping[str, str], role: str
) -> None:
    refused = set()
    for method in METHODS:
        error = await outcome(gateway.channel, method, keys[role])
        if isinstance(error, RoleInsufficient):
            refused.add(method.name)
            assert error.metadata["role"] == role
            assert error.metadata["method"].endswith(f"/{method.name}")
    assert refused == {method.name for method in METHODS} - MATRIX[role]


async def outcome(channel: Any, method: MethodDescriptor, key: str) -> Exception | None:
    """Return the error with which an empty request to a method ends, None if it does not fail."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    options: dict[str, Any] = {"metadata": bearer(key), "timeout": 30}
    answer: Any = None
    if method.client_streaming:
        answer = channel.stream_unary(path)(iter([b""]), **options)
    elif method.server_streaming:
        answer = _first(channel.unary_stream(path)(b"", **options))
    else:
        answer = channel.unary_unary(path)(b"", **options)
    try:
        await answer
    except grpc.aio.AioRpcError as error:
        code, told = await failure_of(_raising(error))
        assert code is not grpc.StatusCode.INTERNAL
        assert code is not grpc.StatusCode.UNIMPLEMENTED or isinstance(told, FeatureNotOffered)
        return told
    return None


async def _first(stream: Any) -> None:
    async for _ in stream:
        return


async def _raising(error: grpc.aio.AioRpcError) -> None:
    raise error
