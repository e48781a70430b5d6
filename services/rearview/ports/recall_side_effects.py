"""What a recall leaves behind: a trace, and counts of what it returned. Neither may delay or fail the answer."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.principal import Scope
from rearview.domain.recall import RecallTrace


class RecallTraceStore(Protocol):
    """Keeps traces of recalls."""

    async def write(self, tenant_id: UUID, principal: str, namespace_ids: Collection[UUID], trace: RecallTrace) -> None:
        """Store a trace, unless something in it was purged; writing the same again changes nothing.

        Raises: Unavailable.
        """
        ...

    async def read(self, tenant_id: UUID, trace_id: UUID) -> tuple[str, frozenset[UUID], RecallTrace] | None:
        """Return who recalled, in which namespaces, and the trace; None if there is none. Raises: Unavailable."""
        ...


class AccessCounter(Protocol):
    """Counts accesses of memories, to be folded into the store later."""

    async def count(self, tenant_id: UUID, accessed: Mapping[UUID, Collection[UUID]], at: datetime) -> None:
        """Count one access of each memory, given by namespace. Raises: Unavailable."""
        ...


class RecallRecorder(Protocol):
    """Takes what a recall leaves behind, at once and without failing; what does not fit is dropped and counted."""

    def record(
        self, tenant_id: UUID, principal: str, scopes: Collection[Scope], trace: Callable[[], Awaitable[RecallTrace]]
    ) -> None:
        """Have a trace made and written."""
        ...

    def count_accesses(self, tenant_id: UUID, accessed: Mapping[UUID, Collection[UUID]], at: datetime) -> None:
        """Have accesses counted."""
        ...

    def hand_out(self, scopes: Collection[Scope], texts: Collection[str], at: datetime) -> None:
        """Have what was returned to readers of these namespaces known, for the guard against echoes."""
        ...
