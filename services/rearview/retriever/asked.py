"""A recall as it comes to the retriever, and what it keeps to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rearview.domain.principal import Scope
from rearview.domain.recall import RecallQuery
from rearview.domain.relevance import DEFAULT_FLOOR, Floor


@dataclass(frozen=True, slots=True)
class RecallLimits:
    """What recall keeps to. Of the caller's time, `reserve_share` and `reserve_seconds` more are left for what follows
    the reading: making a partial answer of what there is, and its way back."""

    total_seconds: float = 5.0
    working_memory_seconds: float = 0.25
    reserve_seconds: float = 0.02
    reserve_share: float = 0.1
    floor: Floor = DEFAULT_FLOOR

    def seconds(self, time_left_seconds: float | None) -> float:
        """Return for how long a recall may read, given how long its caller waits (None: as long as it takes)."""
        if time_left_seconds is None:
            return self.total_seconds
        return min(self.total_seconds, time_left_seconds * (1.0 - self.reserve_share) - self.reserve_seconds)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A recall with what came beside it.

    Attributes:
        query: the validated request.
        scopes: the namespaces, readable by the caller; the first is that of the query's session.
        vectors: the query's vectors by generation id: (d,) float32, centred, L2-normalised.
        time_left_seconds: how long the caller still waits; None for no deadline.
    """

    query: RecallQuery
    scopes: Sequence[Scope]
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    time_left_seconds: float | None = None
