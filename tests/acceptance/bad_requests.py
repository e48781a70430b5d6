"""Requests that must be refused, by what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import grpc
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.client import Client
from rearview.domain.ids import new_id
from rearview.v1 import event_pb2, forget_pb2, memory_pb2, memory_service_pb2, namespace_pb2, recall_pb2, tenant_pb2

pb = memory_service_pb2
MAX_TEXT = 32_768
INVALID = grpc.StatusCode.INVALID_ARGUMENT


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace with something in it, and what is known about it."""

    client: Client
    namespace: str
    memory: memory_pb2.Memory
    event: event_pb2.Event
    used_request_id: str

    @property
    def parent(self) -> str:
        return f"namespaces/{self.namespace}"

    @property
    def session(self) -> str:
        return f"{self.parent}/sessions/s"

    def counts(self) -> tuple[int, int, int]:
        """How many sessions, events and memories there are, without facts, which are read out of memories."""
        memories = [m for m in self.client.list_memories() if m.type != memory_pb2.MEMORY_TYPE_FACT]
        return len(list(self.client.list_sessions())), len(list(self.client.list_events("s"))), len(memories)


def append(place: Place, *events: event_pb2.Event, **fields: object) -> pb.AppendEventsRequest:
    return pb.AppendEventsRequest(**{"parent": place.session, "events": events, **fields})  # type: ignore[arg-type]


def said(content: str = "hello", **fields: object) -> event_pb2.Event:
    return event_pb2.Event(**{"role": event_pb2.ROLE_USER, "content": content, **fields})  # type: ignore[arg-type]


def remember(place: Place, content: str = "hello", **fields: object) -> pb.RememberRequest:
    return pb.RememberRequest(
        parent=place.parent,
        memory=memory_pb2.Memory(content=content, **fields),  # type: ignore[arg-type]
    )


def recall(place: Place, query: str = "hello", **fields: object) -> recall_pb2.RecallRequest:
    return recall_pb2.RecallRequest(parent=place.parent, query=query, **fields)  # type: ignore[arg-type]


def update(place: Place, *paths: str, **fields: object) -> pb.UpdateMemoryRequest:
    return pb.UpdateMemoryRequest(
        memory=memory_pb2.Memory(name=place.memory.name, **fields),  # type: ignore[arg-type]
        update_mask=FieldMask(paths=paths),
    )


def deep(levels: int) -> Struct:
    value = Value(string_value="bottom")
    for _ in range(levels):
        value = Value(list_value=ListValue(values=[value]))
    return Struct(fields={"deep": value})


def in_future(days: float) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    return moment


Build = Callable[[Place], Message]

