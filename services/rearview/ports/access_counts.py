"""Counts of accesses, on their way from where recall leaves them to the store."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AccessCount:
    """How often a memory was accessed since the last batch, and when last."""

    namespace_id: UUID
    memory_id: UUID
    count: int
    last_accessed_at: datetime | None


@dataclass(frozen=True, slots=True)
class AccessBatch:
    """Counts of one tenant. `number` grows from batch to batch, so that a store adds none of them twice."""

    tenant_id: UUID
    number: int
    counts: tuple[AccessCount, ...]


class AccessCountSource(Protocol):
    """Where counts wait. All methods raise Unavailable."""

    def tenants(self) -> AsyncIterator[UUID]:
        """Yield the tenants that may have counts."""
        ...

    async def take(self, tenant_id: UUID, *, limit: int) -> AccessBatch | None:
        """Set about `limit` counts apart and return them; a batch that was not confirmed comes again first. None
        when there are none."""
        ...

    async def confirm(self, batch: AccessBatch) -> None:
        """Drop a batch that the store has added; does nothing when another one is set apart meanwhile."""
        ...


class AccessCountStore(Protocol):
    """Where counts end."""

    async def add(self, batch: AccessBatch) -> int:
        """Add the counts of memories that are there, once; return of how many. 0 for a batch that was added before.

        Raises:
            Unavailable: the store cannot be reached; nothing was added.
        """
        ...
