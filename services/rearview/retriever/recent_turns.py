"""The last turns of a session: out of working memory, and out of the event log what that has lost."""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from uuid import UUID

from rearview.domain.capture import rated
from rearview.domain.errors import Unavailable
from rearview.domain.event import WorkingTurn
from rearview.domain.importance import importance
from rearview.ports.clock import Clock
from rearview.ports.turn_reading import ReadSignals
from rearview.ports.working_memory import LIFETIME, SessionKey, SessionTail, WorkingMemory, WorkingTurns


class LoggedRecentTurns:
    """The `RecentTurns` port: complete, and without what was forgotten, whatever working memory went through.

    The log says which turns there are; working memory spares reading their content. What it lacks is read from the log
    and put back.
    """

    def __init__(
        self,
        working_memory: WorkingMemory,
        log: SessionTail,
        read_signals: ReadSignals,
        clock: Clock,
        *,
        patience_seconds: float,
    ) -> None:
        """Take the parts; working memory that takes longer than `patience_seconds` is read around."""
        self._working_memory = working_memory
        self._log = log
        self._read_signals = read_signals
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._late: set[asyncio.Task[WorkingTurns]] = set()

    async def last_turns(self, session: SessionKey, count: int) -> WorkingTurns:
        """Return the last turns; none when LIFETIME has passed since the last of them was written.

        Raises:
            Unavailable: the log does not answer.
        """
        reading = asyncio.create_task(self._working_memory.last_turns(session, count))
        self._late.add(reading)
        reading.add_done_callback(self._ended)
        tail = await self._log.tail(session, count)
        if not tail or tail[-1].created_at + LIFETIME <= self._clock.now():
            return WorkingTurns((), None)
        held = await self._held(reading)
        turns = {turn.event.event_id: turn for turn in held.turns} if held else {}
        missing = [turn.event_id for turn in tail if turn.event_id not in turns]
        if missing:
            lost = await self._lost(session, missing)
            turns |= {turn.event.event_id: turn for turn in lost}
            if held is not None:
                with suppress(Unavailable):
                    await self._working_memory.refill(session, lost)
        expires_at = (held.expires_at if held else None) or tail[-1].created_at + LIFETIME
        return WorkingTurns(tuple(turns[turn.event_id] for turn in tail if turn.event_id in turns), expires_at)

    async def _held(self, reading: asyncio.Task[WorkingTurns]) -> WorkingTurns | None:
        # Not cancelled when it is late: its own timeout tells the connection that Redis is away.
        await asyncio.wait((reading,), timeout=self._patience_seconds)
        if not reading.done() or reading.exception() is not None:
            return None
        return reading.result()

    async def _lost(self, session: SessionKey, event_ids: Collection[UUID]) -> Sequence[WorkingTurn]:
        events = sorted(await self._log.turns(session, event_ids), key=lambda event: event.sequence)
        return [
            WorkingTurn(event, importance(rated(event, self._read_signals(event.searchable_text)))) for event in events
        ]

    def _ended(self, reading: asyncio.Task[WorkingTurns]) -> None:
        self._late.discard(reading)
        if not reading.cancelled():
            reading.exception()  # has been seen
