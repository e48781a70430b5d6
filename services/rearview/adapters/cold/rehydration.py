"""Bringing memories back to the hot tier, and reading the content of cold ones where they are."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from rearview.adapters.cold.cold_reader import ColdReader
from rearview.domain.cold import ColdContent, ColdPointer, Segment
from rearview.domain.errors import Unavailable
from rearview.ports.clock import Clock
from rearview.ports.tiering import Restored, TierStore

_MOST_ATTEMPTS = 5
_AT_ONCE = 500


class SegmentRehydrator:
    """The `Rehydrator` and `ColdContents` ports. Reads of segments hold no connection; a memory whose place changed
    meanwhile, by a compaction, is looked up again."""

    def __init__(
        self,
        store: TierStore,
        reader: ColdReader,
        clock: Clock,
        *,
        on_step: Callable[[str], None] = lambda _step: None,
    ) -> None:
        """`on_step` is told the name of each step that ended."""
        self._store = store
        self._reader = reader
        self._clock = clock
        self._on_step = on_step

    async def rehydrate(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> int:
        """Bring memories back; see `Rehydrator.rehydrate`."""
        ids = list(memory_ids)
        moved = 0
        for first in range(0, len(ids), _AT_ONCE):
            part = ids[first : first + _AT_ONCE]
            moved += await self._store.make_hot(tenant_id, namespace_id, part, now=self._clock.now())
            self._on_step("rehydrate.warm_moved")
            moved += await self._from_segments(tenant_id, namespace_id, part)
        return moved

    async def contents(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
    ) -> Mapping[UUID, ColdContent]:
        """Return the content of cold memories; see `ColdContents.contents`."""
        found: dict[UUID, ColdContent] = {}
        missing = frozenset(memory_ids)
        for _ in range(_MOST_ATTEMPTS):
            pointers = await self._store.pointers(tenant_id, namespace_id, missing)
            if not pointers:
                return found
            found |= await self._reader.contents(pointers)
            missing = frozenset(pointer.memory_id for pointer in pointers) - found.keys()
            if not missing:
                return found
        raise _not_there()

    async def restored(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[Restored]:
        """Return cold memories with their units, where they are; see `ColdContents.restored`."""
        found: list[Restored] = []
        missing = frozenset(memory_ids)
        for _ in range(_MOST_ATTEMPTS):
            pointers = await self._store.pointers(tenant_id, namespace_id, missing)
            if not pointers:
                return found
            for segment, within in await self._by_segment(tenant_id, namespace_id, pointers):
                found += await self._reader.restored(segment, within)
            missing = frozenset(pointer.memory_id for pointer in pointers) - {one.pointer.memory_id for one in found}
            if not missing:
                return found
        raise _not_there()

    async def _by_segment(
        self, tenant_id: UUID, namespace_id: UUID, pointers: Collection[ColdPointer]
    ) -> list[tuple[Segment, list[ColdPointer]]]:
        by_segment: dict[UUID, list[ColdPointer]] = defaultdict(list)
        for pointer in pointers:
            by_segment[pointer.segment_id].append(pointer)
        segments = await self._store.segments(tenant_id, namespace_id, by_segment.keys())
        return [(segment, by_segment[segment.segment_id]) for segment in segments]

    async def _from_segments(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> int:
        moved = 0
        for _ in range(_MOST_ATTEMPTS):
            pointers = await self._store.pointers(tenant_id, namespace_id, memory_ids)
            if not pointers:
                return moved
            for segment, within in await self._by_segment(tenant_id, namespace_id, pointers):
                restored = await self._reader.restored(segment, within)
                self._on_step("rehydrate.read")
                moved += await self._store.restore(
                    tenant_id, namespace_id, restored, generation=segment.generation, now=self._clock.now()
                )
                self._on_step("rehydrate.restored")
        if await self._store.pointers(tenant_id, namespace_id, memory_ids):
            raise _not_there()
        return moved


def _not_there() -> Unavailable:
    return Unavailable(
        "cold memories cannot be read from their segments", retry_after_seconds=1.0, dependency="object_storage"
    )
