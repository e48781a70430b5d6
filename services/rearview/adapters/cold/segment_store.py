"""Whole segments in an object store: written, read back, erased."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from rearview.adapters.cold.segment_format import decode_segment, encode_segment
from rearview.adapters.cold.segment_index import SegmentIndex
from rearview.adapters.cold.segment_layout import SegmentDamaged
from rearview.domain.cold import ColdMemory, Segment
from rearview.domain.errors import NotFound, Unavailable
from rearview.domain.ids import new_id
from rearview.ports.cold_store import ColdObjects, ObjectVersion
from rearview.ports.tiering import ColdBatch

_SUFFIX = ".segment"


class ObjectSegmentStore:
    """The `SegmentStore` port. Keys are `{tenant}/{namespace}/{sha256}.segment`."""

    def __init__(self, objects: ColdObjects) -> None:
        self._objects = objects

    async def write(self, tenant_id: UUID, namespace_id: UUID, batch: ColdBatch) -> tuple[Segment, bytes]:
        """Store a new segment; see `SegmentStore.write`."""
        encoded = await asyncio.to_thread(encode_segment, batch.memories, batch.dimension)
        digest = hashlib.sha256(encoded.data).digest()
        segment = Segment(
            segment_id=new_id(),
            object_key=f"{_folder(tenant_id, namespace_id)}{digest.hex()}{_SUFFIX}",
            generation=batch.generation,
            memories=encoded.memories,
            units=encoded.units,
            index_bytes=encoded.index_bytes,
            total_bytes=len(encoded.data),
            first=min(memory.first for memory in batch.memories),
            last=max(memory.last for memory in batch.memories),
            block_offsets=encoded.block_offsets,
        )
        await self._objects.put(segment.object_key, encoded.data)
        return segment, digest

    async def verify(self, segment: Segment, digest: bytes) -> None:
        """Read a segment back and compare; see `SegmentStore.verify`."""
        try:
            data = await self._objects.get(segment.object_key)
            index = SegmentIndex(data) if hashlib.sha256(data).digest() == digest else None
        except (NotFound, SegmentDamaged):
            index = None
        if index is None or index.memory_count != segment.memories:
            raise Unavailable(
                "object storage does not hold what it was given", retry_after_seconds=1.0, dependency="object_storage"
            )

    async def read(self, segment: Segment) -> list[ColdMemory]:
        """Return all memories of a segment; see `SegmentStore.read`."""
        try:
            data = await self._objects.get(segment.object_key)
            return await asyncio.to_thread(_whole, data, segment.object_key)
        except (NotFound, SegmentDamaged) as error:
            raise Unavailable("a cold segment cannot be read", dependency="object_storage") from error

    async def erase(self, key: str) -> None:
        """Delete all versions of a segment's object; see `SegmentStore.erase`."""
        await self._objects.erase(key)

    def stored(self, tenant_id: UUID, namespace_id: UUID) -> AsyncIterator[Sequence[ObjectVersion]]:
        """Yield what is in a namespace's place; see `SegmentStore.stored`."""
        return self._objects.versions(_folder(tenant_id, namespace_id))

    async def erase_all(self, tenant_id: UUID, namespace_id: UUID | None = None) -> int:
        """Delete everything of a namespace or tenant; see `SegmentStore.erase_all`."""
        folder = _folder(tenant_id, namespace_id) if namespace_id else f"{tenant_id}/"
        deleted = await self._objects.abort_uploads(folder, before=datetime.max.replace(tzinfo=UTC))
        first_before: Sequence[ObjectVersion] = ()
        while True:
            first: Sequence[ObjectVersion] = ()
            async for found in self._objects.versions(folder):
                first = first or found
                if found == first_before:
                    raise Unavailable("objects are still there after they were deleted", dependency="object_storage")
                await self._objects.delete_versions(found)
                deleted += len(found)
            if not first:
                return deleted
            first_before = first

    async def delete(self, versions: Collection[ObjectVersion]) -> None:
        """Delete exactly these versions; see `SegmentStore.delete`."""
        await self._objects.delete_versions(versions)

    async def abort_uploads(self, tenant_id: UUID, namespace_id: UUID, *, before: datetime) -> int:
        """Abort unfinished uploads; see `SegmentStore.abort_uploads`."""
        return await self._objects.abort_uploads(_folder(tenant_id, namespace_id), before=before)


def _folder(tenant_id: UUID, namespace_id: UUID) -> str:
    return f"{tenant_id}/{namespace_id}/"


def _whole(data: bytes, key: str) -> list[ColdMemory]:
    """Return the memories of a segment that is what its key says. Raises: SegmentDamaged."""
    if hashlib.sha256(data).hexdigest() != key.rpartition("/")[2].removesuffix(_SUFFIX):
        raise SegmentDamaged("a segment is not what was written under its key")
    return decode_segment(data)
