"""Memories that are stored and changed by request; each call is one transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.redaction import Sealed
from rearview.domain.unit_projection import KeywordStatistics, SearchUnit
from rearview.domain.writing import Remembered, RequestKey
from rearview.ports.known_statements import Watch
from rearview.ports.stated_facts import StatedFact


@dataclass(frozen=True, slots=True, eq=False)
class NewMemory:
    """A memory without turns, with the unit by which it is found, its full keyword bag, and what its text was
    before redaction where the tenant keeps that."""

    memory: Memory
    unit: SearchUnit
    bag: KeywordBag
    original: Sealed | None = None


class MemoryStore(Protocol):
    """Writes hold the audit record, the epoch and the jobs they lead to. A repeated request id answers as before."""

    async def remembered_before(self, scope: Scope, request: RequestKey) -> Remembered | None:
        """Return the answer of a request that was carried out before; None the first time.

        Raises:
            RequestIdReused: the id stands for another request.
            NotFound: what was remembered has been forgotten since.
        """
        ...

    async def statistics(self, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts, with those of the given terms."""
        ...

    async def remember(
        self,
        scope: Scope,
        new: NewMemory,
        *,
        request: RequestKey | None,
        now: datetime,
        merge_units_at: datetime | None,
        facts: tuple[StatedFact, ...] = (),
        says_same: UUID | None = None,
        watch: Watch | None = None,
    ) -> Remembered:
        """Store a memory, unless an active, trusted one says the same word for word: then it is REDUNDANT with that.

        `says_same` is a memory that says it in other words: where that is active still, the new one is MERGED into it
        and adds nothing to it. What is stated (`facts`) counts either way; where that took the place of other facts, it
        SUPERSEDED those. `watch` is on what it stands that the memory is new.

        Raises:
            Doubted: others have stored what may be the same meanwhile; nothing was written.
            RequestIdReused: the id stands for another request.
        """
        ...

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return a memory that is not forgotten.

        Raises:
            NotFound: there is none, or it was forgotten.
        """
        ...

    async def update(
        self,
        scope: Scope,
        before: Memory,
        after: Memory,
        *,
        projection: NewMemory | None,
        request: RequestKey | None,
        now: datetime,
        facts: tuple[StatedFact, ...] = (),
    ) -> Memory:
        """Replace a memory; `projection` is set when its text has changed and is then how it is found from now on.

        What the old text alone had stated ends, and `facts` are what the new one states.

        Raises:
            Conflict: the memory has changed since `before` was read.
            NotFound: it was forgotten meanwhile.
            RequestIdReused: the id stands for another request.
        """
        ...

    async def updated_before(self, scope: Scope, request: RequestKey) -> Memory | None:
        """Return the memory that this request changed before, as it stands now; None the first time.

        Raises:
            RequestIdReused: the id stands for another request.
            NotFound: the memory has been forgotten since.
        """
        ...
