from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from rearview.client import event_calls
from rearview.client.call import Defaults
from rearview.client.turn import ToolCall as SentToolCall
from rearview.client.turn import Turn
from rearview.domain.errors import InvalidFields
from rearview.domain.event import CaptureOutcome, CaptureTrace, Event, EventRole, Session, ToolCall, WorkingTurn
from rearview.domain.names import EventName
from rearview.rpc.convert import events as convert
from rearview.rpc.convert.violations import Violations
from rearview.v1 import event_pb2, memory_service_pb2
from tests.unit.rpc.garbage import convert_or_refuse, mutated
from tests.unit.rpc.strategies import (
    NOW,
    few,
    fractions,
    json_trees,
    moments,
    optional_texts,
    past_moments,
    sessions,
    texts,
)

DEFAULTS = Defaults("default", 10)

tool_calls = st.builds(
    ToolCall, tool=texts, call_id=optional_texts, arguments=json_trees, result=optional_texts, failed=st.booleans()
)
stored_events = st.builds(
    Event,
    event_id=st.uuids(),
    role=st.sampled_from(EventRole),
    content=optional_texts,
    occurred_at=moments,
    speaker=optional_texts,
    tool_call=st.none() | tool_calls,
    image_caption=optional_texts,
    metadata=json_trees,
    redactions=st.lists(st.sampled_from(["PHONE", "EMAIL"]), max_size=2).map(tuple),
    sequence=st.integers(0, 2**40),
    created_at=st.none() | moments,
)
turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant", "system", "document"]),
    content=texts,
    speaker=optional_texts,
    occurred_at=st.none() | past_moments,
    image_caption=optional_texts,
    metadata=json_trees,
    event_id=st.just("") | st.uuids().map(str),
)


def violations_of(request: memory_service_pb2.AppendEventsRequest) -> dict[str, str]:
    with pytest.raises(InvalidFields) as error:
        convert.append_events_from_proto(request, NOW)
    return {v.field: v.description for v in error.value.violations}


@few
@given(stored_events, sessions)
def test_an_event_comes_back_as_it_went(event: Event, session: str) -> None:
    found = Violations()
    assert convert.event_from_proto(convert.event_to_proto(event, "default", session), "event", found) == event
    found.raise_if_any()


@few
@given(st.lists(turns, min_size=1, max_size=5, unique_by=lambda t: t.event_id or object()), sessions, st.uuids())
def test_what_a_client_appends_arrives(sent: list[Turn], session: str, request_id: UUID) -> None:
    request = event_calls.append_events(DEFAULTS, session, sent, request_id=request_id).request
    assert isinstance(request, memory_service_pb2.AppendEventsRequest)
    append = convert.append_events_from_proto(request, NOW)
    assert (append.namespace, append.session_id) == ("default", session)
    assert append.request is not None
    assert (append.request.request_id, append.request.method) == (request_id, "AppendEvents")
    for turn, event in zip(sent, append.events, strict=True):
        assert (event.role.name.lower(), event.content, event.speaker, event.image_caption, event.metadata) == (
            turn.role,
            turn.content,
            turn.speaker,
            turn.image_caption,
            turn.metadata,
        )
        assert event.occurred_at == (turn.occurred_at or NOW)
        assert not turn.event_id or str(event.event_id) == turn.event_id
    assert len({event.event_id for event in append.events}) == len(sent)


@few
@given(tool_calls)
def test_a_tool_call_arrives(call: ToolCall) -> None:
    sent = Turn("tool", tool_call=SentToolCall(call.tool, call.result, call.arguments, call.call_id, call.failed))
    request = event_calls.append_events(DEFAULTS, "s1", [sent]).request
    assert isinstance(request, memory_service_pb2.AppendEventsRequest)
    assert convert.append_events_from_proto(request, NOW).events[0].tool_call == call


_APPEND = event_calls.append_events(
    DEFAULTS,
    "s1",
    [
        Turn("user", "我的预算是一万 today", "李雷", NOW, metadata={"a": {"b": [1, None]}}, event_id=str(UUID(int=1))),
        Turn("tool", tool_call=SentToolCall("search", "结果", {"q": "x"}, "c1", True)),
    ],
    request_id=UUID(int=2),
).request


@few
@given(mutated(_APPEND))
def test_garbage_never_raises_anything_else(octets: bytes) -> None:
    convert_or_refuse(
        memory_service_pb2.AppendEventsRequest, octets, lambda r: convert.append_events_from_proto(r, NOW)
    )


@few
@given(
    role=st.integers(-(2**31), 2**31 - 1),
    seconds=st.integers(-(2**63), 2**63 - 1),
    nanos=st.integers(-(2**31), 2**31 - 1),
    number=st.floats(),
    name=st.text(max_size=80),
)
def test_odd_numbers_and_times_never_raise_anything_else(
    role: int, seconds: int, nanos: int, number: float, name: str
) -> None:
    event = event_pb2.Event(
        role=event_pb2.Role.ValueType(role),
        content="在吗 hello",
        name=name,
        occurred_at=Timestamp(seconds=seconds, nanos=nanos),
    )
    event.metadata.fields["x"].number_value = number
    request = memory_service_pb2.AppendEventsRequest(parent=name, events=[event], request_id=name)
    with pytest.raises(InvalidFields):
        convert.append_events_from_proto(request, NOW)


