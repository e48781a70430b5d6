"""Events, sessions, working memory and capture traces."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from rearview.domain.event import (
    MAX_APPEND_BYTES,
    MAX_CAPTION_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_EVENTS_PER_APPEND,
    MAX_METADATA_BYTES,
    MAX_SPEAKER_CHARACTERS,
    CaptureTrace,
    Event,
    EventRole,
    Session,
    ToolCall,
    WorkingTurn,
)
from rearview.domain.ids import new_id
from rearview.domain.names import EventName, MemoryName, SessionName, parse_event, parse_session
from rearview.domain.paging import PageRequest
from rearview.domain.writing import AppendEvents
from rearview.rpc.convert.requests import NIL, page_from_proto, request_key_from_proto
from rearview.rpc.convert.structs import size_of, struct_from_proto, struct_to_proto
from rearview.rpc.convert.times import optional_time_to_proto, past_from_proto, time_from_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import event_pb2, memory_service_pb2

MAX_TOOL_NAME_CHARACTERS = 128
MAX_CALL_ID_CHARACTERS = 256
MAX_ARGUMENTS_BYTES = 32_768
MAX_WORKING_TURNS = 200
DEFAULT_WORKING_TURNS = 20

_ROLES_WITH_TOOLS = (EventRole.TOOL, EventRole.ASSISTANT)
_NO_SESSION = SessionName("", "")


def append_events_from_proto(request: memory_service_pb2.AppendEventsRequest, now: datetime) -> AppendEvents:
    """Return the turns to append; events without a name get a new id, events without a time get `now`.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    session = found.attempt(_NO_SESSION, parse_session, request.parent, "parent")
    if not 1 <= len(request.events) <= MAX_EVENTS_PER_APPEND:
        found.add("events", f"has {len(request.events)} events; from 1 to {MAX_EVENTS_PER_APPEND} are allowed")
    events = tuple(
        _new_event(event, f"events[{index}]", session, now, found)
        for index, event in enumerate(request.events[:MAX_EVENTS_PER_APPEND])
    )
    if len({event.event_id for event in events}) < len(events):
        found.add("events", "two of them have the same name")
    size_bytes = sum(_size_bytes(event) for event in events)
    if size_bytes > MAX_APPEND_BYTES:
        found.add("events", f"have {size_bytes} bytes of text together; at most {MAX_APPEND_BYTES} are allowed")
    key = request_key_from_proto(request, request.request_id, found)
    found.raise_if_any()
    return AppendEvents(namespace=session.namespace, session_id=session.session, events=events, request=key)


def event_from_proto(event: event_pb2.Event, field: str, found: Violations) -> Event:
    """Return a stored event as it stands in an answer; the inverse of `event_to_proto`."""
    name = found.attempt(EventName("", "", NIL), parse_event, event.name, f"{field}.name")
    return Event(
        event_id=name.event,
        role=found.member(EventRole, event.role, f"{field}.role"),
        content=found.text(event.content, f"{field}.content", max_characters=MAX_CONTENT_CHARACTERS),
        occurred_at=time_from_proto(event.occurred_at, f"{field}.occurred_at", found),
        speaker=found.text(event.speaker, f"{field}.speaker", max_characters=MAX_SPEAKER_CHARACTERS),
        tool_call=_tool_call(event.tool_call, f"{field}.tool_call", found) if event.HasField("tool_call") else None,
        image_caption=found.text(event.image_caption, f"{field}.image_caption", max_characters=MAX_CAPTION_CHARACTERS),
        metadata=struct_from_proto(event.metadata, f"{field}.metadata", found, max_bytes=MAX_METADATA_BYTES),
        redactions=tuple(event.redactions),
        sequence=event.sequence,
        created_at=time_from_proto(event.create_time, f"{field}.create_time", found)
        if event.HasField("create_time")
        else None,
    )


def event_to_proto(event: Event, namespace: str, session_id: str, *, with_metadata: bool = True) -> event_pb2.Event:
    """Return the event's message."""
    return event_pb2.Event(
        name=str(EventName(namespace, session_id, event.event_id)),
        role=event_pb2.Role.ValueType(event.role),
        speaker=event.speaker,
        content=event.content,
        tool_call=_tool_call_to_proto(event.tool_call) if event.tool_call else None,
        occurred_at=time_to_proto(event.occurred_at),
        image_caption=event.image_caption,
        metadata=struct_to_proto(event.metadata) if with_metadata and event.metadata else None,
        sequence=event.sequence,
        create_time=optional_time_to_proto(event.created_at),
        redactions=event.redactions,
    )


def session_to_proto(session: Session, namespace: str) -> event_pb2.Session:
    """Return the session's message."""
    return event_pb2.Session(
        name=str(SessionName(namespace, session.session_id)),
        start_time=time_to_proto(session.started_at),
        last_event_time=time_to_proto(session.last_event_at),
        end_time=optional_time_to_proto(session.ended_at),
        event_count=session.event_count,
        indexed_event_count=session.indexed_count,
    )


