"""What recall handed out lately, so that it is known when it comes back."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

LIFETIME = timedelta(hours=24)
"""How long what was handed out is known."""

MAX_HASHES = 20_000
"""Sentences that are known for a namespace; the oldest make room."""


class HandedOut(Protocol):
    """Hashes of sentences by namespace; never the sentences. All methods raise Unavailable."""

    async def record(
        self, tenant_id: UUID, namespace_ids: Collection[UUID], hashes: Collection[str], at: datetime
    ) -> None:
        """Say that sentences were handed out to readers of these namespaces."""
        ...

    async def known(
        self, tenant_id: UUID, namespace_id: UUID, hashes: Collection[str], *, now: datetime
    ) -> dict[str, datetime]:
        """Return which of these were handed out, each with when first."""
        ...

    async def clear(self, tenant_id: UUID, namespace_id: UUID) -> None:
        """Forget what was handed out in a namespace: what is forgotten may be told again as news."""
        ...
