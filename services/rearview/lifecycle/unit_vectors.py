"""Vectors of units made anew from what they say, as the writer would make them now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.context_window import WindowedTurn, alone, with_window
from rearview.domain.event import Event
from rearview.domain.turn_text import memory_unit_text, unit_text
from rearview.ports.embedder import Embedder
from rearview.ports.forgetting import FreshUnit
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.reembedding import MemoryText, UnitTexts, UnitToEmbed
from rearview.ports.turn_reading import Languages


class UnitVectors:
    """Embeds turns with their windows, and memories without turns by themselves."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    async def of(
        self, embedder: Embedder, units: Sequence[UnitToEmbed], texts: UnitTexts
    ) -> list[NDArray[np.float32] | None]:
        """Return a vector for each unit, (d,) float32, L2-normalised; None for one that says nothing. A turn whose
        words have lapsed is found by those of its memory.

        Raises:
            ModelUnavailable: the embedder cannot answer.
        """
        plain = await _embedded(embedder, self._said(units, texts))
        made = [_windowed(unit, texts, plain, {}) for unit in units]
        return [None if turn is None else turn.vector for turn in made]

    async def fresh(
        self,
        embedder: Embedder,
        hasher: KeywordHasher,
        namespace_id: UUID,
        units: Sequence[UnitToEmbed],
        texts: UnitTexts,
    ) -> list[FreshUnit]:
        """Return the units with their vectors and keywords, without those that say nothing. Raises as `of`."""
        said = self._said(units, texts)
        plain = await _embedded(embedder, said)
        keywords = {one: hasher.keywords(namespace_id, text) for one, text in said.items()}
        made = [_windowed(unit, texts, plain, keywords) for unit in units]
        return [FreshUnit(turn.unit_id, turn.vector, turn.bag) for turn in made if turn is not None]

    def _said(self, units: Sequence[UnitToEmbed], texts: UnitTexts) -> dict[UUID, str]:
        events = {
            event.event_id: event for one in texts.turns.values() for event in (one.turn, *one.before, *one.after)
        }
        memories = {
            unit.memory_id: texts.memories[unit.memory_id]
            for unit in units
            if unit.unit_id not in texts.turns and unit.memory_id in texts.memories
        }
        said = {event_id: self._of_turn(event) for event_id, event in events.items()}
        said |= {memory_id: self._of_memory(memory) for memory_id, memory in memories.items() if memory.content.strip()}
        return said

    def _of_turn(self, event: Event) -> str:
        return unit_text(event, self._languages(event.searchable_text))

    def _of_memory(self, memory: MemoryText) -> str:
        return memory_unit_text(memory.content, memory.occurred_at, self._languages(memory.content))


def _windowed(
    unit: UnitToEmbed,
    texts: UnitTexts,
    plain: Mapping[UUID, NDArray[np.float32]],
    keywords: Mapping[UUID, tuple[int, ...]],
) -> WindowedTurn | None:
    """Return a unit with what it is found by, None for one that says nothing. A memory's stands without a window."""

    def read(said_id: UUID, sequence: int) -> WindowedTurn:
        return alone(said_id, unit.memory_id, sequence, plain[said_id], keywords.get(said_id, ()))

    def turn(event: Event) -> WindowedTurn:
        return read(event.event_id, event.sequence)

    stale = texts.turns.get(unit.unit_id)
    if stale is None:
        return replace(read(unit.memory_id, 0), unit_id=unit.unit_id) if unit.memory_id in plain else None
    return with_window(turn(stale.turn), map(turn, stale.before), map(turn, stale.after))


async def _embedded(embedder: Embedder, said: Mapping[UUID, str]) -> Mapping[UUID, NDArray[np.float32]]:
    if not said:
        return {}
    plain = embedder.generation.centre(await embedder.embed_passages(list(said.values())))
    return dict(zip(said, plain, strict=True))
