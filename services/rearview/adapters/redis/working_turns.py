"""Turns of working memory as JSON texts."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.domain.event import Event, EventRole, ToolCall, WorkingTurn


def turn_text(turn: WorkingTurn) -> str:
    """Return a turn as JSON; `id` and `seq` are read by the scripts that filter turns."""
    event, call = turn.event, turn.event.tool_call
    fields: dict[str, object] = {
        "id": str(event.event_id),
        "seq": event.sequence,
        "role": int(event.role),
        "content": event.content,
        "at": event.occurred_at.isoformat(),
        "importance": round(turn.importance, 4),
    }
    optional: dict[str, object] = {
        "speaker": event.speaker,
        "caption": event.image_caption,
        "metadata": dict(event.metadata),
        "redactions": list(event.redactions),
        "created": event.created_at.isoformat() if event.created_at else None,
    }
    if call:
        optional["call"] = [call.tool, call.call_id, dict(call.arguments), call.result, call.failed]
    fields |= {key: value for key, value in optional.items() if value}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def turn_of(text: str) -> WorkingTurn:
    """Return the turn of its JSON."""
    fields: dict[str, Any] = json.loads(text)
    call = fields.get("call")
    created = fields.get("created")
    event = Event(
        event_id=UUID(fields["id"]),
        role=EventRole(fields["role"]),
        content=fields["content"],
        occurred_at=datetime.fromisoformat(fields["at"]),
        speaker=fields.get("speaker", ""),
        tool_call=ToolCall(*call) if call else None,
        image_caption=fields.get("caption", ""),
        metadata=fields.get("metadata", {}),
        redactions=tuple(fields.get("redactions", ())),
        sequence=fields["seq"],
        created_at=datetime.fromisoformat(created) if created else None,
    )
    return WorkingTurn(event, fields["importance"])
