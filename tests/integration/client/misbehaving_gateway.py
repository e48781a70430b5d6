"""A gateway that fails as told, to see what a client makes of it."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import grpc.aio
from google.protobuf import empty_pb2

from rearview.domain.errors import RearviewError
from rearview.v1 import (
    event_pb2,
    forget_pb2,
    memory_pb2,
    memory_service_pb2_grpc,
    namespace_pb2,
    namespace_pb2_grpc,
    recall_pb2,
    tenant_pb2,
    tenant_pb2_grpc,
)
from rearview.v1 import memory_service_pb2 as messages

MEMORY = f"namespaces/default/memories/{UUID(int=1)}"
PAGES = 3


class Gateway(
    memory_service_pb2_grpc.MemoryServiceServicer,
    namespace_pb2_grpc.NamespaceServiceServicer,
    tenant_pb2_grpc.TenantServiceServicer,
):
    """Keeps what arrived; before it answers it raises the errors of `failing`, one a call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []
        self.failing: list[RearviewError] = []
        self.hanging = False
        self.deadlines: list[float | None] = []
        self.lock = threading.Lock()

    def register(self, server: grpc.aio.Server) -> Sequence[str]:
        memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(self, server)
        namespace_pb2_grpc.add_NamespaceServiceServicer_to_server(self, server)
        tenant_pb2_grpc.add_TenantServiceServicer_to_server(self, server)
        return ["rearview.v1.MemoryService", "rearview.v1.NamespaceService", "rearview.v1.TenantService"]

    def requests(self, method: str) -> list[Any]:
        return [request for name, request, _ in self.calls if name == method]

    async def _arrive(self, method: str, request: Any, context: Any) -> None:
        metadata = dict(context.invocation_metadata() or ())
        with self.lock:
            self.calls.append((method, request, metadata))
            self.deadlines.append(context.time_remaining())
            failure = self.failing.pop(0) if self.failing else None
        if self.hanging:
            await asyncio.Event().wait()
        if failure is not None:
            raise failure


def _page(request: Any, kind: Any, **items: Any) -> Any:
    number = int(request.page_token or "1")
    return kind(next_page_token=str(number + 1) if number < PAGES else "", **items)


def _batch(request: Any) -> Any:
    response = messages.BatchRememberResponse()
    for single in request.requests:
        if single.memory.content:
            response.results.add(response=messages.RememberResponse(memory=single.memory))
        else:
            response.results.add(code=3, reason="INVALID_FIELD", message="memory.content: is required")
    return response


_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "AppendEvents": lambda request: messages.AppendEventsResponse(events=request.events),
    "EndSession": lambda request: event_pb2.Session(name=request.name),
    "Remember": lambda request: messages.RememberResponse(
        memory=request.memory, outcome=messages.REMEMBER_OUTCOME_CREATED
    ),
    "BatchRemember": lambda request: _batch(request),
    "GetMemory": lambda request: memory_pb2.Memory(name=request.name),
    "ListMemories": lambda request: _page(
        request, messages.ListMemoriesResponse, memories=[memory_pb2.Memory(name=MEMORY)] * 2
    ),
    "ListMemoryHistory": lambda request: _page(
        request, messages.ListMemoryHistoryResponse, memories=[memory_pb2.Memory(name=MEMORY)]
    ),
    "UpdateMemory": lambda request: request.memory,
    "UndoSupersession": lambda request: memory_pb2.Memory(name=request.name),
    "Recall": lambda request: recall_pb2.RecallResponse(context=request.query),
    "GetRecallTrace": lambda request: recall_pb2.RecallTrace(name=request.name),
    "Forget": lambda _: forget_pb2.ForgetReceipt(name=f"forgetReceipts/{UUID(int=2)}"),
    "GetForgetReceipt": lambda request: forget_pb2.ForgetReceipt(name=request.name),
    "Restore": lambda request: forget_pb2.ForgetReceipt(name=request.name, state=forget_pb2.FORGET_STATE_RESTORED),
    "GetWorkingMemory": lambda request: event_pb2.WorkingMemory(session=request.name),
    "ListEvents": lambda request: _page(request, messages.ListEventsResponse, events=[event_pb2.Event(content="在")]),
    "ListSessions": lambda request: _page(
        request, messages.ListSessionsResponse, sessions=[event_pb2.Session(name="s")]
    ),
    "GetCaptureTrace": lambda request: event_pb2.CaptureTrace(event=request.name),
    "CreateTenant": lambda _: tenant_pb2.CreateTenantResponse(secret="s"),
    "GetTenant": lambda request: tenant_pb2.Tenant(name=request.name),
    "ListTenants": lambda request: _page(
        request, tenant_pb2.ListTenantsResponse, tenants=[tenant_pb2.Tenant(name="t")]
    ),
    "UpdateTenant": lambda request: request.tenant,
    "DeleteTenant": lambda _: empty_pb2.Empty(),
    "CreateApiKey": lambda request: tenant_pb2.CreateApiKeyResponse(api_key=request.api_key, secret="s"),
    "ListApiKeys": lambda request: _page(
        request, tenant_pb2.ListApiKeysResponse, api_keys=[tenant_pb2.ApiKey(name="k")]
    ),
    "RotateApiKey": lambda _: tenant_pb2.CreateApiKeyResponse(secret="s2"),
    "RevokeApiKey": lambda request: tenant_pb2.ApiKey(name=request.name),
    "CreateNamespace": lambda request: namespace_pb2.Namespace(name=request.namespace_id),
    "GetNamespace": lambda request: namespace_pb2.Namespace(name=request.name),
    "ListNamespaces": lambda request: _page(
        request, namespace_pb2.ListNamespacesResponse, namespaces=[namespace_pb2.Namespace(name="n")]
    ),
    "UpdateNamespace": lambda request: request.namespace,
    "DeleteNamespace": lambda _: empty_pb2.Empty(),
    "GrantAccess": lambda request: namespace_pb2.AccessGrant(principal=request.principal),
    "RevokeAccess": lambda _: empty_pb2.Empty(),
    "Subscribe": lambda _: empty_pb2.Empty(),
    "Unsubscribe": lambda _: empty_pb2.Empty(),
}


def _method(name: str, answer: Callable[[Any], Any]) -> Callable[..., Any]:
    async def method(self: Gateway, request: Any, context: Any) -> Any:
        await self._arrive(name, request, context)
        return answer(request)

    return method


for _name, _answer in _ANSWERS.items():
    setattr(Gateway, _name, _method(_name, _answer))


def new_gateway() -> Gateway:
    """Return a gateway that answers well until it is told otherwise."""
    # Its methods are set above, where type checkers do not see them.
    return Gateway()  # type: ignore[abstract]
