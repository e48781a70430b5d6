"""What was written to namespaces since: counters that each write raises in its own transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from rearview.domain.addition import Addition


@dataclass(frozen=True, slots=True)
class Epoch:
    """A namespace's counters. `breaking` rises when an earlier answer may be wrong, `additive`, by slot, when something
    was added."""

    breaking: int = 0
    additive: Mapping[int, int] = field(default_factory=dict)


class Epochs(Protocol):
    """Both raise Unavailable when the store does not answer."""

    async def read(self, tenant_id: UUID, namespace_ids: Collection[UUID]) -> Mapping[UUID, Epoch]:
        """Return the epochs of namespaces, as of now; those of one never written to are zero."""
        ...

    async def additions(
        self, tenant_id: UUID, since: Mapping[UUID, Epoch], until: Mapping[UUID, Epoch]
    ) -> Mapping[UUID, Sequence[Addition]] | None:
        """Return the additions between two readings by namespace; None if one of them is not known any more, or there
        are too many to look at."""
        ...
