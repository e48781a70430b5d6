"""The turns around forgotten ones: their vectors and keywords are made anew, so that no trace of those is left."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from rearview.domain.context_window import WindowedTurn, alone, with_window
from rearview.domain.event import Event
from rearview.domain.turn_text import unit_text
from rearview.ports.analyzer import Analyzer
from rearview.ports.embedder import Embedder
from rearview.ports.forgetting import FreshUnit, StaleTurn, StaleUnits, StaleUnitStore
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.tiering import Rehydrator

_AT_ONCE = 32


class UnitRefresher:
    """The job `refresh_units`. Running it again changes nothing."""

    def __init__(
        self,
        store: StaleUnitStore,
        embedder: Embedder,
        analyzer: Analyzer,
        hasher: KeywordHasher,
        rehydrator: Rehydrator,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._analyzer = analyzer
        self._hasher = hasher
        self._rehydrator = rehydrator

    async def refresh(self, tenant_id: UUID, receipt_id: UUID) -> None:
        """Make anew what a forget, or its restore, left to be made anew, in bounded parts.

        Raises:
            ModelUnavailable: the embedder cannot answer; the job is tried again and goes on from there.
            Unavailable: the database or object storage cannot be reached.
        """
        while (stale := await self._store.some(tenant_id, receipt_id, limit=_AT_ONCE)) is not None:
            if stale.cold:
                await self._rehydrator.rehydrate(tenant_id, stale.namespace_id, stale.cold)
            await self._store.replace(tenant_id, receipt_id, stale, await self._made(stale))

    async def _made(self, stale: StaleUnits) -> list[FreshUnit]:
        events = {event.event_id: event for one in stale.turns for event in (one.turn, *one.before, *one.after)}
        if not events:
            return []
        read = await self._read(stale.namespace_id, list(events.values()))
        return [_windowed(one, read) for one in stale.turns]

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
