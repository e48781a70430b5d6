"""Scoring within a time budget, on a clock that only moves when pairs are scored."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rearview.adapters.models.rerank_budget import BudgetedScoring
from rearview.domain.embedding_errors import InvalidModelInput, ModelAnswerInvalid


class MeteredScorer:
    """Scores .5, taking a given time a pair on its own clock."""

    def __init__(self, seconds_per_pair: float) -> None:
        self.now = 100.0
        self.seconds_per_pair = seconds_per_pair
        self.batches: list[int] = []

    def clock(self) -> float:
        return self.now

    def __call__(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        self.batches.append(len(pairs))
        self.now += self.seconds_per_pair * len(pairs)
        return np.full(len(pairs), 0.5, dtype=np.float32)


PASSAGES = [f"第{number}段 passage" for number in range(20)]


async def test_everything_is_scored_within_a_wide_budget() -> None:
    scorer = MeteredScorer(0.1)
    scoring = BudgetedScoring("test", scorer, max_batch_pairs=8, clock=scorer.clock)
    result = await scoring.rerank("问题", PASSAGES, budget_seconds=60)
    assert result.scored == 20
    assert np.isfinite(result.scores).all()
    assert scoring.seconds_per_pair == pytest.approx(0.1)
    await scoring.close()


async def test_the_budget_is_not_overrun_once_the_cost_is_known() -> None:
    scorer = MeteredScorer(0.1)
    scoring = BudgetedScoring("test", scorer, max_batch_pairs=8, clock=scorer.clock)
    await scoring.rerank("q", PASSAGES[:1], budget_seconds=60)
    begun = scorer.now
    result = await scoring.rerank("q", PASSAGES, budget_seconds=1.15)
    assert result.scored == 11
    assert scorer.now - begun <= 1.15
    assert np.isfinite(result.scores[:11]).all()
    assert np.isnan(result.scores[11:]).all()
    await scoring.close()


async def test_an_unknown_cost_risks_one_pair_only() -> None:
    scorer = MeteredScorer(5.0)
    scoring = BudgetedScoring("test", scorer, clock=scorer.clock)
    result = await scoring.rerank("q", PASSAGES, budget_seconds=0.2)
    assert result.scored == 1
    assert scorer.batches == [1]
    await scoring.close()


async def test_no_budget_scores_nothing() -> None:
    scorer = MeteredScorer(0.1)
    scoring = BudgetedScoring("test", scorer, clock=scorer.clock)
    result = await scoring.rerank("q", PASSAGES, budget_seconds=0)
    assert (result.scored, scorer.batches) == (0, [])
    assert result.scores.shape == (20,)
    await scoring.close()


async def test_the_cost_follows_a_slower_machine() -> None:
    scorer = MeteredScorer(0.1)
    scoring = BudgetedScoring("test", scorer, clock=scorer.clock)
    await scoring.rerank("q", PASSAGES, budget_seconds=60)
    scorer.seconds_per_pair = 0.4
    for _ in range(10):
        await scoring.rerank("q", PASSAGES, budget_seconds=60)
    assert scoring.seconds_per_pair == pytest.approx(0.4, rel=0.01)
    await scoring.close()


@pytest.mark.parametrize("budget", [-1.0, float("nan"), float("inf")])
async def test_senseless_budgets_are_refused(budget: float) -> None:
    scoring = BudgetedScoring("test", MeteredScorer(0.1))
    with pytest.raises(InvalidModelInput, match="budget_seconds"):
        await scoring.rerank("q", PASSAGES, budget_seconds=budget)
    await scoring.close()


async def test_blank_texts_are_refused() -> None:
    scoring = BudgetedScoring("test", MeteredScorer(0.1))
    with pytest.raises(InvalidModelInput, match="query"):
        await scoring.rerank(" ", PASSAGES, budget_seconds=1)
    with pytest.raises(InvalidModelInput, match=r"passages\[1\]"):
        await scoring.rerank("q", ["a", ""], budget_seconds=1)
    await scoring.close()


async def test_missing_scores_are_an_error() -> None:
    scoring = BudgetedScoring("test", lambda pairs: np.empty(0, dtype=np.float32))
    with pytest.raises(ModelAnswerInvalid):
        await scoring.rerank("q", PASSAGES, budget_seconds=1)
    await scoring.close()
