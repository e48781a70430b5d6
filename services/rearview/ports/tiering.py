"""Moving memories between tiers in the database. Every move is one transaction under a lease, or changes nothing."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from rearview.domain.cold import ColdContent, ColdMemory, ColdPointer, ColdUnit, Segment
from rearview.domain.lifecycle_policy import LifecyclePolicy
from rearview.ports.cold_store import ObjectVersion


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to move memories of one namespace; the token grows with every holder."""

    tenant_id: UUID
    namespace_id: UUID
    holder: UUID
    token: int


@dataclass(frozen=True, slots=True, eq=False)
class ColdBatch:
    """Warm memories of one generation as they were read; `versions` tell at the commit which of them changed since."""

    generation: int
    dimension: int
    memories: tuple[ColdMemory, ...]
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KeptRow:
    """A row that a rewritten segment keeps, and where it was."""

    memory_id: UUID
    old: tuple[UUID, int]


@dataclass(frozen=True, slots=True, eq=False)
class Restored:
    """A cold memory's content and units, as its segment keeps them."""

    pointer: ColdPointer
    content: ColdContent
    units: tuple[ColdUnit, ...]


@dataclass(frozen=True, slots=True)
class ErasedUnit:
    """A unit that leaves a segment for good: what the counts of BM25 lose."""

    memory_id: UUID
    terms: tuple[int, ...]
    flags: int


