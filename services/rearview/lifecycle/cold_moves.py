"""What happens to cold segments: written, merged, freed of what is dead or forgotten, and their leftovers swept.

The order of a move survives any crash: an object is written and read back before one transaction enters it into the
catalog and points memories to it, and deleted after one transaction has made it garbage. What a crash leaves is an
object that no catalog row names; it is swept when it is old enough to belong to no move under way.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from rearview.domain.cold import SEGMENT_MEMORIES, ColdMemory, Segment
from rearview.lifecycle.fault_points import FaultPoints
from rearview.ports.clock import Clock
from rearview.ports.tiering import ColdBatch, ErasedUnit, KeptRow, Lease, SegmentStore, TierStore

Made = Callable[[Sequence[ColdMemory]], Awaitable[Sequence[ColdMemory]]]
"""Makes the units of memories anew; returns the memories in order."""

SMALL_SEGMENT = SEGMENT_MEMORIES // 4
DEAD_SHARE = 0.2
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ColdRules:
    """`orphan_age` has to be longer than any move takes; segments are merged at `small_segment` live memories, and
    freed of dead rows from `dead_share` of them on."""

    orphan_age: timedelta = timedelta(hours=1)
    small_segment: int = SMALL_SEGMENT
    dead_share: float = DEAD_SHARE


class ColdMoves:
    """Each method can be repeated after it was killed anywhere."""

    def __init__(
        self, store: TierStore, segments: SegmentStore, clock: Clock, *, rules: ColdRules, faults: FaultPoints
    ) -> None:
        self._store = store
        self._segments = segments
        self._clock = clock
        self._rules = rules
        self._faults = faults

    async def make_cold(self, lease: Lease, memory_ids: Sequence[UUID], on_moved: Callable[[int], None]) -> int:
        """Move warm memories into segments; return how many. `on_moved` is told after each segment.

        Raises:
            Conflict: another worker holds the namespace now.
            Unavailable: the database or object storage does not do its part; what was moved, is.
        """
        moved = 0
        for part in await self._store.segment_parts(lease, memory_ids):
            for batch in await self._store.cold_batches(lease, part):
                self._faults.reach("cold.read")
                segment, digest = await self._segments.write(lease.tenant_id, lease.namespace_id, batch)
                self._faults.reach("cold.written")
                await self._segments.verify(segment, digest)
                self._faults.reach("cold.verified")
                count = await self._store.make_cold(lease, segment, batch, now=self._clock.now())
                self._faults.reach("cold.committed")
                moved += count
                on_moved(count)
        return moved

    async def compact(self, lease: Lease) -> int:
        """Merge small segments and free others of dead rows; return how many were replaced. Raises as `make_cold`."""
        segments = await self._store.segments(lease.tenant_id, lease.namespace_id)
        replaced = 0
        for group in _groups(segments, self._rules):
            await self._rewrite(lease, group, frozenset())
            replaced += len(group)
        return replaced

    async def erase(self, lease: Lease, memory_ids: Collection[UUID], freed: Collection[UUID] = ()) -> int:
        """Rewrite the segments that hold anything of these memories without it, and delete the old ones with all
        their versions; return how many segments there were. Of the memories `freed` only dead rows go. Raises as
        `make_cold`."""
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        found = await self._store.segments_of(tenant_id, namespace_id, [*memory_ids, *freed])
        for segment in await self._store.segments(tenant_id, namespace_id, found) if found else ():
            await self._rewrite(lease, [segment], frozenset(memory_ids))
        await self.delete_garbage(lease)
        return len(found)

    async def free(self, lease: Lease) -> int:
        """Rewrite the segments that have dead rows without them, and delete the old ones with all their versions;
        return how many there were. Raises as `make_cold`."""
        segments = await self._store.segments(lease.tenant_id, lease.namespace_id)
        stale = [segment for segment in segments if segment.dead]
        for segment in stale:
            await self._rewrite(lease, [segment], frozenset())
        await self.delete_garbage(lease)
        return len(stale)

    async def reembed(self, lease: Lease, segment: Segment, generation: int, made: Made) -> None:
        """Put a segment with vectors of another generation in the place of one. Raises as `make_cold`, and what `made`
        raises."""
        await self._rewrite(lease, [segment], frozenset(), generation=generation, made=made)

    async def delete_garbage(self, lease: Lease) -> int:
        """Delete replaced segments' objects with all their versions; return how many. Raises as `make_cold`."""
        keys = await self._store.garbage(lease.tenant_id, lease.namespace_id)
        for key in keys:
            await self._segments.erase(key)
            self._faults.reach("garbage.erased")
            await self._store.drop_garbage(lease.tenant_id, lease.namespace_id, key)
            self._faults.reach("garbage.dropped")
        return len(keys)

    async def sweep_orphans(self, lease: Lease, *, of_any_age: bool = False) -> int:
        """Delete objects that no move will ever enter into the catalog; return how many versions. Raises as
        `make_cold`.

        Those `of_any_age` include what a move that has lost its lease is still writing, which it then fails to enter.
        """
        before = _END_OF_TIME if of_any_age else self._clock.now() - self._rules.orphan_age
        tenant_id, namespace_id = lease.tenant_id, lease.namespace_id
        deleted = 0
        async for listed in self._segments.stored(tenant_id, namespace_id):
            # The catalog is read after the list and under the lease: what is not in it now, never will be.
            known = await self._store.object_keys(lease)
            orphans = [version for version in listed if version.modified_at <= before and version.key not in known]
            if orphans:
                self._faults.reach("orphans.found")
                await self._segments.delete(orphans)
                self._faults.reach("orphans.deleted")
                deleted += len(orphans)
        return deleted + await self._segments.abort_uploads(tenant_id, namespace_id, before=before)

    async def _rewrite(
        self,
        lease: Lease,
        old: Sequence[Segment],
        doomed: frozenset[UUID],
        *,
        generation: int | None = None,
        made: Made | None = None,
    ) -> None:
        kept: list[tuple[ColdMemory, KeptRow]] = []
        erased: list[ErasedUnit] = []
        for segment in old:
            dead = frozenset(segment.dead)
            for row, memory in enumerate(await self._segments.read(segment)):
                if row in dead:
                    continue
                if memory.memory_id in doomed:
                    erased += [ErasedUnit(memory.memory_id, tuple(u.terms.tolist()), u.flags) for u in memory.units]
                else:
                    kept.append((memory, KeptRow(memory.memory_id, (segment.segment_id, row))))
        self._faults.reach("rewrite.read")
        kept.sort(key=lambda each: (each[0].first, each[0].memory_id))
        new = None
        if kept:
            memories = tuple(memory for memory, _ in kept)
            if made is not None:
                memories = tuple(await made(memories))
            dimension = next((len(unit.embedding) for memory in memories for unit in memory.units), 1)
            batch = ColdBatch(old[0].generation if generation is None else generation, dimension, memories, ())
            segment, digest = await self._segments.write(lease.tenant_id, lease.namespace_id, batch)
            self._faults.reach("rewrite.written")
            await self._segments.verify(segment, digest)
            self._faults.reach("rewrite.verified")
            new = (segment, [row for _, row in kept])
        ids = [segment.segment_id for segment in old]
        await self._store.replace_segments(lease, ids, new, doomed=doomed, erased=erased, now=self._clock.now())
        self._faults.reach("rewrite.committed")


def _groups(segments: Sequence[Segment], rules: ColdRules) -> list[list[Segment]]:
    """Return what is to be rewritten together: small segments of one generation, neighbours in time first, and single
    ones with many dead rows."""
    groups: list[list[Segment]] = []
    for generation in sorted({segment.generation for segment in segments}):
        of_generation = [segment for segment in segments if segment.generation == generation]
        small = [segment for segment in of_generation if segment.live < rules.small_segment]
        gathered: list[Segment] = []
        for segment in small:
            if sum(one.live for one in gathered) + segment.live > SEGMENT_MEMORIES:
                groups.append(gathered)
                gathered = []
            gathered.append(segment)
        groups.append(gathered)
        groups = [group for group in groups if len(group) > 1 or any(_is_stale(one, rules) for one in group)]
        groups += [[one] for one in of_generation if one not in small and _is_stale(one, rules)]
    return groups


def _is_stale(segment: Segment, rules: ColdRules) -> bool:
    return len(segment.dead) > rules.dead_share * segment.memories
