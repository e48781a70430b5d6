"""Moving closed search units into the table with the vector index, in batches and behind the scenes."""

from uuid import UUID

from rearview.ports.session_index import SessionIndex


class UnitMerger:
    """The job `merge_fresh_units`."""

    def __init__(self, index: SessionIndex, *, batch_units: int = 200) -> None:
        self._index = index
        self._batch_units = batch_units

    async def merge(self, tenant_id: UUID, namespace_id: UUID) -> int:
        """Move all closed units of a namespace, one bounded transaction after the other; return how many.

        Raises:
            Unavailable: the database cannot be reached; what has moved, has moved.
        """
        moved = 0
        while True:
            batch = await self._index.merge_fresh_units(tenant_id, namespace_id, limit=self._batch_units)
            moved += batch
            if batch < self._batch_units:
                return moved
