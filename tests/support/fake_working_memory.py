"""A working memory in this process, which passes the contract of the one in Redis."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from rearview.domain.event import WorkingTurn
from rearview.ports.clock import Clock
from rearview.ports.working_memory import LIFETIME, MAX_TURNS, SessionKey, WorkingTurns


class FakeWorkingMemory:
    """The `WorkingMemory` port."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._turns: dict[SessionKey, list[WorkingTurn]] = defaultdict(list)
        self._expires_at: dict[SessionKey, datetime] = {}
        self._forgotten: dict[SessionKey, set[UUID]] = defaultdict(set)
        self._floor: dict[SessionKey, int] = defaultdict(int)

    async def append(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        kept = [turn for turn in turns if not self._is_forgotten(session, turn)]
        if kept:
            self._turns[session] = [*self._turns[session], *kept][-MAX_TURNS:]
            self._expires_at[session] = self._clock.now() + LIFETIME

    async def refill(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        held = {turn.event.event_id for turn in self._turns[session]}
        lost = [turn for turn in turns if turn.event.event_id not in held and not self._is_forgotten(session, turn)]
        written_at = [turn.event.created_at for turn in lost if turn.event.created_at]
        if written_at and max(written_at) + LIFETIME > self._clock.now():
            ordered = sorted([*self._turns[session], *lost], key=lambda turn: turn.event.sequence)
            self._turns[session] = ordered[-MAX_TURNS:]
            lapses_at = max(written_at) + LIFETIME
            self._expires_at[session] = max(lapses_at, self._expires_at.get(session, lapses_at))

    async def last_turns(self, session: SessionKey, count: int) -> WorkingTurns:
        turns = {turn.event.event_id: turn for turn in self._turns[session]}
        ordered = sorted(turns.values(), key=lambda turn: turn.event.sequence)
        return WorkingTurns(tuple(ordered[-count:]), self._expires_at.get(session) if ordered else None)

    async def forget(self, session: SessionKey, event_ids: Collection[UUID], *, through_sequence: int = 0) -> None:
        self._forgotten[session] |= set(event_ids)
        self._floor[session] = max(self._floor[session], through_sequence)
        self._turns[session] = [turn for turn in self._turns[session] if not self._is_forgotten(session, turn)]

    def _is_forgotten(self, session: SessionKey, turn: WorkingTurn) -> bool:
        event = turn.event
        return event.event_id in self._forgotten[session] or event.sequence <= self._floor[session]
