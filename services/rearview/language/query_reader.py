"""Queries, read for recall."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rearview.language.aliases import canonical, normalised
from rearview.language.query import named_speakers, understand_query
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
        )

    def named_speakers(self, text: str, speakers: Sequence[str]) -> tuple[str, ...]:
        """Return those of the known speakers whom a query names."""
        return named_speakers(text, speakers) if speakers else ()

    def folded(self, text: str) -> str:
        """Return the text in lower case and plain width."""
        return normalised(text)

    def canonical_entity(self, text: str) -> str:
        """Return the form by which an entity is compared."""
        return canonical(text)
