"""Neighbour smoothing: a turn's search vector also carries some of the turns around it.

Cosine is linear in the unit's vector, so adding weighted neighbours to the vector equals adding
their weighted scores at query time, at no cost to the query.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.generation import normalise_rows


@dataclass(frozen=True, slots=True)
class NeighbourWeights:
    """How much of each neighbour enters a turn's vector; measured on long multi-session dialogues."""

    two_before: float = 0.4
    before: float = 0.7
    itself: float = 1.0
    after: float = 0.5
    two_after: float = 0.3

    def __post_init__(self) -> None:
        if self.itself <= 0:
            raise InvalidModelInput("itself", f"a turn must count in its own vector, got weight {self.itself}")
        if min(self.two_before, self.before, self.after, self.two_after) < 0:
            raise InvalidModelInput("weights", "a neighbour's weight must not be negative")

    def by_offset(self) -> tuple[tuple[int, float], ...]:
        """Return (offset, weight) pairs; offset -1 is the previous turn."""
        return ((-2, self.two_before), (-1, self.before), (0, self.itself), (1, self.after), (2, self.two_after))


REACH = 2
"""A turn's window is complete once this many turns have followed it, or the session has ended."""

DEFAULT_WEIGHTS = NeighbourWeights()


def smooth(turns: NDArray[np.float32], weights: NeighbourWeights = DEFAULT_WEIGHTS) -> NDArray[np.float32]:
    """Return each turn's smoothed vector: (n, d) float32, rows L2-normalised.

    Row i is `norm(sum_j weight(j - i) * turns[j])`; neighbours beyond either end count nothing.

    Args:
        turns: (n, d) centred L2-normalised vectors of consecutive turns of ONE session.
        weights: the neighbours' weights.

    Raises:
        InvalidModelInput: `turns` is not two-dimensional, or neighbours cancel a turn exactly.
    """
    if turns.ndim != 2:
        raise InvalidModelInput("turns", f"expected shape (n, d), got {turns.shape}")
    count = turns.shape[0]
    summed = np.zeros(turns.shape, dtype=np.float32)
    for offset, weight in weights.by_offset():
        first, last = max(0, -offset), min(count, count - offset)
        if first < last:
            summed[first:last] += np.float32(weight) * turns[first + offset : last + offset]
    return normalise_rows(summed)


def smooth_turn(
    turns: NDArray[np.float32], position: int, weights: NeighbourWeights = DEFAULT_WEIGHTS
) -> NDArray[np.float32]:
    """Return the smoothed vector of the turn at `position`: (d,) float32, L2-normalised.

    The same numbers as `smooth(turns, weights)[position]`; only the window is read.
    """
    if not 0 <= position < turns.shape[0]:
        raise InvalidModelInput("position", f"{position} is outside the {turns.shape[0]} turns")
    first = max(0, position - REACH)
    window = turns[first : position + REACH + 1]
    row: NDArray[np.float32] = smooth(window, weights)[position - first]
    return row
