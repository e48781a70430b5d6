"""Vectors of units made anew from what they say, as the writer would make them now."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.context_window import WindowedTurn, alone, with_window
from rearview.domain.event import Event
from rearview.domain.text import Language
from rearview.domain.turn_text import memory_unit_text, unit_text
from rearview.ports.embedder import Embedder
from rearview.ports.reembedding import MemoryText, UnitTexts, UnitToEmbed

Languages = Callable[[str], frozenset[Language]]
"""Tells which languages a text is of."""


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
        plain = await _embedded(embedder, said)
        return [self._one(unit, texts, plain) for unit in units]

    def _one(
        self, unit: UnitToEmbed, texts: UnitTexts, plain: Mapping[UUID, NDArray[np.float32]]
    ) -> NDArray[np.float32] | None:
        stale = texts.turns.get(unit.unit_id)
        if stale is None:
            return plain.get(unit.memory_id)

        def read(event: Event) -> WindowedTurn:
            return alone(event.event_id, unit.memory_id, event.sequence, plain[event.event_id], ())

        return with_window(read(stale.turn), map(read, stale.before), map(read, stale.after)).vector

    def _of_turn(self, event: Event) -> str:
        return unit_text(event, self._languages(event.searchable_text))

    def _of_memory(self, memory: MemoryText) -> str:
        return memory_unit_text(memory.content, memory.occurred_at, self._languages(memory.content))


async def _embedded(embedder: Embedder, said: Mapping[UUID, str]) -> Mapping[UUID, NDArray[np.float32]]:
    if not said:
        return {}
    plain = embedder.generation.centre(await embedder.embed_passages(list(said.values())))
    return dict(zip(said, plain, strict=True))