# What is wrong -> the method, the request, and the fields that must be named.
BAD_FIELDS: dict[str, tuple[str, Build, set[str]]] = {
    "append: nothing": ("AppendEvents", lambda p: append(p), {"events"}),
    "append: empty text": ("AppendEvents", lambda p: append(p, said("")), {"events[0].content"}),
    "append: blank text": ("AppendEvents", lambda p: append(p, said(" \n　")), {"events[0].content"}),
    "append: long text": ("AppendEvents", lambda p: append(p, said("长" * (MAX_TEXT + 1))), {"events[0].content"}),
    "append: NUL": ("AppendEvents", lambda p: append(p, said("a\0b")), {"events[0].content"}),
    "append: NUL in metadata": (
        "AppendEvents",
        lambda p: append(p, said(metadata=Struct(fields={"k": Value(string_value="a\0")}))),
        {"events[0].metadata"},
    ),
    "append: no role": ("AppendEvents", lambda p: append(p, said(role=0)), {"events[0].role"}),
    "append: unknown role": ("AppendEvents", lambda p: append(p, said(role=99)), {"events[0].role"}),
    "append: negative role": ("AppendEvents", lambda p: append(p, said(role=-1)), {"events[0].role"}),
    "append: far future": (
        "AppendEvents",
        lambda p: append(p, said(occurred_at=in_future(2))),
        {"events[0].occurred_at"},
    ),
    "append: before 1970": (
        "AppendEvents",
        lambda p: append(p, said(occurred_at=Timestamp(seconds=-1))),
        {"events[0].occurred_at"},
    ),
    "append: after 9999": (
        "AppendEvents",
        lambda p: append(p, said(occurred_at=Timestamp(seconds=2**62))),
        {"events[0].occurred_at"},
    ),
    "append: nanos of no second": (
        "AppendEvents",
        lambda p: append(p, said(occurred_at=Timestamp(seconds=1, nanos=2_000_000_000))),
        {"events[0].occurred_at"},
    ),
    "append: two events of one id": (
        "AppendEvents",
        lambda p: append(p, *[said(name=f"{p.session}/events/{p.event.name[-36:]}")] * 2),
        {"events"},
    ),
    "append: an event of another session": (
        "AppendEvents",
        lambda p: append(p, said(name=f"{p.parent}/sessions/other/events/{new_id()}")),
        {"events[0].name"},
    ),
    "append: 201 events": ("AppendEvents", lambda p: append(p, *[said()] * 201), {"events"}),
    "append: more than 1 MiB": ("AppendEvents", lambda p: append(p, *[said("字" * 30_000)] * 12), {"events"}),
    "append: request id that is none": ("AppendEvents", lambda p: append(p, said(), request_id="x"), {"request_id"}),
    "append: upper-case request id": (
        "AppendEvents",
        lambda p: append(p, said(), request_id=str(new_id()).upper()),
        {"request_id"},
    ),
    "append: session with a slash": ("AppendEvents", lambda p: append(p, said(), parent=f"{p.session}/x"), {"parent"}),
    "append: session with a blank": ("AppendEvents", lambda p: append(p, said(), parent=f"{p.session} x"), {"parent"}),
    "append: a namespace as the session": ("AppendEvents", lambda p: append(p, said(), parent=p.parent), {"parent"}),
    "append: no session": ("AppendEvents", lambda p: append(p, said(), parent=""), {"parent"}),
    "append: a tool call of the user": (
        "AppendEvents",
        lambda p: append(p, said(tool_call=event_pb2.ToolCall(tool="t"))),
        {"events[0].tool_call"},
    ),
    "append: a tool without a name": (
        "AppendEvents",
        lambda p: append(p, said(role=event_pb2.ROLE_TOOL, tool_call=event_pb2.ToolCall())),
        {"events[0].tool_call.tool"},
    ),
    "append: NaN in metadata": (
        "AppendEvents",
        lambda p: append(p, said(metadata=Struct(fields={"n": Value(number_value=math.nan)}))),
        {"events[0].metadata"},
    ),
    "append: deep metadata": ("AppendEvents", lambda p: append(p, said(metadata=deep(40))), {"events[0].metadata"}),
    "append: large metadata": (
        "AppendEvents",
        lambda p: append(p, said(metadata=Struct(fields={"k": Value(string_value="x" * 20_000)}))),
        {"events[0].metadata"},
    ),
    "append: long speaker": ("AppendEvents", lambda p: append(p, said(speaker="x" * 129)), {"events[0].speaker"}),
    "append: everything at once": (
        "AppendEvents",
        lambda p: append(p, said("", role=0, occurred_at=in_future(9)), said(speaker="\0"), parent="nowhere"),
        {"parent", "events[0].content", "events[0].role", "events[0].occurred_at", "events[1].speaker"},
    ),
    "remember: empty": ("Remember", lambda p: remember(p, ""), {"memory.content"}),
    "remember: long": ("Remember", lambda p: remember(p, "x" * (MAX_TEXT + 1)), {"memory.content"}),
    "remember: NUL": ("Remember", lambda p: remember(p, "\0"), {"memory.content"}),
    "remember: NaN": ("Remember", lambda p: remember(p, priority=math.nan), {"memory.priority"}),
    "remember: infinity": ("Remember", lambda p: remember(p, priority=math.inf), {"memory.priority"}),
    "remember: negative priority": ("Remember", lambda p: remember(p, priority=-0.1), {"memory.priority"}),
    "remember: priority above 1": ("Remember", lambda p: remember(p, priority=1.1), {"memory.priority"}),
    "remember: unknown type": ("Remember", lambda p: remember(p, type=77), {"memory.type"}),
    "remember: an episode": ("Remember", lambda p: remember(p, type=memory_pb2.MEMORY_TYPE_EPISODE), {"memory.type"}),
    "remember: expired": ("Remember", lambda p: remember(p, expire_time=in_future(-1)), {"memory.expire_time"}),
    "remember: far future": ("Remember", lambda p: remember(p, occurred_at=in_future(2)), {"memory.occurred_at"}),
    "remember: label key": ("Remember", lambda p: remember(p, labels={"Not A Key": "v"}), {"memory.labels"}),
    "remember: label value": ("Remember", lambda p: remember(p, labels={"k": "v" * 257}), {"memory.labels[k]"}),
    "remember: 65 labels": (
        "Remember",
        lambda p: remember(p, labels={f"k{n}": "" for n in range(65)}),
        {"memory.labels"},
    ),
    "remember: empty entity": (
        "Remember",
        lambda p: remember(p, entities=[memory_pb2.Entity(text="")]),
        {"memory.entities[0].text"},
    ),
    "remember: no parent": (
        "Remember",
        lambda p: pb.RememberRequest(memory=memory_pb2.Memory(content="x")),
        {"parent"},
    ),
    "remember: nothing": ("Remember", lambda p: pb.RememberRequest(), {"parent", "memory.content"}),
    "batch: empty": ("BatchRemember", lambda p: pb.BatchRememberRequest(parent=p.parent), {"requests"}),
    "batch: 101": (
        "BatchRemember",
        lambda p: pb.BatchRememberRequest(parent=p.parent, requests=[remember(p)] * 101),
        {"requests"},
    ),
    "update: no mask": ("UpdateMemory", lambda p: update(p, content="x"), {"update_mask"}),
    "update: unknown path": ("UpdateMemory", lambda p: update(p, "nonsense"), {"update_mask"}),
    "update: output path": ("UpdateMemory", lambda p: update(p, "state", "content", content="x"), {"update_mask"}),
    "update: wildcard": ("UpdateMemory", lambda p: update(p, "*"), {"update_mask"}),
    "update: empty text": ("UpdateMemory", lambda p: update(p, "content"), {"memory.content"}),
    "update: an etag of nobody": ("UpdateMemory", lambda p: update(p, "pinned", etag="W/abc"), {"memory.etag"}),
    "update: NaN": ("UpdateMemory", lambda p: update(p, "priority", priority=math.nan), {"memory.priority"}),
    "update: occurred never": ("UpdateMemory", lambda p: update(p, "occurred_at"), {"memory.occurred_at"}),
    "update: ends before it begins": (
        "UpdateMemory",
        lambda p: update(p, "valid_from", "valid_to", valid_from=Timestamp(seconds=20), valid_to=Timestamp(seconds=10)),
        {"memory.valid_to"},
    ),
    "recall: no query": ("Recall", lambda p: recall(p, ""), {"query"}),
    "recall: blank query": ("Recall", lambda p: recall(p, " 　"), {"query"}),
    "recall: query and dialogue": (
        "Recall",
        lambda p: recall(p, dialogue=[recall_pb2.QueryTurn(role=event_pb2.ROLE_USER, content="x")]),
        {"query"},
    ),
    "recall: long query": ("Recall", lambda p: recall(p, "问" * 4_097), {"query"}),
    "recall: NUL": ("Recall", lambda p: recall(p, "\0"), {"query"}),
    "recall: top_k -1": ("Recall", lambda p: recall(p, top_k=-1), {"top_k"}),
    "recall: top_k 101": ("Recall", lambda p: recall(p, top_k=101), {"top_k"}),
    "recall: top_k 2^31-1": ("Recall", lambda p: recall(p, top_k=2**31 - 1), {"top_k"}),
    "recall: no such zone": ("Recall", lambda p: recall(p, time_zone="Mars/Olympus_Mons"), {"time_zone"}),
    "recall: a zone as a path": ("Recall", lambda p: recall(p, time_zone="../../etc/passwd"), {"time_zone"}),
    "recall: no such profile": ("Recall", lambda p: recall(p, profile="nobody"), {"profile"}),
    "recall: no such route": ("Recall", lambda p: recall(p, disabled_routes=[99]), {"disabled_routes[0]"}),
    "recall: unset route": ("Recall", lambda p: recall(p, disabled_routes=[0]), {"disabled_routes[0]"}),
    "recall: NaN weight": (
        "Recall",
        lambda p: recall(p, rerank=recall_pb2.RerankOptions(weight=math.nan)),
        {"rerank.weight"},
    ),
    "recall: negative budget": ("Recall", lambda p: recall(p, context_token_budget=-1), {"context_token_budget"}),
    "recall: huge budget": ("Recall", lambda p: recall(p, context_token_budget=32_769), {"context_token_budget"}),
    "recall: 17 namespaces": (
        "Recall",
        lambda p: recall(p, additional_namespaces=[p.parent] * 17),
        {"additional_namespaces"},
    ),
    "recall: 65 turns": (
        "Recall",
        lambda p: recall(p, "", dialogue=[recall_pb2.QueryTurn(role=event_pb2.ROLE_USER, content="x")] * 65),
        {"dialogue"},
    ),
    "recall: a tool speaks": (
        "Recall",
        lambda p: recall(p, "", dialogue=[recall_pb2.QueryTurn(role=event_pb2.ROLE_TOOL, content="x")]),
        {"dialogue[0].role"},
    ),
    "recall: a filter that ends before it begins": (
        "Recall",
        lambda p: recall(
            p, filter=recall_pb2.MemoryFilter(start_time=Timestamp(seconds=20), end_time=Timestamp(seconds=10))
        ),
        {"filter.end_time"},
    ),
    "recall: unknown type in the filter": (
        "Recall",
        lambda p: recall(p, filter=recall_pb2.MemoryFilter(types=[55])),  # type: ignore[list-item]
        {"filter.types[0]"},
    ),
    "recall: a session of another namespace": (
        "Recall",
        lambda p: recall(p, session="namespaces/default/sessions/s"),
        {"session"},
    ),
    "recall: reference before the calendar": (
        "Recall",
        lambda p: recall(p, reference_time=Timestamp(seconds=-(2**60))),
        {"reference_time"},
    ),
    "list: negative page size": (
        "ListMemories",
        lambda p: pb.ListMemoriesRequest(parent=p.parent, page_size=-1),
        {"page_size"},
    ),
    "list: page size 1001": (
        "ListMemories",
        lambda p: pb.ListMemoriesRequest(parent=p.parent, page_size=1001),
        {"page_size"},
    ),
    "list: unknown view": ("ListMemories", lambda p: pb.ListMemoriesRequest(parent=p.parent, view=9), {"view"}),  # type: ignore[arg-type]
    "list: unknown state": (
        "ListMemories",
        lambda p: pb.ListMemoriesRequest(parent=p.parent, states=[9]),  # type: ignore[list-item]
        {"states[0]"},
    ),
    "list: the forgotten": (
        "ListMemories",
        lambda p: pb.ListMemoriesRequest(parent=p.parent, states=[memory_pb2.MEMORY_STATE_TOMBSTONED]),
        {"states"},
    ),
    "events: negative page size": (
        "ListEvents",
        lambda p: pb.ListEventsRequest(parent=p.session, page_size=-5),
        {"page_size"},
    ),
    "working memory: 201 turns": (
        "GetWorkingMemory",
        lambda p: pb.GetWorkingMemoryRequest(name=p.session, max_turns=201),
        {"max_turns"},
    ),
    "get: an id that is none": ("GetMemory", lambda p: pb.GetMemoryRequest(name=f"{p.parent}/memories/1"), {"name"}),
    "get: a very long name": ("GetMemory", lambda p: pb.GetMemoryRequest(name="namespaces/" * 1000), {"name"}),
    "forget: nothing": ("Forget", lambda p: forget_pb2.ForgetRequest(parent=p.parent), {"target"}),
    "forget: no names": (
        "Forget",
        lambda p: forget_pb2.ForgetRequest(parent=p.parent, memories=forget_pb2.MemoryNames()),
        {"memories.names"},
    ),
    "forget: long reason": (
        "Forget",
        lambda p: forget_pb2.ForgetRequest(parent=p.parent, session=p.session, reason="x" * 501),
        {"reason"},
    ),
    "forget: a session of another namespace": (
        "Forget",
        lambda p: forget_pb2.ForgetRequest(parent=p.parent, session="namespaces/default/sessions/s"),
        {"session"},
    ),
    "trace: an id that is none": (
        "GetRecallTrace",
        lambda p: recall_pb2.GetRecallTraceRequest(name="recallTraces/1"),
        {"name"},
    ),
    "key: no such role": (
        "rearview.v1.TenantService/CreateApiKey",
        lambda p: tenant_pb2.CreateApiKeyRequest(api_key=tenant_pb2.ApiKey(principal="a", role=9)),  # type: ignore[arg-type]
        {"api_key.role"},
    ),
    "key: an odd principal": (
        "rearview.v1.TenantService/CreateApiKey",
        lambda p: tenant_pb2.CreateApiKeyRequest(
            api_key=tenant_pb2.ApiKey(principal="A B", role=tenant_pb2.PRINCIPAL_ROLE_READ)
        ),
        {"api_key.principal"},
    ),
    "namespace: an odd id": (
        "rearview.v1.NamespaceService/CreateNamespace",
        lambda p: namespace_pb2.CreateNamespaceRequest(namespace_id="大写"),
        {"namespace_id"},
    ),
}


