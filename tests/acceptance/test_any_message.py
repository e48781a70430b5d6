"""Whatever comes to whatever method or tool: a typed answer, never a bug, a hang or a dead process.

`REARVIEW_FUZZ_INPUTS` sets how many inputs there are (`make fuzz` makes 110,000), `REARVIEW_FUZZ_SEED` which ones,
`REARVIEW_FUZZ_REPORT` a file for the result in one line of JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from rearview.mcp_adapter.tools import TOOLS
from rearview.v1 import lifecycle_pb2, memory_service_pb2, namespace_pb2, tenant_pb2
from tests.acceptance.conftest import in_fresh_namespace
from tests.acceptance.mcp_wire import WireSession, events, request
from tests.support.client_steps import namespace_of
from tests.support.fuzz.arguments import arguments
from tests.support.fuzz.messages import Messages
from tests.support.fuzz.names import Names
from tests.support.fuzz.octets import as_sent
from tests.support.fuzz.tally import Asked, Tally
from tests.support.fuzz.verdicts import fault_of_call, fault_of_tool
from tests.support.mcp_adapter import HttpAdapter
from tests.support.supervised_stack import SupervisedStack
from tests.support.wire import Metadata, bearer

INPUTS = int(os.environ.get("REARVIEW_FUZZ_INPUTS", "1240"))
SEED = os.environ.get("REARVIEW_FUZZ_SEED", "20260301")
DEADLINE_SECONDS = 20.0
AT_A_TIME = 4
A_BATCH = 200
BATCHES_A_NAMESPACE = 5
"""Then another namespace takes its place."""

TOOL_ANSWER = "tool answer"
SERVICES = ("gateway", "writer", "worker", "retriever", "lifecycle")
PUBLIC = [
    file.services_by_name[name]
    for file, name in (
        (memory_service_pb2.DESCRIPTOR, "MemoryService"),
        (namespace_pb2.DESCRIPTOR, "NamespaceService"),
        (tenant_pb2.DESCRIPTOR, "TenantService"),
        (lifecycle_pb2.DESCRIPTOR, "LifecycleService"),
    )
]
METHODS = {method.full_name: method for service in PUBLIC for method in service.methods}
NUMBERS = range(max(1, INPUTS // (len(METHODS) + len(TOOLS))))
OPERATORS = {
    method.full_name
    for method in tenant_pb2.DESCRIPTOR.services_by_name["TenantService"].methods
    if method.name.endswith(("Tenant", "Tenants"))
}
NEVER = {
    # Would end the fixture's tenant, its keys or its namespace in the middle of the test, or hold it.
    "rearview.v1.TenantService.DeleteTenant",
    "rearview.v1.NamespaceService.DeleteNamespace",
    "rearview.v1.LifecycleService.SetLegalHold",
    "rearview.v1.TenantService.UpdateTenant",
    "rearview.v1.TenantService.RevokeApiKey",
    "rearview.v1.TenantService.RotateApiKey",
}

# A generator that never gets past the first check would test nothing.
REACHED = {
    "AppendEvents",
    "Remember",
    "Recall",
    "ListMemories",
    "GetMemory",
    "UpdateMemory",
    "GetWorkingMemory",
    "ListEvents",
    "memory_write",
    "memory_search",
    "memory_context",
    "memory_append",
}


class Places:
    """Names of a namespace, and of another one after a while, so that none grows without end."""

    def __init__(self, admin: Client) -> None:
        self._admin = admin
        self._left = 0

    def names(self) -> Names:
        """Return the names for the next inputs."""
        if self._left == 0:
            self._names = Names(in_fresh_namespace(self._admin))
            self._left = BATCHES_A_NAMESPACE
        self._left -= 1
        return self._names


@pytest.fixture(scope="module")
def places(admin: Client) -> Places:
    return Places(admin)


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    tally = Tally(SEED)
    yield tally
    if "REARVIEW_FUZZ_REPORT" in os.environ:
        tally.write(Path(os.environ["REARVIEW_FUZZ_REPORT"]))


@pytest.fixture(scope="module")
def channel(endpoints: Endpoints) -> Iterator[grpc.Channel]:
    assert endpoints.gateway is not None
    with grpc.insecure_channel(endpoints.gateway) as channel:
        yield channel


@pytest.fixture(autouse=True)
def same_processes(stack: SupervisedStack) -> Iterator[None]:
    """No process may end."""
    before = stack.child_pids()
    yield
    assert stack.child_pids() == before


def send(channel: grpc.Channel, method: MethodDescriptor, octets: bytes, metadata: Metadata) -> tuple[str, str]:
    """Send one request of any bytes; return the name of the status code, and what is wrong with the answer."""
    kinds: dict[tuple[bool, bool], Callable[[str], Any]] = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }
    path = f"/{method.containing_service.full_name}/{method.name}"
    invoke = kinds[method.client_streaming, method.server_streaming](path)
    request = iter([octets, octets]) if method.client_streaming else octets
    try:
        answer = invoke(request, timeout=DEADLINE_SECONDS, metadata=metadata)
        if method.server_streaming:
            for _ in answer:
                pass
    except grpc.RpcError as error:
        return error.code().name, fault_of_call(method, octets, error)
    return grpc.StatusCode.OK.name, ""


@pytest.mark.parametrize("full_name", METHODS)
def test_any_message_gets_a_typed_answer(
    channel: grpc.Channel, endpoints: Endpoints, places: Places, tally: Tally, full_name: str
) -> None:
    method = METHODS[full_name]
    key = endpoints.operator_key if full_name in OPERATORS else endpoints.admin_key
    assert key is not None
    metadata = bearer(key)
    before, answered = len(tally.faults), set()

    def ask(number: int) -> Asked | None:
        random = Random(f"{SEED} {full_name} {number}")
        message = Messages(names, random).any(method.input_type)
        octets = as_sent(random, message.SerializeToString())
        if full_name in NEVER and names_something(method, octets):
            return None
        return Asked(number, *send(channel, method, octets, metadata), f"{message}\nas sent: {octets[:500]!r}")

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for first in NUMBERS[::A_BATCH]:
            names = places.names()
            for asked in filter(None, pool.map(ask, NUMBERS[first : first + A_BATCH])):
                answered.add(asked.answer)
                tally.note(asked, of=full_name)
    assert not tally.faults[before:]
    if full_name.rpartition(".")[2] in REACHED:
        assert grpc.StatusCode.OK.name in answered


def names_something(method: MethodDescriptor, octets: bytes) -> bool:
    """True for requests with a name, which may by luck be one that exists."""
    make: type[Message] = GetMessageClass(method.input_type)
    try:
        return bool(getattr(make.FromString(octets), "name", ""))
    except DecodeError:
        return False


@pytest.mark.parametrize("tool", TOOLS)
def test_any_arguments_get_a_typed_answer(
    mcp_adapter: HttpAdapter, endpoints: Endpoints, admin: Client, tally: Tally, tool: str
) -> None:
    schema = TOOLS[tool].published().input_schema
    before, answered = len(tally.faults), set()
    namespace = namespace_of(in_fresh_namespace(admin))
    with WireSession(mcp_adapter.url, endpoints.admin_key or "", namespace) as session:

        def ask(number: int) -> Asked:
            given = arguments(Random(f"{SEED} {tool} {number}"), schema)
            # As ASCII, so that lone surrogates arrive too; infinities and NaN as words that JSON does not have.
            body = json.dumps(request("tools/call", {"name": tool, "arguments": given}, number + 1))
            told = answer_in(session.post_text(body))
            return Asked(number, kind_of(told), fault_of_tool(told), body)

        with ThreadPoolExecutor(AT_A_TIME) as pool:
            for asked in pool.map(ask, NUMBERS):
                answered.add(asked.answer)
                tally.note(asked, of=tool)
    assert not tally.faults[before:]
    assert tool not in REACHED or TOOL_ANSWER in answered


def answer_in(answer: httpx.Response) -> Any:
    """Return the JSON-RPC answer, None when there is none."""
    if "text/event-stream" in answer.headers.get("content-type", ""):
        return next((event.data for event in events(answer) if event.data is not None), None)
    return answer.json() if answer.content else None


def kind_of(told: Any) -> str:
    if not isinstance(told, dict) or "result" not in told:
        return "protocol error"
    return "tool error" if told["result"].get("isError") else TOOL_ANSWER


def test_every_method_of_every_public_service_is_covered() -> None:
    assert len(METHODS) == 57
    assert {service.full_name for service in PUBLIC} == {
        f"rearview.v1.{name}Service" for name in ("Memory", "Namespace", "Tenant", "Lifecycle")
    }


def test_logs_tell_of_no_bug_and_stay_one_object_a_line(stack: SupervisedStack, mcp_adapter: HttpAdapter) -> None:
    """Runs last: what was answered well may still have been logged as a bug, or have broken a line."""
    logs = {file.name: file.read_text("utf-8", errors="replace") for file in stack.folder.logs.glob("*.log")}
    logs["mcp"] = mcp_adapter.log
    assert {f"{service}.log" for service in SERVICES} <= set(logs)
    found = [
        f"{name}: {line[:400]}"
        for name, text in logs.items()
        for line in text.split("\n")
        if "unexpected error" in line
        or "Traceback" in line
        or (line and name.removesuffix(".log") in (*SERVICES, "mcp") and not is_object(line))
    ]
    assert not found, json.dumps(found[:5], ensure_ascii=False, indent=1)


def is_object(line: str) -> bool:
    """True for a line that is one JSON object with what every log line has."""
    try:
        told = json.loads(line)
    except ValueError:
        return False
    return isinstance(told, dict) and {"event", "level", "timestamp"} <= told.keys()
