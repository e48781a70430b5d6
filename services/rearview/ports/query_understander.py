"""Understanding of a query, as the retriever needs it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Protocol

from rearview.domain.text import Entity, Language, TimeRange


class QuestionType(StrEnum):
    """Kinds of questions, by what would answer them."""

    WHO = "who"
    WHAT = "what"
    WHEN = "when"
    WHERE = "where"
    WHY = "why"
    HOW = "how"
    HOW_MANY = "how_many"
    YES_NO = "yes_no"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class QueryUnderstanding:
    """A query as the routes of recall need it; `named_speakers` are spelt as the caller spells them."""

    languages: frozenset[Language]
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...]
    identifiers: tuple[str, ...]
    time_ranges: tuple[TimeRange, ...]
    asks_when: bool
    named_speakers: tuple[str, ...]
    question_type: QuestionType


class QueryUnderstander(Protocol):
    """Understands queries; implementations never raise on text and run no model."""

    def understand_query(
        self, text: str, *, reference: datetime, zone: tzinfo, known_speakers: Collection[str] = ()
    ) -> QueryUnderstanding:
        """Understand a query asked at the aware moment `reference` in `zone`, among the speakers of a namespace."""
        ...