def test_all_violations_are_told_at_once() -> None:
    request = memory_service_pb2.AppendEventsRequest(parent="namespaces/A/sessions/s", request_id="1")
    request.events.add(role=event_pb2.ROLE_UNSPECIFIED, content="  ")
    request.events.add(role=event_pb2.Role.ValueType(99), content="含\0字符", speaker="说" * 129)
    request.events.add(role=event_pb2.ROLE_USER, content="长" * 32_769, image_caption="c" * 4_097)
    request.events[2].occurred_at.FromDatetime(NOW + timedelta(hours=25))
    request.events[2].tool_call.tool = ""
    found = violations_of(request)
    assert set(found) == {
        "parent",
        "request_id",
        "events[0].role",
        "events[0].content",
        "events[1].role",
        "events[1].content",
        "events[1].speaker",
        "events[2].content",
        "events[2].image_caption",
        "events[2].occurred_at",
        "events[2].tool_call",
        "events[2].tool_call.tool",
    }
    assert found["events[0].role"] == "is required"
    assert "99" in found["events[1].role"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_json_are_refused_however_deep(bad: float) -> None:
    request = memory_service_pb2.AppendEventsRequest(parent="namespaces/a/sessions/s")
    event = request.events.add(role=event_pb2.ROLE_USER, content="x")
    event.metadata.update({"list": [{"深": 1.0}]})
    event.metadata.fields["list"].list_value.values[0].struct_value.fields["深"].number_value = bad
    assert set(violations_of(request)) == {"events[0].metadata"}


def test_metadata_has_a_size_and_a_depth() -> None:
    request = memory_service_pb2.AppendEventsRequest(parent="namespaces/a/sessions/s")
    request.events.add(role=event_pb2.ROLE_USER, content="x").metadata.update({"k": "字" * 5_462})
    assert "16384" in violations_of(request)["events[0].metadata"]
    del request.events[:]
    struct = request.events.add(role=event_pb2.ROLE_USER, content="x").metadata
    for _ in range(17):
        struct = struct.fields["d"].struct_value
    struct.fields["end"].bool_value = True
    assert "deeper" in violations_of(request)["events[0].metadata"]


def test_there_are_limits_on_number_and_size_of_events() -> None:
    request = memory_service_pb2.AppendEventsRequest(parent="namespaces/a/sessions/s")
    assert set(violations_of(request)) == {"events"}
    request.events.extend([event_pb2.Event(role=event_pb2.ROLE_USER, content="好")] * 201)
    assert "201" in violations_of(request)["events"]
    del request.events[:]
    request.events.extend([event_pb2.Event(role=event_pb2.ROLE_USER, content="字" * 32_768)] * 11)
    assert "1048576" in violations_of(request)["events"]
    del request.events[10:]
    assert len(convert.append_events_from_proto(request, NOW).events) == 10


def test_event_names_are_of_the_session_and_differ() -> None:
    name = "namespaces/a/sessions/s/events/01890a5d-ac96-774b-bcce-b302099a8057"
    request = memory_service_pb2.AppendEventsRequest(parent="namespaces/a/sessions/s")
    request.events.extend([event_pb2.Event(name=name, role=event_pb2.ROLE_USER, content="x")] * 2)
    assert set(violations_of(request)) == {"events"}
    request.parent = "namespaces/a/sessions/other"
    del request.events[1:]
    assert set(violations_of(request)) == {"events[0].name"}


def test_sessions_working_memory_and_traces_are_told_in_full() -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
    session = convert.session_to_proto(Session("s1", start, end, end, 7, 5), "a")
    assert session.name == "namespaces/a/sessions/s1"
    assert session.start_time.ToDatetime(UTC) == start
    assert session.end_time.ToDatetime(UTC) == end
    assert (session.event_count, session.indexed_event_count) == (7, 5)
    assert not convert.session_to_proto(Session("s1", start, end, None, 0, 0), "a").HasField("end_time")

    event = Event(UUID(int=1), EventRole.USER, "我叫李雷, hi", start)
    memory = convert.working_memory_to_proto([WorkingTurn(event, 0.5)], "a", "s1", end)
    assert memory.turns[0].event.content == "我叫李雷, hi"
    assert memory.turns[0].importance == 0.5
    assert memory.expire_time.ToDatetime(UTC) == end

    name = EventName("a", "s1", UUID(int=1))
    trace = convert.capture_trace_to_proto(
        CaptureTrace(
            CaptureOutcome.KEPT, "0.4 >= 0.05", 0.25, (UUID(int=2),), (UUID(int=3),), ("PHONE",), {"embed": 2.5}, end
        ),
        name,
    )
    assert (trace.event, trace.outcome) == (str(name), event_pb2.CAPTURE_OUTCOME_KEPT)
    assert list(trace.memories) == [f"namespaces/a/memories/{UUID(int=2)}"]
    assert list(trace.superseded) == [f"namespaces/a/memories/{UUID(int=3)}"]
    assert dict(trace.stage_milliseconds) == {"embed": 2.5}


@few
@given(fractions, st.sampled_from(list(CaptureOutcome)))
def test_enumerations_have_the_numbers_of_the_messages(importance: float, outcome: CaptureOutcome) -> None:
    trace = convert.capture_trace_to_proto(CaptureTrace(outcome, "", importance), EventName("a", "s", UUID(int=1)))
    assert event_pb2.CaptureOutcome.Name(trace.outcome) == f"CAPTURE_OUTCOME_{outcome.name}"
    assert trace.importance == importance
