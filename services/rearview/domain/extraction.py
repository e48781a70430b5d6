"""What is asked of a reader of turns, what it answers, and where the answer comes from: values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from rearview.domain.event import EventRole
from rearview.domain.fact import FactCandidate
from rearview.domain.text import Entity, Intent, Language, Sentiment

RULES = "rules"
"""The extractor's name in the provenance of what the rules read."""


@dataclass(frozen=True, slots=True)
class TurnToRead:
    """One redacted turn. `text` is what the speaker said, or a tool's result with the `tool` named; `occurred_at` is
    aware, in the speaker's zone."""

    event_id: UUID
    role: EventRole
    text: str
    occurred_at: datetime
    speaker: str = ""
    languages: frozenset[Language] = frozenset()
    tool: str = ""

    def __post_init__(self) -> None:
        if self.occurred_at.utcoffset() is None:
            raise ValueError("occurred_at must be aware")


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """A few turns of one session, in order. `earlier` are turns before them: context that is not read again."""

    tenant_id: UUID
    turns: tuple[TurnToRead, ...]
    earlier: tuple[TurnToRead, ...] = ()

    def __post_init__(self) -> None:
        if len({turn.event_id for turn in self.turns}) != len(self.turns):
            raise ValueError("turns must be of different events")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who read a turn: `rules` or `llm:<model>`, with which prompt.

    `note` says why the rules read a turn that was the model's to read: `llm_unavailable`, with the kind of failure in
    `reason`, or `llm_unsupported`, when nothing of what the model said was borne out by the text.
    """

    extractor: str
    prompt_version: str = ""
    note: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TurnReading:
    """What was found in one turn. Offsets of facts and entities are in that turn's text."""

    event_id: UUID
    facts: tuple[FactCandidate, ...]
    entities: tuple[Entity, ...]
    intent: Intent
    sentiment: Sentiment
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Extraction:
    """One reading for each turn asked for, in the same order; `dropped` counts by reason what a model said in vain."""

    readings: tuple[TurnReading, ...]
    dropped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def fact_count(self) -> int:
        """How many facts were found in all the turns."""
        return sum(len(reading.facts) for reading in self.readings)
