"""The copy of one namespace's vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.vector_copies.vector_list import VectorList
from rearview.domain.search_unit import UnitFlag
from rearview.ports.vector_copies import NearUnits, UnitVectors

_GONE = b""


@dataclass(frozen=True, slots=True, eq=False)
class VectorCopy:
    """A namespace's units as of a moment, a list for each language; text of both is in both."""

    chinese: VectorList
    other: VectorList
    since: str
    recent: Mapping[UUID, bytes] = field(default_factory=dict)
    """What was changed lately, and to what. While a transaction lasts, what was committed after it began is reported
    again each time."""

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
        written = dict.fromkeys(changed, _GONE)
        written.update(zip(units.unit_ids(), _digests(units), strict=True))
        news = {unit_id for unit_id, digest in written.items() if self.recent.get(unit_id) != digest}
        ids = np.frombuffer(b"".join(unit_id.bytes for unit_id in news), dtype=np.uint8).reshape(-1, 16)
        return replace(
            self,
            chinese=self.chinese.discarding(ids),
            other=self.other.discarding(ids),
            since=since,
            recent=written,
        ).adding(units.among(news))

    def nearest(self, vector: NDArray[np.float32], limit: int) -> NearUnits:
        """Return the units that are likely the `limit` nearest of each language."""
        return NearUnits(self.chinese.nearest(vector, limit), self.other.nearest(vector, limit), self.since)


def _digests(units: UnitVectors) -> Iterator[bytes]:
    for flags, vector in zip(units.flags, units.vectors, strict=True):
        yield blake2b(vector.tobytes(), digest_size=16, key=flags.tobytes()).digest()
