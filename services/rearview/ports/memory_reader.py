"""Reading of memories, sessions, events and receipts."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.event import CaptureTrace, Event, Session
from rearview.domain.forget import ForgetReceipt
from rearview.domain.memory import Memory, MemoryState
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter


class MemoryReader(Protocol):
    """Reads memories. All methods raise Unavailable when the store does not answer; none returns tombstoned ones."""

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return one memory in whatever state. Raises: NotFound."""
        ...

    async def list_page(
        self,
        scope: Scope,
        memory_filter: MemoryFilter,
        filter_entity_keys: tuple[str, ...],
        states: Collection[MemoryState],
        page: PageRequest,
        as_of: datetime | None = None,
    ) -> Page[Memory]:
        """Return a page of memories, newest first, with `as_of` those that were held then.

        Pages neither overlap nor shift when memories are added.
        """
        ...

    async def history(self, scope: Scope, memory_id: UUID, page: PageRequest) -> Page[Memory]:
        """Return a page of the chain of supersessions that a memory is part of, newest first. Raises: NotFound."""
        ...


class EventReader(Protocol):
    """Reads the event log. All methods raise Unavailable when the store does not answer."""

    async def events(
        self, scope: Scope, session_id: str, page: PageRequest, *, newest_first: bool = False
    ) -> Page[Event]:
        """Return a page of a session's events, oldest first unless `newest_first`. Raises: NotFound."""
        ...

    async def sessions(self, scope: Scope, page: PageRequest) -> Page[Session]:
        """Return a page of sessions, the one with the latest event first."""
        ...

    async def require_session(self, scope: Scope, session_id: str) -> None:
        """Raises: NotFound."""
        ...

    async def capture_trace(self, scope: Scope, session_id: str, event_id: UUID) -> CaptureTrace:
        """Return what became of an event. Raises: NotFound."""
        ...

    async def receipt(self, tenant_id: UUID, receipt_id: UUID) -> tuple[UUID, ForgetReceipt]:
        """Return a receipt with the id of its namespace. Raises: NotFound."""
        ...
