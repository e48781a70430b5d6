"""The port to a cross-encoder that scores (query, passage) pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class RerankScores:
    """Scores of the passages a reranker reached within its budget.

    Attributes:
        scores: (n,) float32 in [0, 1]; NaN from index `scored` on.
        scored: how many passages, counted from the first, have a score.
    """

    scores: NDArray[np.float32]
    scored: int


class Reranker(Protocol):
    """Scores how well passages answer a query."""

    @property
    def name(self) -> str:
        """The model's name, as reported in recall traces."""
        ...

    @property
    def seconds_per_pair(self) -> float:
        """Measured cost of one pair, a moving average; 0 before the first measurement."""
        ...

    async def rerank(self, query: str, passages: Sequence[str], *, budget_seconds: float) -> RerankScores:
        """Score passages in the order given until the next batch would exceed the budget.

        Hand in the most promising passages first: the rest may stay unscored.

        Raises:
            InvalidModelInput: the query or a passage is blank, or the budget is negative or not finite.
            ModelUnavailable: the model cannot answer now.
        """
        ...

    async def close(self) -> None:
        """Release the model; later calls raise `ModelClosed`. Closing twice is harmless."""
        ...
