"""What lapses by itself: memories and events whose time has come."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.fall_rule import FallRule
from rearview.domain.memory import MemoryType, Tier


class ExpiryStore(Protocol):
    """The database's part. All methods raise Unavailable and DeadlineExceeded."""

    async def due(self, tenant_id: UUID, namespace_id: UUID, *, now: datetime, limit: int) -> list[UUID]:
        """Return memories whose own end has come, the longest overdue first."""
        ...

    async def lapsed(
        self, tenant_id: UUID, namespace_id: UUID, types: Collection[MemoryType], *, now: datetime, limit: int
    ) -> list[UUID]:
        """Return cold memories of these types that the policy in force lets expire, since nobody used them."""
        ...

    async def fallen(
        self, tenant_id: UUID, namespace_id: UUID, tier: Tier, rule: FallRule, *, limit: int
    ) -> list[UUID]:
        """Return memories of a tier whose value has fallen, among the `limit` that are likely to be worth least. From
        the cold tier only episodes fall."""
        ...

    async def expire(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        memory_ids: Collection[UUID],
        rule: FallRule | None = None,
        *,
        now: datetime,
    ) -> int:
        """Forget those of these memories that are still expired, with all that derives from them, to be purged at once;
        return how many memories were forgotten. Raises: Conflict, NotFound, when what is expired has changed."""
        ...

    async def old_events(self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int) -> int:
        """Count events that were appended before a moment, no further than `limit`."""
        ...

    async def lapse_events(
        self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int, now: datetime
    ) -> int:
        """Delete such events, the oldest first, `limit` at most; return how many. Memories made of them stay."""
        ...
