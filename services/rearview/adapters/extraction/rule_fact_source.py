"""Reads turns by the rules; never fails and asks nobody."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from rearview.domain.extraction import RULES, Extraction, ExtractionRequest, Provenance, TurnReading
from rearview.domain.fact import EarlierTurn
from rearview.domain.memory import NEUTRAL
from rearview.domain.text import Intent
from rearview.ports.analyzer import Analysis, Analyzer
from rearview.ports.fact_extractor import FactExtractor

_MOST_EARLIER = 4
"""Turns of context; corrections and bare answers speak of the last few."""


class RuleFactSource:
    """The `FactSource` over the rules. Without an analyzer it reads facts alone, for a caller that analyses turns
    itself: doing it twice would double the work of indexing."""

    def __init__(self, extractor: FactExtractor, analyzer: Analyzer | None = None) -> None:
        self._extractor = extractor
        self._analyzer = analyzer

    async def read(self, request: ExtractionRequest) -> Extraction:
        """Return one reading for each turn, made in a thread; see `FactSource`."""
        return await asyncio.to_thread(self._read, request)

    async def close(self) -> None:
        """There is nothing to release."""

    def _read(self, request: ExtractionRequest) -> Extraction:
        turns = request.turns
        roles = [turn.role.name.lower() for turn in turns]
        analyses: Sequence[Analysis | None] = [None] * len(turns)
        if self._analyzer is not None:
            analyses = self._analyzer.analyze_batch(
                [turn.text for turn in turns], references=[turn.occurred_at for turn in turns], roles=roles
            )
        first = len(request.earlier)
        spoken = [EarlierTurn(turn.role.name.lower(), turn.text) for turn in (*request.earlier, *turns)]
        return Extraction(
            tuple(
                TurnReading(
                    event_id=turn.event_id,
                    facts=self._extractor.extract_facts(
                        turn.text,
                        role,
                        reference=turn.occurred_at,
                        previous=spoken[max(at - _MOST_EARLIER, 0) : at],
                        tool=turn.tool,
                    ),
                    entities=analysis.entities if analysis else (),
                    intent=analysis.intent if analysis else Intent.OTHER,
                    sentiment=analysis.sentiment if analysis else NEUTRAL,
                    provenance=Provenance(RULES),
                )
                for at, (turn, role, analysis) in enumerate(zip(turns, roles, analyses, strict=True), first)
            )
        )


def noted(extraction: Extraction, *, note: str, reason: str = "") -> Extraction:
    """Return an extraction whose provenance says why this source read the turns and not the one that was to."""
    return replace(
        extraction,
        readings=tuple(
            replace(reading, provenance=replace(reading.provenance, note=note, reason=reason))
            for reading in extraction.readings
        ),
    )
