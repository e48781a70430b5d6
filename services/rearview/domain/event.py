"""Events: turns, tool calls and documents, the append-only record that everything else is derived from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

MAX_EVENTS_PER_APPEND = 200
MAX_CONTENT_CHARACTERS = 32_768
MAX_CAPTION_CHARACTERS = 4_096
MAX_SPEAKER_CHARACTERS = 128
MAX_APPEND_BYTES = 1_048_576
MAX_METADATA_BYTES = 16_384


class EventRole(IntEnum):
    """Who speaks; the numbers are those of `rearview.v1.Role` and of the database."""

    USER = 1
    ASSISTANT = 2
    TOOL = 3
    SYSTEM = 4
    DOCUMENT = 5


class CaptureOutcome(IntEnum):
    """What became of an event; the numbers are those of `rearview.v1.CaptureOutcome` and of the database."""

    PENDING = 1
    KEPT = 2
    DROPPED = 3
    REDUNDANT = 4
    MERGED = 5
    ECHO = 6
    FORGOTTEN = 7


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call and what came of it."""

    tool: str
    call_id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One turn, redacted. `sequence` and `created_at` are set by the log."""

    event_id: UUID
    role: EventRole
    content: str
    occurred_at: datetime
    speaker: str = ""
    tool_call: ToolCall | None = None
    image_caption: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    redactions: tuple[str, ...] = ()
    sequence: int = 0
    created_at: datetime | None = None

    @property
    def searchable_text(self) -> str:
        """The text by which the event is found: content, image caption, tool name and result."""
        parts = [self.content]
        if self.image_caption:
            parts.append(f"[image: {self.image_caption}]")
        if self.tool_call:
            parts.append(f"[{self.tool_call.tool}] {self.tool_call.result}".rstrip())
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. `indexed_count` events of `event_count` have been made memories of, or dropped."""

    session_id: str
    started_at: datetime
    last_event_at: datetime
    ended_at: datetime | None
    event_count: int
    indexed_count: int


@dataclass(frozen=True, slots=True)
class WorkingTurn:
    """A turn of working memory with its importance, computed when it was appended (age 0)."""

    event: Event
    importance: float


@dataclass(frozen=True, slots=True)
class CaptureTrace:
    """What became of an event and why; holds no content."""

    outcome: CaptureOutcome
    reason: str
    importance: float
    memory_ids: tuple[UUID, ...] = ()
    superseded_ids: tuple[UUID, ...] = ()
    redactions: tuple[str, ...] = ()
    stage_milliseconds: Mapping[str, float] = field(default_factory=dict)
    indexed_at: datetime | None = None
