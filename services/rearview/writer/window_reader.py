"""Turns read with the turns around them: what they are found by, made anew."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from rearview.domain.context_window import WindowedTurn, alone, with_window
from rearview.domain.event import Event
from rearview.domain.turn_text import unit_text
from rearview.ports.analyzer import Analyzer
from rearview.ports.embedder import Embedder
from rearview.ports.forgetting import FreshUnit, StaleTurn
from rearview.ports.keyword_hasher import KeywordHasher


class WindowReader:
    """Makes vectors and keyword bags of turns in their windows."""

    def __init__(self, embedder: Embedder, analyzer: Analyzer, hasher: KeywordHasher) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._hasher = hasher

    async def units(self, namespace_id: UUID, turns: Sequence[StaleTurn]) -> list[FreshUnit]:
        """Return the units of turns, in order. Raises: ModelUnavailable."""
        events = {event.event_id: event for one in turns for event in (one.turn, *one.before, *one.after)}
        if not events:
            return []
        read = await self._read(namespace_id, list(events.values()))
        return [_windowed(one, read) for one in turns]

    async def _read(self, namespace_id: UUID, events: Sequence[Event]) -> dict[UUID, WindowedTurn]:
        analyses = await asyncio.to_thread(
            self._analyzer.analyze_batch,
            [event.searchable_text for event in events],
            references=[event.occurred_at for event in events],
            roles=[event.role.name.lower() for event in events],
        )
        texts = [unit_text(event, found.languages) for event, found in zip(events, analyses, strict=True)]
        plain = self._embedder.generation.centre(await self._embedder.embed_passages(texts))
        return {
            event.event_id: alone(
                event.event_id,
                event.event_id,
                event.sequence,
                plain[at],
                self._hasher.keywords(namespace_id, texts[at]),
            )
            for at, event in enumerate(events)
        }


def _windowed(stale: StaleTurn, read: dict[UUID, WindowedTurn]) -> FreshUnit:
    before, after = ([read[event.event_id] for event in side] for side in (stale.before, stale.after))
    turn = with_window(read[stale.turn.event_id], before, after)
    return FreshUnit(turn.unit_id, turn.vector, turn.bag)
