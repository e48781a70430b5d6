"""The cross-encoder adapters on a tiny random model: loading and plumbing, never relevance."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models.cross_encoder_reranker import CrossEncoderReranker
from rearview.adapters.models.flag_reranker import FlagReranker
from rearview.domain.embedding_errors import InvalidModelInput, ModelClosed, ModelMismatch
from rearview.ports.reranker import Reranker
from tests.support.bilingual_texts import ALL
from tests.support.tiny_cross_encoder_folder import tiny_cross_encoder_folder

ADAPTERS: dict[str, type[FlagReranker] | type[CrossEncoderReranker]] = {
    "flag": FlagReranker,
    "cross-encoder": CrossEncoderReranker,
}


@pytest.fixture(params=ADAPTERS)
async def reranker(request: pytest.FixtureRequest, cross_encoder_folder: Path) -> AsyncIterator[Reranker]:
    opened = ADAPTERS[request.param](str(cross_encoder_folder), name="tiny")
    yield opened
    await opened.close()


async def test_all_passages_are_scored_in_order(reranker: Reranker, capfd: pytest.CaptureFixture[str]) -> None:
    result = await reranker.rerank("我喜欢什么？", ALL, budget_seconds=60)
    assert result.scored == len(ALL)
    assert result.scores.dtype == np.float32
    assert ((result.scores > 0) & (result.scores < 1)).all()
    backwards = await reranker.rerank("我喜欢什么？", ALL[::-1], budget_seconds=60)
    np.testing.assert_allclose(backwards.scores[::-1], result.scores, atol=1e-5)
    assert reranker.name == "tiny"
    assert reranker.seconds_per_pair > 0
    assert "Compute Scores" not in capfd.readouterr().err


async def test_no_budget_scores_nothing(reranker: Reranker) -> None:
    result = await reranker.rerank("q", ALL, budget_seconds=0)
    assert result.scored == 0
    assert np.isnan(result.scores).all()


async def test_no_passages_give_no_scores(reranker: Reranker) -> None:
    result = await reranker.rerank("q", [], budget_seconds=1)
    assert (result.scored, result.scores.shape) == (0, (0,))


async def test_long_pairs_are_cut(cross_encoder_folder: Path) -> None:
    for adapter in ADAPTERS.values():
        reranker = adapter(str(cross_encoder_folder), max_tokens=64)
        result = await reranker.rerank("q" * 500, ["花生" * 500], budget_seconds=60)
        assert result.scored == 1
        await reranker.close()


async def test_blank_query_is_refused(reranker: Reranker) -> None:
    with pytest.raises(InvalidModelInput, match="query"):
        await reranker.rerank("", ALL, budget_seconds=1)


async def test_both_adapters_agree(cross_encoder_folder: Path) -> None:
    scores = []
    for adapter in ADAPTERS.values():
        reranker = adapter(str(cross_encoder_folder))
        scores.append((await reranker.rerank("我记得", ALL[:6], budget_seconds=60)).scores)
        await reranker.close()
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-4)


async def test_closed_reranker_answers_no_more(reranker: Reranker) -> None:
    await reranker.close()
    with pytest.raises(ModelClosed):
        await reranker.rerank("q", ["p"], budget_seconds=1)


def test_a_classifier_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(ModelMismatch, match="3 labels"):
        CrossEncoderReranker(str(tiny_cross_encoder_folder(tmp_path, labels=3)))
