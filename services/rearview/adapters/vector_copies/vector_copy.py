"""The copy of one namespace's vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.vector_copies.vector_list import VectorList
from rearview.domain.search_unit import UnitFlag
from rearview.ports.vector_copies import NearUnits, UnitVectors


@dataclass(frozen=True, slots=True, eq=False)
class VectorCopy:
    """A namespace's units as of a moment, a list for each language; text of both is in both."""

    chinese: VectorList
    other: VectorList
    since: str

    @classmethod
    def empty(cls, dimension: int, since: str) -> "VectorCopy":
        """Return a copy without units."""
        return cls(VectorList(dimension), VectorList(dimension), since)

    def __len__(self) -> int:
        return len(self.chinese) + len(self.other)

    @property
    def bytes(self) -> int:
        """What it takes in memory, about."""
        return self.chinese.bytes + self.other.bytes

    @property
    def discarded_share(self) -> float:
        """Which share of its rows is of units that are gone."""
        gone = self.chinese.discarded + self.other.discarded
        return gone / (len(self) + gone) if gone else 0.0

    def adding(self, units: UnitVectors) -> "VectorCopy":
        """Return it with more units, none of which it has."""
        in_chinese = (units.flags & int(UnitFlag.CHINESE)) != 0
        in_other = ~in_chinese | ((units.flags & int(UnitFlag.ENGLISH)) != 0)
        return replace(
            self,
            chinese=self.chinese.adding(units.ids[in_chinese], units.vectors[in_chinese]),
            other=self.other.adding(units.ids[in_other], units.vectors[in_other]),
        )

    def brought_up_to(self, since: str, changed: Sequence[UUID], units: UnitVectors) -> "VectorCopy":
        """Return it as of a later moment: of what changed, `units` are there now."""
        ids = np.frombuffer(b"".join(one.bytes for one in changed), dtype=np.uint8).reshape(-1, 16)
        without = replace(self, chinese=self.chinese.discarding(ids), other=self.other.discarding(ids), since=since)
        return without.adding(units)

    def nearest(self, vector: NDArray[np.float32], limit: int) -> NearUnits:
        """Return the units that are likely the `limit` nearest of each language."""
        return NearUnits(self.chinese.nearest(vector, limit), self.other.nearest(vector, limit), self.since)
