"""Rows of the event log, to and from events."""

from collections.abc import Mapping
from typing import Any

from rearview.domain.event import Event, EventRole, ToolCall
from rearview.ports.event_log import LoggedEvent


def event_record(logged: LoggedEvent, at: int) -> Mapping[str, object]:
    """Return an event, the `at`-th of its request, as `rearview_append` reads it."""
    event = logged.event
    call = event.tool_call
    return {
        "at": at,
        "event_id": event.event_id,
        "role": int(event.role),
        "speaker": event.speaker,
        "content": event.content,
        "tool_call": tool_call_json(call) if call else None,
        "image_caption": event.image_caption,
        "metadata": dict(event.metadata),
        "redactions": list(event.redactions),
        "occurred_at": event.occurred_at,
        "keywords": list(logged.keywords),
    }


def event_of(row: Mapping[str, Any]) -> Event:
    """Return the event of a row; metadata is only there where the statement selects it."""
    return Event(
        event_id=row["event_id"],
        role=EventRole(row["role"]),
        content=row["content"],
        occurred_at=row["occurred_at"],
        speaker=row["speaker"],
        tool_call=tool_call_of(row["tool_call"]),
        image_caption=row["image_caption"],
        metadata=row.get("metadata") or {},
        redactions=tuple(row["redactions"]),
        sequence=row["sequence"],
        created_at=row["created_at"],
    )


def tool_call_json(call: ToolCall) -> dict[str, object]:
    """Return a tool call as it is stored."""
    return {
        "tool": call.tool,
        "call_id": call.call_id,
        "arguments": dict(call.arguments),
        "result": call.result,
        "failed": call.failed,
    }


def tool_call_of(value: Mapping[str, Any] | None) -> ToolCall | None:
    """Return a tool call from how it is stored."""
    if value is None:
        return None
    return ToolCall(value["tool"], value["call_id"], value["arguments"], value["result"], value["failed"])
