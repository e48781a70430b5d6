"""What is appended to a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call and what came of it; `arguments` are JSON-like."""

    tool: str
    result: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `role` is user, assistant, tool, system or document; `occurred_at` is aware, None means now."""

    role: str
    content: str = ""
    speaker: str = ""
    occurred_at: datetime | None = None
    tool_call: ToolCall | None = None
    image_caption: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    event_id: str = ""
