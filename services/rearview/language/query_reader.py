"""Queries, read for recall."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rearview.domain.text import TimeRange
from rearview.language.aliases import canonical, normalised
from rearview.language.query import asks_past, named_speakers, understand_query
from rearview.language.time_expressions import find_times
from rearview.ports.query_reader import ReadQuery


class LanguageQueryReader:
    """The `QueryReader` port."""

    def read(self, text: str, *, reference: datetime) -> ReadQuery:
        """Read a query asked at `reference`, an aware time in the caller's zone."""
        understood = understand_query(text, reference=reference, zone=reference.tzinfo or UTC)
        return ReadQuery(
            languages=understood.languages,
            entities=understood.entities,
            time_ranges=understood.time_ranges,
            asks_when=understood.asks_when,
            question_type=understood.question_type.value,
            asks_past=asks_past(text),
        )

    def times(self, text: str, *, reference: datetime) -> tuple[TimeRange, ...]:
        """Return the times that a text names, said at `reference`, an aware time in its speaker's zone."""
        return tuple(found.range for found in find_times(text, reference, reference.tzinfo or UTC))

    def named_speakers(self, text: str, speakers: Sequence[str]) -> tuple[str, ...]:
        """Return those of the known speakers whom a query names."""
        return named_speakers(text, speakers) if speakers else ()

    def folded(self, text: str) -> str:
        """Return the text in lower case and plain width."""
        return normalised(text)

    def canonical_entity(self, text: str) -> str:
        """Return the form by which an entity is compared."""
        return canonical(text)
