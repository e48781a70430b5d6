"""Copies of vectors in memory: what they are made of, and what a search gets from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray


class CopyPlace(NamedTuple):
    """A namespace's units in one model generation, by the generation's ordinal."""

    tenant_id: UUID
    namespace_id: UUID
    ordinal: int


@dataclass(frozen=True, slots=True, eq=False)
class UnitVectors:
    """Active search units. `ids`: (n, 16) uint8; `flags`: (n,) int16, as in the index; `vectors`: (n, d) float32."""

    ids: NDArray[np.uint8]
    flags: NDArray[np.int16]
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)

    def unit_ids(self) -> list[UUID]:
        """Return their ids."""
        return [UUID(bytes=one.tobytes()) for one in self.ids]

    def among(self, unit_ids: Collection[UUID]) -> "UnitVectors":
        """Return those of them that are among others."""
        rows = np.array([unit_id in unit_ids for unit_id in self.unit_ids()], dtype=np.bool_)
        return UnitVectors(self.ids[rows], self.flags[rows], self.vectors[rows])


@dataclass(frozen=True, slots=True, eq=False)
class NearUnits:
    """What a copy finds: ids of the units that are likely the nearest, (n, 16) uint8, of text that holds Chinese and of
    the rest and what holds English beside it, in no order. `since`: what transactions from this one on wrote, a text of
    PostgreSQL's `xid8`, the copy may not know."""

    chinese: NDArray[np.uint8]
    other: NDArray[np.uint8]
    since: str


class VectorCopies(Protocol):
    """Copies of the vectors of namespaces that are asked often."""

    async def nearest(self, place: CopyPlace, vector: NDArray[np.float32], limit: int) -> NearUnits | None:
        """Return the `limit` nearest units of each language, or all there are; None where there is no copy."""
        ...

    def asked(self, place: CopyPlace, units: int) -> None:
        """Take note that a namespace of so many units was searched: one that is asked again gets a copy."""
        ...


class VectorSource(Protocol):
    """Where the vectors are stored. All raise DeadlineExceeded, Overloaded and Unavailable."""

    async def moment(self, place: CopyPlace) -> str:
        """Return `since` for what is read from now on; see `NearUnits`."""
        ...

    async def page(self, place: CopyPlace, after: UUID, limit: int) -> UnitVectors:
        """Return the next active units by id, at most `limit`."""
        ...

    async def changes(self, place: CopyPlace, since: str, limit: int) -> tuple[str, Sequence[UUID]]:
        """Return the moment, and which units were written or deleted since another one, at most `limit`."""
        ...

    async def units(self, place: CopyPlace, unit_ids: Sequence[UUID]) -> UnitVectors:
        """Return those of the units that are there and active."""
        ...
