"""Calls about sessions and their events."""

from collections.abc import Sequence
from uuid import UUID

from rearview.client.call import MEMORY_SERVICE, Call, Defaults, Pages, call, read
from rearview.client.turn import ToolCall, Turn
from rearview.client.values import (
    namespace_name,
    number_of,
    request_id_text,
    session_name,
    struct_message,
    time_message,
)
from rearview.domain.event import EventRole
from rearview.v1 import event_pb2
from rearview.v1 import memory_service_pb2 as messages


def append_events(
    defaults: Defaults,
    session: str,
    events: Sequence[Turn],
    *,
    namespace: str | None = None,
    request_id: str | UUID | None = None,
) -> Call[messages.AppendEventsResponse]:
    """Append turns to a session, which is created by its first append. When it returns they survive any crash."""
    parent = session_name(defaults, session, namespace)
    request = messages.AppendEventsRequest(
        parent=parent,
        events=[_event(turn, parent, f"events[{index}]") for index, turn in enumerate(events)],
        request_id=request_id_text(request_id),
    )
    return call(MEMORY_SERVICE, "AppendEvents", request, messages.AppendEventsResponse, repeatable=True)


def end_session(defaults: Defaults, session: str, *, namespace: str | None = None) -> Call[event_pb2.Session]:
    """End a session: its open topic is closed and indexed. Ending it again changes nothing."""
    request = messages.EndSessionRequest(name=session_name(defaults, session, namespace))
    return call(MEMORY_SERVICE, "EndSession", request, event_pb2.Session, repeatable=True)


def working_memory(
    defaults: Defaults, session: str, *, max_turns: int = 0, namespace: str | None = None
) -> Call[event_pb2.WorkingMemory]:
    """Read the last turns of a session, oldest first; 0 means the service's default of 20."""
    request = messages.GetWorkingMemoryRequest(name=session_name(defaults, session, namespace), max_turns=max_turns)
    return read(MEMORY_SERVICE, "GetWorkingMemory", request, event_pb2.WorkingMemory)


def list_events(
    defaults: Defaults,
    session: str,
    *,
    newest_first: bool = False,
    page_size: int = 0,
    namespace: str | None = None,
) -> Pages[event_pb2.Event]:
    """Iterate over a session's events, oldest first unless `newest_first`; pages are fetched as they are needed."""
    request = messages.ListEventsRequest(
        parent=session_name(defaults, session, namespace), page_size=page_size, newest_first=newest_first
    )
    return Pages(
        read(MEMORY_SERVICE, "ListEvents", request, messages.ListEventsResponse), lambda response: response.events
    )


def list_sessions(defaults: Defaults, *, page_size: int = 0, namespace: str | None = None) -> Pages[event_pb2.Session]:
    """Iterate over the sessions of a namespace, the one with the latest event first."""
    request = messages.ListSessionsRequest(parent=namespace_name(defaults, namespace), page_size=page_size)
    return Pages(
        read(MEMORY_SERVICE, "ListSessions", request, messages.ListSessionsResponse),
        lambda response: response.sessions,
    )


def capture_trace(defaults: Defaults, event: str) -> Call[event_pb2.CaptureTrace]:
    """Say what became of an event, given by its full name, and why."""
    del defaults  # an event's name is complete
    request = messages.GetCaptureTraceRequest(name=event)
    return read(MEMORY_SERVICE, "GetCaptureTrace", request, event_pb2.CaptureTrace)


def _event(turn: Turn, parent: str, field: str) -> event_pb2.Event:
    return event_pb2.Event(
        name=f"{parent}/events/{turn.event_id}" if turn.event_id else "",
        role=event_pb2.Role.ValueType(number_of(EventRole, turn.role, f"{field}.role")),
        speaker=turn.speaker,
        content=turn.content,
        tool_call=_tool_call(turn.tool_call, f"{field}.tool_call") if turn.tool_call else None,
        occurred_at=time_message(turn.occurred_at, f"{field}.occurred_at"),
        image_caption=turn.image_caption,
        metadata=struct_message(turn.metadata, f"{field}.metadata"),
    )


def _tool_call(tool_call: ToolCall, field: str) -> event_pb2.ToolCall:
    return event_pb2.ToolCall(
        tool=tool_call.tool,
        call_id=tool_call.call_id,
        arguments=struct_message(tool_call.arguments, f"{field}.arguments"),
        result=tool_call.result,
        failed=tool_call.failed,
    )
