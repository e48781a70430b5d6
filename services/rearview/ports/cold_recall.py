"""The cold part of recall."""

from typing import Protocol
from uuid import UUID

from rearview.domain.errors import Unavailable
from rearview.ports.found_units import FoundUnits
from rearview.ports.recall_store import Found, Generation, Search


class SegmentsReplaced(Unavailable):
    """Segments are not there any more: compacted, purged or brought back since the catalog was read."""


class ColdRoutes(Protocol):
    """Finds units in the segments of a namespace."""

    async def find(
        self, tenant_id: UUID, search: Search, found: Found, generation: Generation, *, timeout_seconds: float
    ) -> FoundUnits:
        """Return what the segments in `found` hold for a search, by the same routes as the hot and warm tiers.

        Raises:
            DeadlineExceeded: it took longer than `timeout_seconds`.
            SegmentsReplaced: the catalog is to be read again.
            Unavailable: object storage or the database does not answer.
        """
        ...