def working_memory_to_proto(
    turns: Iterable[WorkingTurn], namespace: str, session_id: str, expires_at: datetime | None = None
) -> event_pb2.WorkingMemory:
    """Return the message of a session's last turns, oldest first; `expires_at` is None when there is nothing."""
    return event_pb2.WorkingMemory(
        session=str(SessionName(namespace, session_id)),
        turns=[
            event_pb2.WorkingTurn(event=event_to_proto(turn.event, namespace, session_id), importance=turn.importance)
            for turn in turns
        ],
        expire_time=optional_time_to_proto(expires_at),
    )


def working_memory_from_proto(request: memory_service_pb2.GetWorkingMemoryRequest) -> tuple[SessionName, int]:
    """Return the session and how many turns are wanted at most. Raises: InvalidFields."""
    found = Violations()
    name = found.attempt(_NO_SESSION, parse_session, request.name, "name")
    turns = found.whole(request.max_turns, "max_turns", default=DEFAULT_WORKING_TURNS, low=1, high=MAX_WORKING_TURNS)
    found.raise_if_any()
    return name, turns


def list_events_from_proto(
    request: memory_service_pb2.ListEventsRequest, key: bytes
) -> tuple[SessionName, PageRequest]:
    """Return the session and the page. Raises: InvalidFields; InvalidPageToken."""
    found = Violations()
    name = found.attempt(_NO_SESSION, parse_session, request.parent, "parent")
    page = page_from_proto(request, request.page_size, request.page_token, key, found)
    found.raise_if_any()
    return name, page


def capture_trace_to_proto(trace: CaptureTrace, event: EventName) -> event_pb2.CaptureTrace:
    """Return the message that says what became of an event."""
    return event_pb2.CaptureTrace(
        event=str(event),
        outcome=event_pb2.CaptureOutcome.ValueType(trace.outcome),
        reason=trace.reason,
        importance=trace.importance,
        memories=[str(MemoryName(event.namespace, memory_id)) for memory_id in trace.memory_ids],
        superseded=[str(MemoryName(event.namespace, memory_id)) for memory_id in trace.superseded_ids],
        redactions=trace.redactions,
        stage_milliseconds=trace.stage_milliseconds,
        index_time=optional_time_to_proto(trace.indexed_at),
    )


def _new_event(event: event_pb2.Event, field: str, session: SessionName, now: datetime, found: Violations) -> Event:
    role = found.member(EventRole, event.role, f"{field}.role")
    tool_call = None
    if event.HasField("tool_call"):
        tool_call = _tool_call(event.tool_call, f"{field}.tool_call", found)
        if role not in _ROLES_WITH_TOOLS:
            found.add(f"{field}.tool_call", "only events of the roles TOOL and ASSISTANT have one")
    return Event(
        event_id=_event_id(event.name, f"{field}.name", session, now, found),
        role=role,
        content=found.text(
            event.content,
            f"{field}.content",
            max_characters=MAX_CONTENT_CHARACTERS,
            required=tool_call is None,
        ),
        occurred_at=past_from_proto(event.occurred_at, f"{field}.occurred_at", found, now)
        if event.HasField("occurred_at")
        else now,
        speaker=found.text(event.speaker, f"{field}.speaker", max_characters=MAX_SPEAKER_CHARACTERS),
        tool_call=tool_call,
        image_caption=found.text(event.image_caption, f"{field}.image_caption", max_characters=MAX_CAPTION_CHARACTERS),
        metadata=struct_from_proto(event.metadata, f"{field}.metadata", found, max_bytes=MAX_METADATA_BYTES),
    )


def _event_id(name: str, field: str, session: SessionName, now: datetime, found: Violations) -> UUID:
    if not name:
        return new_id(int(now.timestamp() * 1000))
    parsed = found.attempt(EventName("", "", NIL), parse_event, name, field)
    if (
        parsed.event != NIL
        and session is not _NO_SESSION
        and (parsed.namespace, parsed.session)
        != (
            session.namespace,
            session.session,
        )
    ):
        found.add(field, "must be of the session that is the parent")
    return parsed.event


def _tool_call(call: event_pb2.ToolCall, field: str, found: Violations) -> ToolCall:
    return ToolCall(
        tool=found.text(call.tool, f"{field}.tool", max_characters=MAX_TOOL_NAME_CHARACTERS, required=True),
        call_id=found.text(call.call_id, f"{field}.call_id", max_characters=MAX_CALL_ID_CHARACTERS),
        arguments=struct_from_proto(call.arguments, f"{field}.arguments", found, max_bytes=MAX_ARGUMENTS_BYTES),
        result=found.text(call.result, f"{field}.result", max_characters=MAX_CONTENT_CHARACTERS),
        failed=call.failed,
    )


def _tool_call_to_proto(call: ToolCall) -> event_pb2.ToolCall:
    return event_pb2.ToolCall(
        tool=call.tool,
        call_id=call.call_id,
        arguments=struct_to_proto(call.arguments) if call.arguments else None,
        result=call.result,
        failed=call.failed,
    )


def _size_bytes(event: Event) -> int:
    texts = [event.content, event.image_caption]
    size_bytes = size_of(event.metadata)
    if event.tool_call:
        texts.append(event.tool_call.result)
        size_bytes += size_of(event.tool_call.arguments)
    return size_bytes + sum(len(text.encode("utf-8", "replace")) for text in texts)
