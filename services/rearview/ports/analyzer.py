"""Understanding of a turn, as the writer needs it."""

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

    def analyze(self, text: str, *, reference: datetime) -> Analysis:
        """Analyse one turn; `reference` is the aware moment it was said, in the speaker's zone."""
        ...
