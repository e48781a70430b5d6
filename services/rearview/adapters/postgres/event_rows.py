"""Events as rows."""

from collections.abc import Mapping
from typing import Any

from rearview.domain.event import Event, EventRole, ToolCall

Row = Mapping[str, Any]


def event_of(row: Row) -> Event:
    """Return the event of a row with the event log's columns."""
    return Event(
        event_id=row["event_id"],
        role=EventRole(row["role"]),
        content=row["content"],
        occurred_at=row["occurred_at"],
        speaker=row["speaker"],
        tool_call=_tool_call(row["tool_call"]),
        image_caption=row["image_caption"],
        metadata=row["metadata"],
        redactions=tuple(row["redactions"]),
        sequence=row["sequence"],
        created_at=row["created_at"],
    )


def _tool_call(stored: Mapping[str, Any] | None) -> ToolCall | None:
    if stored is None:
        return None
    return ToolCall(
        tool=stored["tool"],
        call_id=stored.get("call_id", ""),
        arguments=stored.get("arguments", {}),
        result=stored.get("result", ""),
        failed=stored.get("failed", False),
    )
