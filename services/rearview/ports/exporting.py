"""Reading a whole namespace for an export, part by part: no call holds a connection for longer than one part."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from rearview.domain.exchange.records import ExportedEvent, ExportedMemory, Manifest
from rearview.domain.memory import MemoryState
from rearview.domain.principal import Scope

EventPlace = tuple[str, int]
"""Session and sequence: where an event stands."""


class ExportReader(Protocol):
    """All raise Unavailable and DeadlineExceeded."""

    async def begin(self, scope: Scope, states: Collection[MemoryState]) -> Manifest:
        """Record in the audit that a namespace is exported, and return its manifest."""
        ...

    async def events(self, scope: Scope, after: EventPlace) -> Sequence[ExportedEvent]:
        """Return the next events in the order of their sessions, without forgotten ones; none at the end."""
        ...

    async def memories(self, scope: Scope, states: Collection[MemoryState], after: UUID) -> Sequence[ExportedMemory]:
        """Return the next memories in these states in the order of their ids, with their units wherever they are kept;
        none at the end. Memories whose time has run out are left out."""
        ...
