"""Gathering concurrent passages into batches."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rearview.adapters.models.batching_embedder import BatchingEmbedder
from rearview.domain.embedding_errors import InvalidModelInput, ModelAnswerInvalid, ModelClosed, ModelUnavailable
from rearview.domain.generation import EmbeddingGeneration, ModelCard, Prompts


class GatedEmbedder:
    """Answers [length, 1] for each text, once its gate is open; records its batches."""

    generation = EmbeddingGeneration(ModelCard.uncalibrated("gated", "1", 2, Prompts("", "")))

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.batches: list[list[str]] = []
        self.failure: Exception | None = None
        self.short_by = 0
        self.closed = False

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        self.begun.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return np.array([[len(text), 1.0] for text in texts[self.short_by :]], dtype=np.float32)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.array([len(text), 2.0], dtype=np.float32)

    async def close(self) -> None:
        self.closed = True


async def settled() -> None:
    """Let every ready task run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_concurrent_calls_share_a_batch_and_get_their_own_rows() -> None:
    inner = GatedEmbedder()
    inner.gate.set()
    batching = BatchingEmbedder(inner)
    answers = await asyncio.gather(*(batching.embed_passages(["字" * n, "x"]) for n in range(1, 6)))
    assert inner.batches == [["字", "x", "字字", "x", "字字字", "x", "字字字字", "x", "字字字字字", "x"]]
    assert [int(answer[0, 0]) for answer in answers] == [1, 2, 3, 4, 5]
    await batching.close()
    assert inner.closed


async def test_a_batch_stays_within_its_bound() -> None:
    inner = GatedEmbedder()
    inner.gate.set()
    batching = BatchingEmbedder(inner, max_batch_texts=4)
    await asyncio.gather(*(batching.embed_passages(["a", "b", "c"]) for _ in range(3)), batching.embed_passages(["d"]))
    assert [len(batch) for batch in inner.batches] == [3, 3, 4]
    await batching.embed_passages(["e"] * 9)
    assert len(inner.batches[-1]) == 9
    await batching.close()


async def test_a_cancelled_caller_leaves_the_others_unharmed() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner, max_wait_seconds=0)
    first = asyncio.create_task(batching.embed_passages(["one"]))
    await inner.begun.wait()
    waiting = [asyncio.create_task(batching.embed_passages([text])) for text in ("two", "three", "fourth")]
    await settled()
    first.cancel()
    waiting[1].cancel()
    await settled()
    inner.gate.set()
    assert (await waiting[0])[0, 0] == 3
    assert (await waiting[2])[0, 0] == 6
    assert inner.batches == [["one"], ["two", "fourth"]]
    assert first.cancelled()
    await batching.close()


async def test_a_failed_batch_reaches_all_its_callers_and_no_other() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner)
    calls = [asyncio.create_task(batching.embed_passages([text])) for text in ("a", "b")]
    await inner.begun.wait()
    later = asyncio.create_task(batching.embed_passages(["c"]))
    await settled()
    inner.failure = ModelUnavailable("down")
    inner.gate.set()
    for call in calls:
        with pytest.raises(ModelUnavailable, match="down"):
            await call
    inner.failure = None
    assert (await later).shape == (1, 2)
    await batching.close()


async def test_a_bad_text_fails_alone() -> None:
    inner = GatedEmbedder()
    inner.gate.set()
    batching = BatchingEmbedder(inner)
    good, bad = await asyncio.gather(
        batching.embed_passages(["好"]), batching.embed_passages([" "]), return_exceptions=True
    )
    assert isinstance(bad, InvalidModelInput)
    assert isinstance(good, np.ndarray)
    await batching.close()


async def test_missing_rows_are_an_error_not_a_shift() -> None:
    inner = GatedEmbedder()
    inner.gate.set()
    inner.short_by = 1
    batching = BatchingEmbedder(inner)
    with pytest.raises(ModelAnswerInvalid, match="1 vectors for 2 texts"):
        await batching.embed_passages(["a", "b"])
    await batching.close()


async def test_callers_wait_while_the_queue_is_full() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner, max_batch_texts=2, max_waiting_texts=4, max_wait_seconds=0)
    running = asyncio.create_task(batching.embed_passages(["r", "r"]))
    await inner.begun.wait()
    queued = [asyncio.create_task(batching.embed_passages(["q", "q"])) for _ in range(2)]
    late = asyncio.create_task(batching.embed_passages(["late"]))
    await settled()
    assert batching.waiting_texts == 4
    inner.gate.set()
    await asyncio.gather(running, *queued, late)
    assert inner.batches[-1] == ["late"]
    await batching.close()


async def test_a_query_does_not_wait_for_passages() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner)
    passages = asyncio.create_task(batching.embed_passages(["slow"]))
    await inner.begun.wait()
    assert (await batching.embed_query("问"))[1] == 2.0
    assert not passages.done()
    inner.gate.set()
    await passages
    await batching.close()


async def test_closing_finishes_what_waits() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner, max_wait_seconds=0)
    running = asyncio.create_task(batching.embed_passages(["a"]))
    await inner.begun.wait()
    waiting = asyncio.create_task(batching.embed_passages(["bb"]))
    await settled()
    closing = asyncio.create_task(batching.close())
    await settled()
    with pytest.raises(ModelClosed):
        await batching.embed_passages(["c"])
    inner.gate.set()
    await closing
    assert (await running)[0, 0] == 1
    assert (await waiting)[0, 0] == 2


@pytest.mark.parametrize("bad", [{"max_batch_texts": 0}, {"max_waiting_texts": 0}, {"max_wait_seconds": -1}])
async def test_senseless_bounds_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidModelInput, match=next(iter(bad))):
        BatchingEmbedder(GatedEmbedder(), **bad)


async def test_closing_does_not_wait_for_a_model_that_hangs() -> None:
    inner = GatedEmbedder()
    batching = BatchingEmbedder(inner, max_wait_seconds=0, close_seconds=0.2)
    running = asyncio.create_task(batching.embed_passages(["one"]))
    await inner.begun.wait()
    waiting = asyncio.create_task(batching.embed_passages(["two"]))
    await settled()
    await asyncio.wait_for(batching.close(), 10)
    for call in (running, waiting):
        with pytest.raises(ModelClosed):
            await asyncio.wait_for(call, 10)
    assert inner.closed
