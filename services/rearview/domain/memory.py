"""Memories: what was kept, with everything that decides when it is returned and how long it stays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import Any
from uuid import UUID

from rearview.domain.event import EventRole
from rearview.domain.text import Entity, Intent, Language, Sentiment

DEFAULT_PRIORITY = 0.5
MAX_LABELS = 64
MAX_LABEL_VALUE_CHARACTERS = 256
MAX_ENTITIES = 100
NEUTRAL = Sentiment(valence=0.0, intensity=0.0)


class MemoryType(IntEnum):
    """What a memory is; the numbers are those of `rearview.v1.MemoryType` and of the database."""

    EPISODE = 1
    FACT = 2
    EXPLICIT = 3
    TOOL_RESULT = 4
    CONSTRAINT = 5
    DECISION = 6
    SUMMARY = 7


class MemoryState(IntEnum):
    """Where it stands in its life; the numbers are those of `rearview.v1.MemoryState` and of the database."""

    ACTIVE = 1
    SUPERSEDED = 2
    INACTIVE = 3
    TOMBSTONED = 4


class Tier(IntEnum):
    """Where it is kept; the numbers are those of `rearview.v1.Tier` and of the database."""

    HOT = 1
    WARM = 2
    COLD = 3


class Origin(IntEnum):
    """Who first said it; the numbers are those of `rearview.v1.Origin` and of the database."""

    USER = 1
    ASSISTANT = 2
    TOOL = 3
    DOCUMENT = 4
    SYSTEM = 5


class Trust(IntEnum):
    """How far the origin is trusted; the numbers are those of `rearview.v1.Trust` and of the database."""

    UNTRUSTED = 1
    DERIVED = 2
    TRUSTED = 3


ORIGIN_OF_ROLE: Mapping[EventRole, Origin] = {
    EventRole.USER: Origin.USER,
    EventRole.ASSISTANT: Origin.ASSISTANT,
    EventRole.TOOL: Origin.TOOL,
    EventRole.SYSTEM: Origin.SYSTEM,
    EventRole.DOCUMENT: Origin.DOCUMENT,
}
TRUST_OF_ORIGIN: Mapping[Origin, Trust] = {
    Origin.USER: Trust.TRUSTED,
    Origin.ASSISTANT: Trust.DERIVED,
    Origin.TOOL: Trust.UNTRUSTED,
    Origin.DOCUMENT: Trust.UNTRUSTED,
    Origin.SYSTEM: Trust.TRUSTED,
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of the form subject, attribute, value.

    `value_key` is equal for equal values, `denied` says that the value does not hold, `stance` how the statement
    related to earlier ones (a `domain.fact.Stance`). `category` and
    `replaces` are as in `FactCandidate`; `extractor`, `prompt_version` and `note` say who read it.
    """

    subject: str
    attribute: str
    value: str
    unit: str = ""
    single_valued: bool = False
    value_key: str = ""
    denied: bool = False
    stance: str = "standing"
    category: str = ""
    replaces: str = ""
    extractor: str = ""
    prompt_version: str = ""
    note: str = ""


_AT_ONCE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing remembered. Ids are UUIDv7; times are aware and in UTC; `version` grows with every write."""

    memory_id: UUID
    type: MemoryType
    content: str
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    origin: Origin
    trust: Trust
    state: MemoryState = MemoryState.ACTIVE
    tier: Tier = Tier.HOT
    priority: float = DEFAULT_PRIORITY
    pinned: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[Entity, ...] = ()
    intent: Intent = Intent.OTHER
    sentiment: Sentiment = NEUTRAL
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_until: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: UUID | None = None
    session_id: str = ""
    event_ids: tuple[tuple[str, UUID], ...] = ()
    languages: frozenset[Language] = frozenset()
    generation_id: str = ""
    redactions: tuple[str, ...] = ()
    fact: Fact | None = None
    access_count: int = 0
    last_accessed_at: datetime | None = None
    version: int = 1

    @property
    def given_day(self) -> date | None:
        """The day (UTC) that was given for what happened; None for what is told as it happens. The same on another day
        is another thing."""
        told_at_once = self.created_at - self.occurred_at < _AT_ONCE
        return None if told_at_once else self.occurred_at.astimezone(UTC).date()

    @property
    def etag(self) -> str:
        """The entity tag of this version (AIP-154)."""
        return f'"{self.version}"'
