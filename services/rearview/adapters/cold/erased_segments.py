"""Looking in a namespace's objects for what a purge has erased."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_index import SegmentIndex
from rearview.adapters.cold.segment_layout import SegmentDamaged
from rearview.domain.cold import Segment
from rearview.domain.errors import NotFound
from rearview.domain.ids import made_at
from rearview.ports.cold_store import ColdObjects
from rearview.ports.tiering import SegmentStore, TierStore

SEGMENTS = "s3.cold_segment"
OLD_VERSIONS = "s3.old_version"
UNREADABLE = "s3.unreadable"

_START_OF_TIME = datetime.min.replace(tzinfo=UTC)
_CLOCKS_DIFFER = timedelta(days=1)


class SegmentErasureCheck:
    """The `ObjectErasureCheck` port.

    Of a segment of the catalog the index part is read, of an object that no catalog names all of it, one at a time.
    Objects that were stored before any of the ids was made are passed over: a forget of something recent reads next to
    nothing, however much is cold.
    """

    def __init__(self, store: TierStore, segments: SegmentStore, objects: ColdObjects) -> None:
        self._store = store
        self._segments = segments
        self._objects = objects

    async def left(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> Mapping[str, int]:
        """Return what is left in objects; see `ObjectErasureCheck.left`."""
        found = Counter({SEGMENTS: 0, OLD_VERSIONS: 0, UNREADABLE: 0})
        since, wanted = _made_since(ids), np.frombuffer(b"".join(one.bytes for one in ids), "S16")
        seen: set[str] = set()
        async for listed in self._segments.stored(tenant_id, namespace_id):
            # A segment is stored once under its name. What another version or a deletion covers is none of the
            # platform's doing, and can be read by whoever asks for that version.
            found[OLD_VERSIONS] += sum(not (version.is_current or version.is_deletion) for version in listed)
            catalog = await self._catalog(tenant_id, namespace_id)
            for version in listed:
                if not version.is_current or version.is_deletion:
                    continue
                if version.key in catalog:
                    seen.add(version.key)
                if version.modified_at >= since:
                    found.update(await self._kinds(version.key, catalog.get(version.key), wanted))
        # The catalog is read after the list, so that what was stored and entered meanwhile is looked at as well.
        for key, segment in (await self._catalog(tenant_id, namespace_id)).items():
            if key not in seen:
                found.update(await self._kinds(key, segment, wanted))
        return found

    async def _catalog(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, Segment]:
        return {segment.object_key: segment for segment in await self._store.segments(tenant_id, namespace_id)}

    async def _kinds(self, key: str, segment: Segment | None, wanted: NDArray[np.bytes_]) -> Sequence[str]:
        """Return as what an object counts: as nothing if it holds none of the ids."""
        if not wanted.size:
            return ()
        try:
            if segment is None:
                data = await self._objects.get(key)
            else:
                data = await self._objects.get_range(key, 0, segment.index_bytes)
            return [SEGMENTS] if await asyncio.to_thread(_holds, data, wanted) else ()
        except NotFound:  # compacted or purged since it was listed
            return ()
        except SegmentDamaged:  # nobody can say what it holds
            return [UNREADABLE]


def _made_since(ids: Collection[UUID]) -> datetime:
    """Return a moment before which no object can hold one of the ids; those that were derived from others tell none."""
    if not ids or any(one.version != 7 for one in ids):
        return _START_OF_TIME
    return datetime.fromtimestamp(min(map(made_at, ids)), UTC) - _CLOCKS_DIFFER


def _holds(data: bytes, wanted: NDArray[np.bytes_]) -> bool:
    """Whether one of the ids is that of a memory, or of a turn that a memory was made of."""
    index = SegmentIndex(data)
    if len(index.rows_of(wanted)):
        return True
    units = np.ascontiguousarray(index.unit_ids).view("S16").reshape(-1)
    return bool(np.isin(units, wanted).any())
