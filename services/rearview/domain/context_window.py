"""Context windows of turns, grown one turn at a time: nothing is embedded twice, and no turn waits for its neighbours.

A turn's search vector and keyword bag also carry the two turns before and after it (`smoothing`, `keyword_bag`). They
are written at once with what is known, and again as turns follow; two turns later, or when the session ends, the
window is complete.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain import keyword_bag
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.smoothing import DEFAULT_WEIGHTS, REACH

KEPT = REACH + 1
"""How many last turns are kept: those whose window is open, and one more for finding topic boundaries."""

_SMALLEST_NORM = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class WindowedTurn:
    """A turn with its window so far.

    Attributes:
        unit_id: the search unit, which is the event's id.
        memory_id: the memory that holds the turn.
        sequence: the event's place in its session.
        plain: (d,) float32, the turn's own vector, centred and L2-normalised.
        weighted_sum: (d,) float32, weighted sum of the window's vectors, not normalised.
        own_keywords: the turn's own terms in order, repeats included.
        bag: the terms of the window.
        asks: whether the turn asks something, so that the next one may answer.
    """

    unit_id: UUID
    memory_id: UUID
    sequence: int
    plain: NDArray[np.float32]
    weighted_sum: NDArray[np.float32]
    own_keywords: tuple[int, ...]
    bag: KeywordBag
    asks: bool = False

    @property
    def vector(self) -> NDArray[np.float32]:
        """The search vector of the window so far: (d,) float32, L2-normalised."""
        length = float(np.linalg.norm(self.weighted_sum))
        if length < _SMALLEST_NORM:  # neighbours that cancel the turn exactly: it speaks for itself
            return self.plain
        scaled: NDArray[np.float32] = (self.weighted_sum / length).astype(np.float32)
        return scaled

    def with_neighbour(self, other: "WindowedTurn", vector_weight: float, keyword_weight: float) -> "WindowedTurn":
        """Return this turn with a neighbour taken into its window."""
        return replace(
            self,
            weighted_sum=self.weighted_sum + np.float32(vector_weight) * other.plain,
            bag=self.bag.including(other.own_keywords, keyword_weight),
        )


def alone(
    unit_id: UUID,
    memory_id: UUID,
    sequence: int,
    plain: NDArray[np.float32],
    own_keywords: tuple[int, ...],
    *,
    asks: bool = False,
) -> WindowedTurn:
    """Return a turn whose window holds nothing but itself yet."""
    own = own_keywords[: keyword_bag.MAX_OWN_TOKENS]
    weighted = np.float32(DEFAULT_WEIGHTS.itself) * plain
    return WindowedTurn(unit_id, memory_id, sequence, plain, weighted, own, KeywordBag.of(own), asks)


_BEFORE = ((DEFAULT_WEIGHTS.before, keyword_bag.BEFORE), (DEFAULT_WEIGHTS.two_before, keyword_bag.TWO_BEFORE))
_AFTER = ((DEFAULT_WEIGHTS.after, keyword_bag.AFTER), (DEFAULT_WEIGHTS.two_after, keyword_bag.TWO_AFTER))


def with_window(turn: WindowedTurn, before: Iterable[WindowedTurn], after: Iterable[WindowedTurn]) -> WindowedTurn:
    """Return a turn (made by `alone`) with the turns before and after it taken into its window, each side nearest
    first."""
    for neighbours, weights in ((before, _BEFORE), (after, _AFTER)):
        for neighbour, (vector_weight, keyword_weight) in zip(neighbours, weights, strict=False):
            turn = turn.with_neighbour(neighbour, vector_weight, keyword_weight)
    return turn


@dataclass(frozen=True, slots=True, eq=False)
class OpenWindows:
    """The last turns of a session, oldest first, at most KEPT; the last REACH of them have open windows."""

    turns: tuple[WindowedTurn, ...] = ()

    def extended(self, turn: WindowedTurn) -> tuple["OpenWindows", tuple[WindowedTurn, ...]]:
        """Return the windows after one more turn (made by `alone`), and the turn whose window it completed, if any."""
        weights = DEFAULT_WEIGHTS
        open_turns = list(self.turns[-REACH:])
        if open_turns:
            previous = open_turns[-1]
            turn = turn.with_neighbour(previous, weights.before, keyword_bag.BEFORE)
            if len(open_turns) == REACH:
                turn = turn.with_neighbour(open_turns[-2], weights.two_before, keyword_bag.TWO_BEFORE)
            # The neighbours' own vectors and terms are what counts, so it does not matter that `turn` has grown.
            open_turns[-1] = previous.with_neighbour(turn, weights.after, keyword_bag.AFTER)
            if len(open_turns) == REACH:
                open_turns[-2] = open_turns[-2].with_neighbour(turn, weights.two_after, keyword_bag.TWO_AFTER)
        finished = (open_turns[0],) if len(open_turns) == REACH else ()
        return OpenWindows((*open_turns, turn)[-KEPT:]), finished

    def closed(self) -> tuple[WindowedTurn, ...]:
        """Return the turns whose windows are complete because the session has ended."""
        return self.turns[-REACH:]
