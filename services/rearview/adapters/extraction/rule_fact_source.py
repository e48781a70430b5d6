"""Reads turns by the rules; never fails and asks nobody."""

import asyncio
from dataclasses import replace

from rearview.domain.extraction import RULES, Extraction, ExtractionRequest, Provenance, TurnReading
from rearview.domain.fact import EarlierTurn
from rearview.ports.analyzer import Analyzer
from rearview.ports.fact_extractor import FactExtractor

_MOST_EARLIER = 4
"""Turns of context; corrections and bare answers speak of the last few."""


class RuleFactSource:
    """The `FactSource` over the rules."""

    def __init__(self, extractor: FactExtractor, analyzer: Analyzer) -> None:
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
                    entities=analysis.entities,
                    intent=analysis.intent,
                    sentiment=analysis.sentiment,
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
