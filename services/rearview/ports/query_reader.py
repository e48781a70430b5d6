"""Understanding of a query, as recall needs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rearview.domain.text import Entity, Language, TimeRange


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """What a query was found to ask for. `time_ranges` are in UTC, in order of mention; `asks_past` says that it is
    about what was so before."""

    languages: frozenset[Language]
    entities: tuple[Entity, ...]
    time_ranges: tuple[TimeRange, ...]
    asks_when: bool
    question_type: str = ""
    asks_past: bool = False


class QueryReader(Protocol):
    """Reads queries; implementations never raise on text, however odd."""

    def read(self, text: str, *, reference: datetime) -> ReadQuery:
        """Read a query asked at `reference`, an aware time in the caller's zone."""
        ...

    def times(self, text: str, *, reference: datetime) -> tuple[TimeRange, ...]:
        """Return the times that a text names, said at `reference`, an aware time in its speaker's zone."""
        ...

    def named_speakers(self, text: str, speakers: Sequence[str]) -> tuple[str, ...]:
        """Return those of the known speakers whom a query names."""
        ...

    def folded(self, text: str) -> str:
        """Return the text in lower case and plain width, in which names are looked for."""
        ...

    def canonical_entity(self, text: str) -> str:
        """Return the form by which an entity is compared."""
        ...
