"""What a caller asks to be written: validated commands, not yet redacted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.memory import DEFAULT_PRIORITY, Memory, MemoryType


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The caller's request id and the SHA-256 of the request without it: the same id must mean the same request."""

    request_id: UUID
    method: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class AppendEvents:
    """Turns for the end of a session."""

    namespace: str
    session_id: str
    events: tuple[Event, ...]
    request: RequestKey | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """One memory to be stored now, as it stands."""

    namespace: str
    content: str
    occurred_at: datetime
    type: MemoryType = MemoryType.EXPLICIT
    priority: float = DEFAULT_PRIORITY
    pinned: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    session_id: str = ""
    request: RequestKey | None = None


class RememberOutcome(IntEnum):
    """What became of it; the numbers are those of `rearview.v1.RememberOutcome`."""

    CREATED = 1
    MERGED = 2
    SUPERSEDED = 3
    REDUNDANT = 4


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory as it stands now, and the memories it superseded, was merged into or is redundant with."""

    memory: Memory
    outcome: RememberOutcome
    related: tuple[UUID, ...] = ()


UPDATABLE_FIELDS = frozenset(
    {
        "content",
        "priority",
        "pinned",
        "labels",
        "metadata",
        "entities",
        "occurred_at",
        "valid_from",
        "valid_to",
        "expire_time",
    }
)


@dataclass(frozen=True, slots=True)
class UpdateMemory:
    """New values for the fields named by `mask` (names of the public message); others are not looked at."""

    namespace: str
    memory_id: UUID
    mask: frozenset[str]
    content: str = ""
    priority: float = DEFAULT_PRIORITY
    pinned: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    etag: str = ""
    request: RequestKey | None = None
