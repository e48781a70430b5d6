"""The words of facts: whose they are, and putting others in their place when those are forgotten."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.ports.stated_facts import StatedFact


@dataclass(frozen=True, slots=True)
class StatingTurn:
    """A turn that states a fact, and the turns before it, in order."""

    session_id: str
    turn: Event
    earlier: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class WordedFact:
    """A fact with all that states it now: turns and memories, the earliest first of each."""

    namespace: str
    fact: Memory
    turns: tuple[StatingTurn, ...]
    memories: tuple[Memory, ...]


class FactWords(Protocol):
    """Each call is one transaction."""

    async def read(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> WordedFact | None:
        """Return a fact and what states it; None when it is gone, forgotten, or a fact no more."""
        ...

    async def replace(
        self, tenant_id: UUID, namespace_id: UUID, before: Memory, stated: StatedFact, *, now: datetime
    ) -> None:
        """Give a fact the words, the session, the source and the search unit of a statement of the same value.

        Raises:
            Conflict: the fact has changed since it was read.
        """
        ...
