"""Working memory: the last turns of a session, held outside the database and lost without harm.

What it has lost is read from the event log, which decides which turns there are; see `SessionTail`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from rearview.domain.event import Event, WorkingTurn

MAX_TURNS = 200
LIFETIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One session of one namespace of one tenant."""

    tenant_id: UUID
    namespace_id: UUID
    session_id: str


@dataclass(frozen=True, slots=True)
class WorkingTurns:
    """Turns by their sequence, oldest first, and when they lapse; None where nothing is held."""

    turns: tuple[WorkingTurn, ...]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class TailTurn:
    """A turn that the event log has, without its content."""

    event_id: UUID
    created_at: datetime


class SessionTail(Protocol):
    """The end of a session as the event log has it. Both methods raise Unavailable when the log does not answer."""

    async def tail(self, session: SessionKey, count: int) -> Sequence[TailTurn]:
        """Return the last `count` turns that are not forgotten, oldest first; none when there is no such session."""
        ...

    async def turns(self, session: SessionKey, event_ids: Collection[UUID]) -> Sequence[Event]:
        """Return those of these events that the session has and that are not forgotten, in no order."""
        ...


class RecentTurns(Protocol):
    """Reads the last turns of a session."""

    async def last_turns(self, session: SessionKey, count: int) -> WorkingTurns:
        """Return the last `count` turns, each event once.

        Raises:
            Unavailable: they cannot be read.
        """
        ...


class WorkingMemory(RecentTurns, Protocol):
    """Holds at most MAX_TURNS turns a session, for LIFETIME since its last append."""

    async def append(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        """Add turns. A turn that was forgotten is not added, whatever the order in which the two calls arrive.

        Raises:
            Unavailable: the store cannot be reached; the caller goes on without it.
        """
        ...

    async def refill(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        """Put back, in their order, turns that were lost; otherwise as `append`, which adds at the end.

        Raises:
            Unavailable: the store cannot be reached; the caller goes on without it.
        """
        ...

    async def forget(self, session: SessionKey, event_ids: Collection[UUID], *, through_sequence: int = 0) -> None:
        """Drop these events, and all up to `through_sequence`, and refuse them from now on for LIFETIME.

        Raises:
            Unavailable: the store cannot be reached; to be repeated until it can.
        """
        ...
