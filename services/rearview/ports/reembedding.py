"""What re-embedding needs of the database: units without a vector of a generation, what they say, where vectors go."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.operation import Operation
from rearview.domain.principal import Caller
from rearview.ports.forgetting import StaleTurn


@dataclass(frozen=True, slots=True)
class UnitToEmbed:
    """A unit without a vector of a generation, or with an old one; `change` names what made it old, None if nothing
    did."""

    unit_id: UUID
    memory_id: UUID
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """Units of a namespace that changed since they were embedded for a generation."""

    namespace_id: UUID
    ordinal: int
    units: tuple[UnitToEmbed, ...]


@dataclass(frozen=True, slots=True)
class MemoryText:
    """What a memory says, and when that happened; a cold one's content is in its segment."""

    content: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class UnitTexts:
    """What units say: turns with those in their windows, and memories, by id. What is forgotten is in neither."""

    turns: Mapping[UUID, StaleTurn]
    memories: Mapping[UUID, MemoryText]


@dataclass(frozen=True, slots=True)
class TenantGenerations:
    """Which generation answers a tenant, and for which other one its memories are embedded, if for any.

    Attributes:
        answering, target: ordinals.
        current: of the generation that writers make vectors of.
        cleared: whether what an earlier re-embedding left in the target's tables is gone.
    """

    answering: int
    current: int
    target: int | None
    cleared: bool


class ReembeddingStore(Protocol):
    """All methods raise Unavailable and DeadlineExceeded."""

    async def begin(
        self, caller: Caller, tenant_id: UUID, generation: EmbeddingGeneration, operation: Operation
    ) -> Operation:
        """Make a generation known and a tenant's target, keep the operation and have it carried out.

        Raises: Conflict, while another one is under way; PreconditionFailed, when it answers the tenant already or
        another target answers it.
        """
        ...

    async def generations(self, tenant_id: UUID) -> TenantGenerations:
        """Return how a tenant's generations stand."""
        ...

    async def generation_id(self, ordinal: int) -> str:
        """Return a generation's id. Raises: NotFound."""
        ...

    async def await_writers(self) -> None:
        """Wait until every transaction knows of the tenant's target."""
        ...

    async def clear(self, tenant_id: UUID, ordinal: int, *, limit: int) -> bool:
        """Delete what an earlier re-embedding left in the target's tables, so many units at most; return whether that
        was all, which is noted."""
        ...

    async def unit_count(self, tenant_id: UUID, ordinal: int) -> int:
        """Return how many units of a tenant carry vectors of a generation, cold ones included."""
        ...

    async def missing(
        self, tenant_id: UUID, namespace_id: UUID, *, source: int, target: int, after: UUID, limit: int
    ) -> list[UnitToEmbed]:
        """Return units of a namespace without a vector of the target, in the order of their ids."""
        ...

    async def changed(self, tenant_id: UUID, *, limit: int) -> Changed | None:
        """Return some of a tenant's units that changed since they were embedded; None when there are none."""
        ...

    async def texts(self, tenant_id: UUID, namespace_id: UUID, units: Sequence[UnitToEmbed]) -> UnitTexts:
        """Return what units say."""
        ...

    async def store(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        ordinal: int,
        units: Sequence[UnitToEmbed],
        vectors: Sequence[NDArray[np.float32] | None],
    ) -> None:
        """Store vectors of units as these stand now, and take off the list what has not changed since; None stands for
        a unit that says nothing any more."""
        ...

    async def merge(self, tenant_id: UUID, namespace_id: UUID, *, limit: int) -> int:
        """Move units whose windows are complete to the table with the vector index; return how many."""
        ...

    async def serve(self, tenant_id: UUID, ordinal: int, *, most_changed: int) -> bool:
        """Have a generation answer a tenant from now on; False while more units than that have changed."""
        ...

    async def tenants_with_changes(self, *, limit: int) -> Collection[UUID]:
        """Return tenants with units that changed."""
        ...
