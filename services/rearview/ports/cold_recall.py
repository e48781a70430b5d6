"""The cold part of recall."""

from typing import Protocol
from uuid import UUID

from rearview.ports.found_units import FoundUnits
from rearview.ports.recall_store import Found, Generation, Search


class ColdRoutes(Protocol):
    """Finds units in the segments of a namespace."""

    async def find(
        self, tenant_id: UUID, search: Search, found: Found, generation: Generation, *, timeout_seconds: float
    ) -> FoundUnits:
        """Return what the segments in `found` hold for a search, by the same routes as the hot and warm tiers.

        Raises:
            DeadlineExceeded: it took longer than `timeout_seconds`.
            Unavailable: object storage or the database does not answer.
        """
        ...
