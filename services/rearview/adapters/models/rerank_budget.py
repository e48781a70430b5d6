"""Scoring passages in small batches for as long as a time budget allows."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.model_thread import ModelThread
from rearview.adapters.models.text_checks import checked_budget, checked_text, checked_texts
from rearview.domain.embedding_errors import ModelAnswerInvalid
from rearview.ports.reranker import RerankScores

ScorePairs = Callable[[list[tuple[str, str]]], NDArray[np.float32]]
"""Scores (query, passage) pairs: (n,) float32 in [0, 1]."""

_NEWEST_WEIGHT = 0.3


class BudgetedScoring:
    """The `Reranker` port over a pair scorer, which runs in a worker thread and whose cost a pair is counted.

    The cost is a moving average of measured seconds per pair. Before the first measurement a
    batch of one pair is tried, so that a budget is overrun by one pair at most.

    Attributes:
        name: the model's name.
        seconds_per_pair: measured cost of one pair; 0 before the first measurement.
    """

    def __init__(
        self,
        name: str,
        score_pairs: ScorePairs,
        *,
        max_batch_pairs: int = 8,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.seconds_per_pair = 0.0
        self._score_pairs = score_pairs
        self._max_batch_pairs = max_batch_pairs
        self._clock = clock
        self._thread = ModelThread(name)

    async def rerank(self, query: str, passages: Sequence[str], *, budget_seconds: float) -> RerankScores:
        """Score passages in order until the next batch would end after the budget; see `Reranker`.

        Time spent waiting behind other callers counts against the budget.
        """
        checked_text("query", query)
        checked = checked_texts("passages", passages)
        deadline = self._clock() + checked_budget(budget_seconds)
        scores = np.full(len(checked), np.nan, dtype=np.float32)
        scored = 0
        while scored < len(checked):
            pairs = [(query, passage) for passage in checked[scored : scored + self._max_batch_pairs]]
            batch_scores = await self._thread.run(partial(self._score_within, pairs, deadline))
            if not batch_scores.size:
                break
            scores[scored : scored + batch_scores.size] = batch_scores
            scored += batch_scores.size
        return RerankScores(scores=scores, scored=scored)

    async def close(self) -> None:
        """End the worker thread."""
        await self._thread.close()

    def _score_within(self, pairs: list[tuple[str, str]], deadline: float) -> NDArray[np.float32]:
        """Score as many of the pairs as fit before the deadline, perhaps none."""
        started = self._clock()
        left_seconds = deadline - started
        if left_seconds <= 0:
            return np.empty(0, dtype=np.float32)
        affordable = int(left_seconds / self.seconds_per_pair) if self.seconds_per_pair else 1
        affordable = min(affordable, len(pairs))
        if affordable == 0:
            return np.empty(0, dtype=np.float32)
        scores = self._score_pairs(pairs[:affordable])
        if scores.shape != (affordable,) or not np.isfinite(scores).all():
            raise ModelAnswerInvalid(f"expected {affordable} finite scores, got shape {scores.shape}")
        cost = (self._clock() - started) / affordable
        known = self.seconds_per_pair or cost
        self.seconds_per_pair = (1 - _NEWEST_WEIGHT) * known + _NEWEST_WEIGHT * cost
        return scores
