"""Understanding of a turn, as the writer needs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rearview.domain.importance import TurnSignals
from rearview.domain.text import Entity, Intent, Language, Sentiment, TimeRange


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one turn was found to contain; `time_ranges` are in order of mention."""

    languages: frozenset[Language]
    entities: tuple[Entity, ...]
    intent: Intent
    sentiment: Sentiment
    signals: TurnSignals
    time_ranges: tuple[TimeRange, ...]


class Analyzer(Protocol):
    """Analyses turns; implementations never raise on text, however odd."""

    def analyze(self, text: str, *, reference: datetime, role: str = "user") -> Analysis:
        """Analyse one turn; `reference` is the aware moment it was said, in the speaker's zone.

        Only turns of people state facts, so `role` bears on `signals.fact_count`.
        """
        ...

    def analyze_batch(
        self, texts: Sequence[str], *, references: Sequence[datetime], roles: Sequence[str]
    ) -> list[Analysis]:
        """Analyse many turns at less cost than one by one.

        Raises:
            ValueError: the sequences differ in length.
        """
        ...
