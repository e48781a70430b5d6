"""Lets a model read what people said, and the rules everything else and whatever the model cannot."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import structlog

from rearview.adapters.extraction.rule_fact_source import noted
from rearview.domain.event import EventRole
from rearview.domain.extraction import Extraction, ExtractionRequest, TurnReading, TurnToRead
from rearview.domain.extraction_errors import ExtractorUnavailable
from rearview.ports.fact_source import FactSource

LLM_UNAVAILABLE = "llm_unavailable"
LLM_UNSUPPORTED = "llm_unsupported"

Policy = Literal["fall_back", "strict"]
_CONVERSING = (EventRole.USER, EventRole.ASSISTANT)
_HARMLESS = frozenset(("entity_malformed", "entity_beyond_limits", "entity_not_in_turn", "question", "hypothetical"))
"""What a reading without facts may have dropped and still be believed: nothing in it was made up."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What one reading of the model may hold."""

    max_turns: int
    max_turn_characters: int
    max_request_characters: int


class PreferredFactSource:
    """A `FactSource` over two others.

    Results of tools and documents never reach the model: they are long, they can be written by anybody, and no fact
    about the user may come of them. Turns that are blank or too long are the rules' too.
    """

    def __init__(self, model: FactSource, rules: FactSource, policy: Policy, limits: BatchLimits) -> None:
        self._model = model
        self._rules = rules
        self._policy = policy
        self._limits = limits

    async def read(self, request: ExtractionRequest) -> Extraction:
        """Return one reading for each turn, in order; see `FactSource`.

        Raises:
            ModelUnavailable: the policy is `strict` and the model gave no reading.
        """
        readings: dict[UUID, TurnReading] = {}
        dropped: Counter[str] = Counter()
        others = tuple(turn for turn in request.turns if not self._is_for_model(turn))
        parts = [await self._rules.read(ExtractionRequest(request.tenant_id, others))] if others else []
        parts += [await self._read_by_model(batch) for batch in self._batches(request)]
        for part in parts:
            readings |= {reading.event_id: reading for reading in part.readings}
            dropped.update(part.dropped)
        return Extraction(tuple(readings[turn.event_id] for turn in request.turns), dict(dropped))

    async def close(self) -> None:
        """Close both sources."""
        try:
            await self._model.close()
        finally:
            await self._rules.close()

    async def _read_by_model(self, batch: ExtractionRequest) -> Extraction:
        try:
            extraction = await self._model.read(batch)
        except ExtractorUnavailable as failed:
            if self._policy == "strict":
                raise
            _log.info("the rules read in the model's place", failure=str(failed.failure), turns=len(batch.turns))
            return noted(await self._rules.read(batch), note=LLM_UNAVAILABLE, reason=str(failed.failure))
        if not extraction.fact_count and not _HARMLESS.issuperset(extraction.dropped):
            # A model that said only what the text does not is no witness that the text says nothing.
            by_rules = noted(await self._rules.read(batch), note=LLM_UNSUPPORTED)
            return Extraction(by_rules.readings, extraction.dropped)
        return extraction

    def _is_for_model(self, turn: TurnToRead) -> bool:
        fits = len(turn.text) <= min(self._limits.max_turn_characters, self._limits.max_request_characters)
        return turn.role in _CONVERSING and fits and bool(turn.text.strip())

    def _batches(self, request: ExtractionRequest) -> Iterator[ExtractionRequest]:
        """Cut the turns into readings that the model takes, each with as much of what came before as fits."""
        limits = self._limits
        before = [turn for turn in request.earlier if self._is_for_model(turn)]
        batch: list[TurnToRead] = []
        for turn in [each for each in request.turns if self._is_for_model(each)]:
            size = sum(len(each.text) for each in (*batch, turn))
            if batch and (len(batch) == limits.max_turns or size > limits.max_request_characters):
                yield self._batch(request.tenant_id, batch, before)
                before, batch = [*before, *batch], []
            batch.append(turn)
        if batch:
            yield self._batch(request.tenant_id, batch, before)

    def _batch(self, tenant_id: UUID, batch: list[TurnToRead], before: list[TurnToRead]) -> ExtractionRequest:
        room = self._limits.max_request_characters - sum(len(turn.text) for turn in batch)
        earlier: list[TurnToRead] = []
        for turn in before[: -_MOST_EARLIER - 1 : -1]:
            room -= len(turn.text)
            if room < 0:
                break
            earlier.insert(0, turn)
        return ExtractionRequest(tenant_id, tuple(batch), tuple(earlier))


_MOST_EARLIER = 4
"""Turns of context; corrections and bare answers speak of the last few."""