class TierStore(Protocol):
    """The database's part. Methods that take a lease raise Conflict when it is held by another meanwhile; all raise
    Unavailable and DeadlineExceeded."""

    async def acquire(self, tenant_id: UUID, namespace_id: UUID, *, length: timedelta) -> Lease | None:
        """Take a namespace's lease; None while another holds it."""
        ...

    async def renew(self, lease: Lease, *, length: timedelta) -> None:
        """Hold a lease for longer."""
        ...

    async def release(self, lease: Lease, *, swept: bool) -> None:
        """Give a lease back; `swept` says that the namespace needs no sweep for a while."""
        ...

    async def policy(self, tenant_id: UUID, namespace_id: UUID) -> LifecyclePolicy:
        """Return the policy in force."""
        ...

    async def namespaces(self, tenant_id: UUID, namespace_id: UUID | None) -> list[UUID]:
        """Return the tenant's namespaces, or just the one."""
        ...

    async def unused(
        self, tenant_id: UUID, namespace_id: UUID, tier: int, *, cutoff: datetime, floor: float, limit: int
    ) -> list[UUID]:
        """Return memories of a tier that were neither written nor read since, the oldest first."""
        ...

    async def excess(self, tenant_id: UUID, namespace_id: UUID, *, most: int, floor: float, limit: int) -> list[UUID]:
        """Return what a namespace holds hot beyond `most` memories, the oldest and least valued first."""
        ...

    async def used(self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int) -> list[UUID]:
        """Return warm and cold memories that were read since they left the hot tier."""
        ...

    async def make_warm(
        self, lease: Lease, memory_ids: Collection[UUID], *, cutoff: datetime | None, floor: float, now: datetime
    ) -> int:
        """Move hot memories to the warm tier, those that still may; return how many."""
        ...

    async def segment_parts(self, lease: Lease, memory_ids: Collection[UUID]) -> list[list[UUID]]:
        """Return warm memories in parts that make one segment each: by time, bounded in number and in bytes."""
        ...

    async def cold_batches(self, lease: Lease, memory_ids: Collection[UUID]) -> list[ColdBatch]:
        """Read warm memories with their units, by generation, sorted by time."""
        ...

    async def make_cold(self, lease: Lease, segment: Segment, batch: ColdBatch, *, now: datetime) -> int:
        """Enter a segment into the catalog and point its memories to it; return how many. Those that changed since
        they were read stay warm; when all did, nothing is entered."""
        ...

    async def make_hot(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], *, now: datetime
    ) -> int:
        """Move warm memories back to the hot tier; return how many. Needs no lease."""
        ...

    async def pointers(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[ColdPointer]:
        """Return where cold ones among these memories are."""
        ...

    async def restore(
        self, tenant_id: UUID, namespace_id: UUID, restored: Sequence[Restored], *, generation: int, now: datetime
    ) -> int:
        """Bring cold memories back to the hot tier; return how many. Those whose place has changed are left."""
        ...

    async def segments(
        self, tenant_id: UUID, namespace_id: UUID, segment_ids: Collection[UUID] | None = None
    ) -> list[Segment]:
        """Return catalog rows, all or those of these ids."""
        ...

    async def segments_of(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[UUID]:
        """Return the segments in which anything of these memories stands, dead or alive."""
        ...

    async def replace_segments(
        self,
        lease: Lease,
        old: Sequence[UUID],
        new: tuple[Segment, Sequence[KeptRow]] | None,
        *,
        doomed: Collection[UUID],
        erased: Sequence[ErasedUnit],
        now: datetime,
    ) -> None:
        """Put a segment (or none) in the place of others, whose objects become garbage. Raises: Conflict, when a
        memory points to a row that the new segment does not keep."""
        ...

    async def garbage(self, tenant_id: UUID, namespace_id: UUID) -> list[str]:
        """Return the keys of objects that are to be deleted."""
        ...

    async def drop_garbage(self, tenant_id: UUID, namespace_id: UUID, key: str) -> None:
        """Say that an object is deleted."""
        ...

    async def object_keys(self, lease: Lease) -> frozenset[str]:
        """Return the keys of a namespace's segments, read under the lease."""
        ...

    async def enqueue_sweeps(self, *, age: timedelta, limit: int) -> int:
        """Enqueue sweeps of namespaces that were not swept for so long; return how many."""
        ...


class SegmentStore(Protocol):
    """Segment objects. All methods raise Unavailable when the store does not do its part, or not truly."""

    async def write(self, tenant_id: UUID, namespace_id: UUID, batch: ColdBatch) -> tuple[Segment, bytes]:
        """Store a new segment; return its catalog row to be, and the hash of its bytes."""
        ...

    async def verify(self, segment: Segment, digest: bytes) -> None:
        """Read a segment back and compare: success is what can be read. Raises: Unavailable when it is not that."""
        ...

    async def read(self, segment: Segment) -> list[ColdMemory]:
        """Return all memories of a segment, by row."""
        ...

    async def erase(self, key: str) -> None:
        """Delete all versions of a segment's object."""
        ...

    def stored(self, tenant_id: UUID, namespace_id: UUID) -> AsyncIterator[Sequence[ObjectVersion]]:
        """Yield all versions of whatever is in a namespace's place, a page at a time."""
        ...

    async def erase_all(self, tenant_id: UUID, namespace_id: UUID | None = None) -> int:
        """Delete every version of everything in a namespace's place, or in that of the whole tenant, uploads included;
        return how many there were."""
        ...

    async def delete(self, versions: Collection[ObjectVersion]) -> None:
        """Delete exactly these versions."""
        ...

    async def abort_uploads(self, tenant_id: UUID, namespace_id: UUID, *, before: datetime) -> int:
        """Abort uploads that were begun before a moment; return how many."""
        ...


class Rehydrator(Protocol):
    """Brings memories back to the hot tier."""

    async def rehydrate(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> int:
        """Bring back the warm and cold ones among these memories; return how many.

        Raises:
            Unavailable: the database or object storage does not answer.
        """
        ...


class ColdContents(Protocol):
    """The content of cold memories."""

    async def contents(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
    ) -> Mapping[UUID, ColdContent]:
        """Return what segments keep of the cold ones among these memories. Raises: Unavailable."""
        ...

    async def restored(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> list[Restored]:
        """Return the cold ones among these memories with their units; they stay where they are. Raises: Unavailable."""
        ...
