"""Working memory: the last turns of a session, held outside the database and lost without harm."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from rearview.domain.event import WorkingTurn

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


class WorkingMemory(Protocol):
    """Holds at most MAX_TURNS turns a session, for LIFETIME since its last append."""

    async def append(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        """Add turns. A turn that was forgotten is not added, whatever the order in which the two calls arrive.

        Raises:
            Unavailable: the store cannot be reached; the caller goes on without it.
        """
        ...

    async def last_turns(self, session: SessionKey, count: int) -> WorkingTurns:
        """Return the last `count` turns, each event once.

        Raises:
            Unavailable: the store cannot be reached.
        """
        ...

    async def forget(self, session: SessionKey, event_ids: Collection[UUID], *, through_sequence: int = 0) -> None:
        """Drop these events, and all up to `through_sequence`, and refuse them from now on for LIFETIME.

        Raises:
            Unavailable: the store cannot be reached; to be repeated until it can.
        """
        ...
