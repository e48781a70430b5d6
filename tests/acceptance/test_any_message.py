"""Whatever message comes to whatever method: a typed answer, never a bug, a hang or a dead process."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rearview.client import Client, Turn
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from rearview.v1 import lifecycle_pb2, memory_service_pb2, namespace_pb2, tenant_pb2
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.client_steps import indexed, namespace_of
from tests.support.supervised_stack import SupervisedStack
from tests.support.wire import Metadata, bearer

EXAMPLES_PER_METHOD = 40
DEADLINE_SECONDS = 20.0
MOST_DEPTH = 4
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
BUGS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS}
HANGS = {grpc.StatusCode.DEADLINE_EXCEEDED}
AWAY = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
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

REACHED = {
    "AppendEvents",
    "Remember",
    "Recall",
    "ListMemories",
    "GetMemory",
    "UpdateMemory",
    "GetWorkingMemory",
    "ListEvents",
}

TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "\0", "a\0b", "预算", "%", "'; --", "../..", "[1]", "\u202e", "x" * 32_768, "长" * 4_096]
    ),
    st.text(max_size=20),
)
INT32 = st.sampled_from([0, 1, -1, 2, 100, 1000, 2**31 - 1, -(2**31)])
INT64 = st.sampled_from([0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)])
READABLE = st.sampled_from(["我的预算是八千", "the window faces south", "budget 是 8000 元", "SZ-88231-B", "上周"])
FITTING_TEXTS = {
    "request_id": st.just("") | st.builds(lambda: str(new_id())),
    "page_token": st.just(""),
    "confirmation_token": st.just(""),
    "etag": st.sampled_from(["", '"1"', '"2"']),
    "time_zone": st.sampled_from(["", "UTC", "Asia/Shanghai", "America/New_York"]),
    "profile": st.sampled_from(["", "assistant", "support", "task"]),
    "paths": st.sampled_from(["content", "priority", "pinned", "labels", "display_name", "expire_time"]),
    "additional_namespaces": st.just("namespaces/default"),
    "namespaces": st.just("namespaces/default"),
    "namespace_id": st.builds(lambda: f"any-{new_id().hex[-10:]}"),
    "tenant_id": st.builds(lambda: f"any-{new_id().hex[-10:]}"),
    "principal": st.sampled_from(["agent", "reader"]),
    "line": st.just("{}"),
}
FITS_UNSET = {"expire_time", "tool_call"}
"""A time in the future, and a part that fits some roles only."""

REQUIRED = {"name", "names", "parent", "events", "role", "content", "memory", "update_mask", "paths", "query"}
FLOATS = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1e-45, 3.4e38, math.inf, -math.inf, math.nan])


class Names:
    """Resource names that exist, and such names spoilt a little."""

    def __init__(self, client: Client) -> None:
        self.namespace = f"namespaces/{namespace_of(client)}"
        self.session = f"{self.namespace}/sessions/s"
        self.event = client.append_events("s", [Turn("user", "我的预算是八千。 My budget is 8,000.")]).events[0].name
        client.end_session("s")
        indexed(client)
        self.memory = client.remember("The window faces south. 窗户朝南。").memory.name
        gone = client.remember("to be forgotten").memory
        self.receipt = client.forget(memories=[gone.name]).name
        self.trace = client.recall("预算").trace
        self.exact = [self.namespace, self.session, self.event, self.memory, gone.name, self.receipt, self.trace]
        self.exact += [f"{self.namespace}/memories/{new_id()}", f"operations/{new_id()}", "apiKeys/abcdefgh", '"1"']

    def any(self) -> st.SearchStrategy[str]:
        """Return names as they are, with something put in, and cut."""
        spoilt = st.tuples(st.sampled_from(self.exact), st.integers(0, 120), TEXTS.filter(lambda text: len(text) < 99))
        return st.one_of(
            st.sampled_from(self.exact),
            spoilt.map(lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]),
            spoilt.map(lambda parts: parts[0][: parts[1]]),
        )

    def fitting(self, field: FieldDescriptor) -> str:
        """Return the name that belongs into a field."""
        assert field.containing_type is not None
        owner = field.containing_type.name
        if field.name == "session" or owner in ("EndSessionRequest", "GetWorkingMemoryRequest"):
            return self.session
        if field.name == "parent":
            return self.session if owner in ("AppendEventsRequest", "ListEventsRequest") else self.namespace
        by_owner = {
            "Event": f"{self.session}/events/{new_id()}",
            "GetCaptureTraceRequest": self.event,
            "GetRecallTraceRequest": self.trace,
            "GetForgetReceiptRequest": self.receipt,
            "RestoreRequest": self.receipt,
            "Memory": self.memory,
            "MemoryNames": self.memory,
            "RehydrateRequest": self.memory,
        }
        if owner in by_owner:
            return by_owner[owner]
        return self.memory if "Memory" in owner or "Supersession" in owner else self.namespace


class Fields:
    """Makes values of fields: fitting ones, extremes, and messages of both down to a depth."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._texts = st.one_of(names.any(), TEXTS)

    def wild(self, field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
        """Return extremes, unknown enumeration members, spoilt names, messages of such."""
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_MESSAGE:
            return self.message(message_type(field), depth - 1, wildness=0.7)
        if kind == FieldDescriptor.CPPTYPE_STRING:
            return st.binary(max_size=40) if field.type == FieldDescriptor.TYPE_BYTES else self._texts
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return st.sampled_from([*members(field), 99, -1, 2**31 - 1])
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return st.booleans()
        if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return FLOATS
        return INT32 if kind == FieldDescriptor.CPPTYPE_INT32 else INT64

    def fitting(self, field: FieldDescriptor, depth: int, wildness: float) -> st.SearchStrategy[Any]:
        """Return values with which a request may succeed."""
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_MESSAGE:
            return self.message(message_type(field), depth - 1, wildness)
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if field.name in ("name", "names", "parent", "session", "namespace"):
                return st.builds(self._names.fitting, st.just(field))
            return FITTING_TEXTS.get(field.name, READABLE)
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return st.sampled_from([number for number in members(field) if number] or [0])
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return st.booleans()
        if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return st.floats(0, 1, width=32)
        # Seconds of a timestamp, a page size, nanoseconds: small and positive fits all of them.
        return st.integers(0, 100)

    def message(self, descriptor: Descriptor, depth: int, wildness: float) -> st.SearchStrategy[Message]:
        """Return messages of a type with any subset of their fields set; each is wild with this probability."""
        make: Callable[[], Message] = GetMessageClass(descriptor)
        if depth <= 0:
            return st.builds(make)

        @st.composite
        def build(draw: st.DrawFn) -> Message:
            message = make()
            for field in descriptor.fields:
                # Without what is required nothing beyond the first check is reached.
                if draw(st.integers(0, 9)) >= (9 if field.name in REQUIRED else 4):
                    continue
                is_wild = draw(st.integers(0, 99)) < 100 * wildness
                if field.name in FITS_UNSET and not is_wild:
                    continue
                value = self.wild(field, depth) if is_wild else self.fitting(field, depth, wildness)
                if field.message_type is not None and field.message_type.GetOptions().map_entry:
                    self._fill_map(draw, getattr(message, field.name), field, depth, wildness)
                elif field.is_repeated:
                    getattr(message, field.name).extend(draw(st.lists(value, min_size=1, max_size=3)))
                elif field.message_type is not None:
                    getattr(message, field.name).CopyFrom(draw(value))
                else:
                    setattr(message, field.name, draw(value))
            return message

        return build()

    def _fill_map(self, draw: st.DrawFn, entries: Any, field: FieldDescriptor, depth: int, wildness: float) -> None:
        value_field = message_type(field).fields_by_name["value"]
        keys = TEXTS if draw(st.integers(0, 99)) < 100 * wildness else st.sampled_from(["a", "row", "k.1"])
        for key in draw(st.lists(keys, max_size=2)):
            value = draw(self.fitting(value_field, depth, wildness))
            if value_field.message_type is not None:
                entries[key].CopyFrom(value)
            else:
                entries[key] = value


def message_type(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None
    return field.message_type


def members(field: FieldDescriptor) -> list[int]:
    assert field.enum_type is not None
    return [value.number for value in field.enum_type.values]


@pytest.fixture(scope="module")
def names(admin: Client) -> Names:
    return Names(in_fresh_namespace(admin))


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


def send(channel: grpc.Channel, method: MethodDescriptor, octets: bytes, metadata: Metadata) -> grpc.StatusCode:
    """Send one request of any bytes; return the status code."""
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
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


bounded = settings(
    max_examples=EXAMPLES_PER_METHOD,
    deadline=None,
    database=None,
    derandomize=True,
    # Shrinking would ask again and again; the example as found says enough.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("full_name", METHODS)
def test_any_message_gets_a_typed_answer(
    channel: grpc.Channel, endpoints: Endpoints, names: Names, full_name: str
) -> None:
    method = METHODS[full_name]
    key = endpoints.operator_key if full_name in OPERATORS else endpoints.admin_key
    assert key is not None
    metadata = bearer(key)
    fields = Fields(names)
    answered: list[grpc.StatusCode] = []

    @bounded
    @given(
        request=st.one_of(
            *(fields.message(method.input_type, MOST_DEPTH, wildness) for wildness in (0.0, 0.0, 0.05, 0.5))
        )
    )
    def holds(request: Message) -> None:
        if full_name in NEVER and getattr(request, "name", "") != "":
            return
        spare_the_stack(request)
        code = send(channel, method, request.SerializeToString(), metadata)
        answered.append(code)
        assert code not in BUGS | HANGS | AWAY, f"{full_name} answered {code.name} to:\n{request}"

    holds()
    # A generator that never gets past the first check would test nothing.
    if full_name.rpartition(".")[2] in REACHED:
        assert grpc.StatusCode.OK in answered


def spare_the_stack(request: Message) -> None:
    """Keep a lucky example from disabling the first tenant, deleting the namespace, or filling memory."""
    if isinstance(request, namespace_pb2.DeleteNamespaceRequest):
        request.name = f"{request.name}-x"


@pytest.mark.parametrize("full_name", METHODS)
def test_any_bytes_get_a_typed_answer(channel: grpc.Channel, endpoints: Endpoints, full_name: str) -> None:
    method = METHODS[full_name]
    key = endpoints.operator_key if full_name in OPERATORS else endpoints.admin_key
    assert key is not None
    make: type[Message] = GetMessageClass(method.input_type)

    @settings(bounded, max_examples=5)
    @given(octets=st.binary(min_size=1, max_size=200))
    def holds(octets: bytes) -> None:
        try:
            make.FromString(octets)
        except DecodeError:
            assert send(channel, method, octets, bearer(key)) in (
                grpc.StatusCode.INVALID_ARGUMENT,
                grpc.StatusCode.UNIMPLEMENTED,
            )

    holds()


def test_every_method_of_every_public_service_is_covered() -> None:
    assert len(METHODS) == 55
    assert {service.full_name for service in PUBLIC} == {
        f"rearview.v1.{name}Service" for name in ("Memory", "Namespace", "Tenant", "Lifecycle")
    }


def test_no_log_tells_of_a_bug(stack: SupervisedStack, names: Names) -> None:
    """Runs last: what was answered well may still have been logged as a bug."""
    found: list[str] = []
    for file in stack.folder.logs.glob("*.log"):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        found += [f"{file.name}: {line[:400]}" for line in lines if "unexpected error" in line or "Traceback" in line]
    assert not found, json.dumps(found[:5], ensure_ascii=False, indent=1)
