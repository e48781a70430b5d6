"""The `Analyzer` port: everything that is known about one turn by rules and small models."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rearview.domain.text import Entity, EntityType
from rearview.language.entities import entities_batch
from rearview.language.facts import RuleFactExtractor
from rearview.language.intent import intent
from rearview.language.scripts import languages
from rearview.language.sentiment import sentiment
from rearview.language.signals import turn_signals
from rearview.language.time_expressions import find_times
from rearview.ports.analyzer import Analysis
from rearview.ports.fact_extractor import FactExtractor

_NAMES = frozenset((EntityType.PERSON, EntityType.PLACE, EntityType.ORGANISATION, EntityType.PRODUCT))


class RuleAnalyzer:
    """Stateless but for the models, which are loaded once, on first use, and shared by all threads."""

    def __init__(self, facts: FactExtractor | None = None) -> None:
        self._facts = facts or RuleFactExtractor()

    def analyze(self, text: str, *, reference: datetime, role: str = "user") -> Analysis:
        """Analyse one turn said at `reference`, an aware moment in the speaker's zone."""
        return self.analyze_batch([text], references=[reference], roles=[role])[0]

    def analyze_batch(
        self, texts: Sequence[str], *, references: Sequence[datetime], roles: Sequence[str]
    ) -> list[Analysis]:
        """Analyse turns together, which the English model does in about half the time.

        Raises:
            ValueError: the sequences differ in length.
        """
        found = entities_batch(texts)
        return [
            _analysis(text, entities, reference, len(self._facts.extract_facts(text, role, reference=reference)))
            for text, entities, reference, role in zip(texts, found, references, roles, strict=True)
        ]


def _analysis(text: str, entities: tuple[Entity, ...], reference: datetime, fact_count: int) -> Analysis:
    signals = turn_signals(
        text,
        name_count=sum(entity.type in _NAMES for entity in entities),
        fact_count=fact_count,
    )
    return Analysis(
        languages=languages(text),
        entities=entities,
        intent=intent(text, signals),
        sentiment=sentiment(text),
        signals=signals,
        time_ranges=tuple(time.range for time in find_times(text, reference, reference.tzinfo or UTC)),
    )