# What is wrong -> the method, the request, the code, the reason, and metadata that must be there.
OTHER_REASONS: dict[str, tuple[str, Build, grpc.StatusCode, str, dict[str, str]]] = {
    "an unknown namespace": (
        "Recall",
        lambda p: recall_pb2.RecallRequest(parent="namespaces/nowhere", query="x"),
        grpc.StatusCode.PERMISSION_DENIED,
        "NAMESPACE_DENIED",
        {"namespace": "nowhere", "access": "read"},
    ),
    "an unknown namespace to write": (
        "Remember",
        lambda p: pb.RememberRequest(parent="namespaces/nowhere", memory=memory_pb2.Memory(content="x")),
        grpc.StatusCode.PERMISSION_DENIED,
        "NAMESPACE_DENIED",
        {"namespace": "nowhere", "access": "write"},
    ),
    "an unknown session": (
        "ListEvents",
        lambda p: pb.ListEventsRequest(parent=f"{p.parent}/sessions/none"),
        grpc.StatusCode.NOT_FOUND,
        "RESOURCE_NOT_FOUND",
        {},
    ),
    "a noise page token": (
        "ListMemories",
        lambda p: pb.ListMemoriesRequest(parent=p.parent, page_token="noise"),
        INVALID,
        "INVALID_PAGE_TOKEN",
        {},
    ),
    "a page token with Chinese": (
        "ListEvents",
        lambda p: pb.ListEventsRequest(parent=p.session, page_token="第二页"),
        INVALID,
        "INVALID_PAGE_TOKEN",
        {},
    ),
    "a request id that stands for something else": (
        "AppendEvents",
        lambda p: append(p, said("something else"), request_id=p.used_request_id),
        INVALID,
        "REQUEST_ID_REUSED",
        {},
    ),
    "a request id of another method": (
        "Remember",
        lambda p: pb.RememberRequest(
            parent=p.parent, memory=memory_pb2.Memory(content="我住在杭州。"), request_id=p.used_request_id
        ),
        INVALID,
        "REQUEST_ID_REUSED",
        {},
    ),
    "an event id that another session has": (
        "AppendEvents",
        lambda p: append(
            p,
            said(name=f"{p.parent}/sessions/t/events/{p.event.name[-36:]}"),
            parent=f"{p.parent}/sessions/t",
        ),
        grpc.StatusCode.ALREADY_EXISTS,
        "RESOURCE_EXISTS",
        {},
    ),
    "a namespace that exists": (
        "rearview.v1.NamespaceService/CreateNamespace",
        lambda p: namespace_pb2.CreateNamespaceRequest(namespace_id=p.namespace),
        grpc.StatusCode.ALREADY_EXISTS,
        "RESOURCE_EXISTS",
        {},
    ),
    "a stale etag": (
        "UpdateMemory",
        lambda p: update(p, "pinned", etag='"999"'),
        grpc.StatusCode.ABORTED,
        "ETAG_MISMATCH",
        {},
    ),
    "a confirmation token of no preview": (
        "Forget",
        lambda p: forget_pb2.ForgetRequest(parent=p.parent, session=p.session, confirmation_token="x"),
        INVALID,
        "INVALID_CONFIRMATION_TOKEN",
        {},
    ),
}
