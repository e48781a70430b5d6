"""Calls within a session helper, whose session is among the defaults."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rearview.client import event_calls
from rearview.client.call import Call, Defaults, Pages
from rearview.client.turn import ToolCall, Turn
from rearview.v1 import event_pb2
from rearview.v1.memory_service_pb2 import AppendEventsResponse


def user(
    defaults: Defaults,
    content: str,
    *,
    speaker: str = "",
    occurred_at: datetime | None = None,
    image_caption: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Call[AppendEventsResponse]:
    """Append what the user said."""
    return append(defaults, [Turn("user", content, speaker, occurred_at, None, image_caption, metadata or {})])


def assistant(
    defaults: Defaults,
    content: str,
    *,
    speaker: str = "",
    occurred_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[AppendEventsResponse]:
    """Append what the agent said."""
    return append(defaults, [Turn("assistant", content, speaker, occurred_at, None, "", metadata or {})])


def tool(
    defaults: Defaults,
    name: str,
    result: str,
    *,
    arguments: Mapping[str, Any] | None = None,
    call_id: str = "",
    failed: bool = False,
    occurred_at: datetime | None = None,
) -> Call[AppendEventsResponse]:
    """Append a tool call and its result."""
    made = ToolCall(name, result, arguments or {}, call_id, failed)
    return append(defaults, [Turn("tool", occurred_at=occurred_at, tool_call=made)])


def document(
    defaults: Defaults,
    content: str,
    *,
    occurred_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[AppendEventsResponse]:
    """Append a document or web page that was read."""
    return append(defaults, [Turn("document", content, "", occurred_at, None, "", metadata or {})])


def append(defaults: Defaults, events: Sequence[Turn]) -> Call[AppendEventsResponse]:
    """Append several turns at once, in the order they were said."""
    return event_calls.append_events(defaults, defaults.session, events)


def end(defaults: Defaults) -> Call[event_pb2.Session]:
    """End the session: its open topic is closed and indexed."""
    return event_calls.end_session(defaults, defaults.session)


def working_memory(defaults: Defaults, *, max_turns: int = 0) -> Call[event_pb2.WorkingMemory]:
    """Read the last turns, oldest first; 0 means the service's default of 20."""
    return event_calls.working_memory(defaults, defaults.session, max_turns=max_turns)


def events(defaults: Defaults, *, newest_first: bool = False, page_size: int = 0) -> Pages[event_pb2.Event]:
    """Iterate over the session's events, oldest first unless `newest_first`."""
    return event_calls.list_events(defaults, defaults.session, newest_first=newest_first, page_size=page_size)
