"""Queries are embedded within a budget, or not at all."""

import asyncio
from datetime import UTC, datetime

import numpy as np
import pytest

from rearview.domain.embedding_errors import ModelUnavailable
from rearview.domain.event import EventRole
from rearview.domain.recall import QueryTurn, RecallQuery, Route
from rearview.gateway.embed_query import QueryEmbedding, texts_of
from rearview.telemetry.metrics import Metrics
from tests.support.hash_embedder import HashEmbedder

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def query(
    text: str = "李雷的 budget?", *turns: tuple[EventRole, str], off: frozenset[Route] = frozenset()
) -> RecallQuery:
    dialogue = tuple(QueryTurn(role, content) for role, content in turns)
    return RecallQuery(text="" if turns else text, reference_time=NOW, dialogue=dialogue, disabled_routes=off)


def embedding(*embedders: HashEmbedder, **limits: float) -> tuple[QueryEmbedding, Metrics]:
    metrics = Metrics("gateway")
    made = QueryEmbedding(
        embedders,
        metrics,
        budget_seconds=limits.get("budget_seconds", 5.0),
        max_pending=int(limits.get("max_pending", 4)),
    )
    return made, metrics


def counted(metrics: Metrics, outcome: str) -> float | None:
    return metrics.registry.get_sample_value("rearview_gateway_query_embeddings_total", {"outcome": outcome})


async def test_a_query_gives_one_centred_vector() -> None:
    embedder = HashEmbedder()
    embedded, metrics = embedding(embedder)
    (made,) = await embedded.of(query())
    assert made.generation_id == embedder.generation.generation_id
    expected = embedder.generation.centre_one(await embedder.embed_query("李雷的 budget?"))
    np.testing.assert_allclose(made.vector, expected, atol=1e-6)
    assert counted(metrics, "embedded") == 1


async def test_with_two_models_a_query_gives_a_vector_of_each_or_none() -> None:
    first, second = HashEmbedder(), HashEmbedder("2")
    embedded, metrics = embedding(first, second)
    made = await embedded.of(query())
    assert [one.generation_id for one in made] == [
        first.generation.generation_id,
        second.generation.generation_id,
    ]
    second.error = ModelUnavailable("the second model is away")
    assert await embedded.of(query()) == ()  # which of them answers the tenant is not known here
    assert counted(metrics, "failed") == 1


async def test_a_dialogue_gives_its_history_its_last_user_turn_and_half_of_what_that_answers() -> None:
    embedder = HashEmbedder()
    embedded, _ = embedding(embedder)
    (made,) = await embedded.of(
        query("", (EventRole.USER, "我想去杭州"), (EventRole.ASSISTANT, "When?"), (EventRole.USER, "next May"))
    )
    centre = embedder.generation.centre_one
    summed = (
        centre(await embedder.embed_query("我想去杭州\nWhen?\nnext May"))
        + centre(await embedder.embed_query("next May"))
        + 0.5 * centre(await embedder.embed_query("When?"))
    )
    np.testing.assert_allclose(made.vector, summed / np.linalg.norm(summed), atol=1e-6)


def test_of_a_long_dialogue_the_newest_turns_are_kept() -> None:
    turns = [(EventRole.USER, f"第{i}轮 " + "字" * 100) for i in range(20)]
    history, last = texts_of(query("", *turns))
    assert last == turns[-1][1]
    assert history.endswith(last)
    assert "第0轮" not in history
    assert len(history) < 600


def test_one_turn_is_embedded_once_however_long() -> None:
    assert texts_of(query("", (EventRole.USER, "字" * 4_000))) == {"字" * 4_000: 1.0}


@pytest.mark.parametrize("asked", [query("  "), query(off=frozenset({Route.VECTOR})), query("", (EventRole.USER, " "))])
async def test_where_no_vector_is_wanted_none_is_made(asked: RecallQuery) -> None:
    embedder = HashEmbedder()
    embedded, _ = embedding(embedder)
    assert await embedded.of(asked) == ()
    assert embedder.queries == []


async def test_a_hung_model_costs_its_budget_and_then_nothing() -> None:
    embedder = HashEmbedder()
    embedder.hang = True
    embedded, metrics = embedding(embedder, budget_seconds=0.01, max_pending=2)
    for _ in range(5):
        assert await embedded.of(query()) == ()
    assert (counted(metrics, "too_slow"), counted(metrics, "queue_full")) == (2, 3)
    assert len(embedder.queries) == 2
    await embedded.close()
    embedder.hang = False
    assert len(await embedded.of(query())) == 1


async def test_a_failing_model_gives_no_vector() -> None:
    embedder = HashEmbedder()
    embedder.error = ModelUnavailable("down")
    embedded, metrics = embedding(embedder)
    assert await embedded.of(query()) == ()
    assert counted(metrics, "failed") == 1


async def test_a_bug_in_the_model_is_not_hidden() -> None:
    embedder = HashEmbedder()
    embedder.error = ZeroDivisionError()
    embedded, _ = embedding(embedder)
    with pytest.raises(ZeroDivisionError):
        await embedded.of(query())


async def test_the_queue_is_bounded_for_concurrent_queries() -> None:
    embedder = HashEmbedder()
    embedder.hang = True
    embedded, _ = embedding(embedder, budget_seconds=0.05, max_pending=3)
    answers = await asyncio.gather(*(embedded.of(query()) for _ in range(50)))
    assert set(answers) == {()}
    assert len(embedder.queries) == 3
    await embedded.close()
