"""What every embedder promises, whatever runs the model."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models.batching_embedder import BatchingEmbedder
from rearview.adapters.models.flag_embedder import FlagEmbedder
from rearview.adapters.models.http_embedder import Endpoint, HttpEmbedder
from rearview.adapters.models.onnx_embedder import OnnxEmbedder
from rearview.adapters.models.sentence_transformers_embedder import SentenceTransformersEmbedder
from rearview.adapters.models.verified_embedder import VerifiedEmbedder
from rearview.domain.embedding_errors import InvalidModelInput, ModelClosed
from rearview.domain.generation import ModelCard, Prompts
from rearview.ports.embedder import Embedder
from tests.support.bilingual_texts import ALL, CHINESE, ENGLISH, MIXED
from tests.support.embedding_server import EmbeddingServer

KINDS = ("onnx", "batching", "verified", "sentence-transformers", "flag", "http")


@pytest.fixture(scope="module", params=KINDS)
async def embedder(
    request: pytest.FixtureRequest, card: ModelCard, e5_folder: Path, e5_torch_folder: Path
) -> AsyncIterator[Embedder]:
    async for opened in open_kind(request.param, card, e5_folder, e5_torch_folder):
        yield opened


async def open_kind(kind: str, card: ModelCard, e5_folder: Path, e5_torch_folder: Path) -> AsyncIterator[Embedder]:
    """Yield one embedder of the kind, all of the same model, and close it."""
    if kind == "http":
        async for opened in open_http(card, e5_folder):
            yield opened
        return
    opened = open_local(kind, card, e5_folder, e5_torch_folder)
    yield opened
    await opened.close()


def open_local(kind: str, card: ModelCard, e5_folder: Path, e5_torch_folder: Path) -> Embedder:
    match kind:
        case "onnx":
            return OnnxEmbedder(e5_folder, card)
        case "batching":
            return BatchingEmbedder(OnnxEmbedder(e5_folder, card))
        case "verified":
            return VerifiedEmbedder(OnnxEmbedder(e5_folder, card))
        case "sentence-transformers":
            return SentenceTransformersEmbedder(str(e5_torch_folder), card)
        case _:
            return FlagEmbedder(str(e5_torch_folder), card, pooling="mean")


async def open_http(card: ModelCard, e5_folder: Path) -> AsyncIterator[Embedder]:
    """Yield an embedder that asks a local server, which runs the model without adding prompts."""
    served = OnnxEmbedder(e5_folder, replace(card, prompts=Prompts("", "")))
    loop = asyncio.get_running_loop()

    def vectors(texts: list[str]) -> list[list[float]]:
        embedded = asyncio.run_coroutine_threadsafe(served.embed_passages(texts), loop).result()
        return [[float(number) for number in row] for row in embedded]

    with EmbeddingServer(vectors).running() as server:
        opened = HttpEmbedder(Endpoint(url=server.url, model="e5", max_batch_texts=16), card)
        yield opened
        await opened.close()
    await served.close()


async def test_passages_are_unit_rows_in_order(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(ALL)
    assert vectors.shape == (len(ALL), embedder.generation.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    backwards = await embedder.embed_passages(ALL[::-1])
    np.testing.assert_allclose(backwards[::-1], vectors, atol=1e-3)


async def test_query_is_one_unit_vector(embedder: Embedder) -> None:
    vector = await embedder.embed_query("我对什么过敏？")
    assert vector.shape == (embedder.generation.dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("text", [CHINESE[0], ENGLISH[0], MIXED[0]])
async def test_same_text_same_vector(embedder: Embedder, text: str) -> None:
    first, second = await embedder.embed_passages([text]), await embedder.embed_passages([text])
    np.testing.assert_allclose(first, second, atol=1e-5)


async def test_vector_does_not_depend_on_its_company(embedder: Embedder) -> None:
    texts = [CHINESE[0], ENGLISH[0], MIXED[0]]
    together = await embedder.embed_passages([*texts, CHINESE[0] * 12, ENGLISH[0] * 12])
    for position, text in enumerate(texts):
        alone = await embedder.embed_passages([text])
        np.testing.assert_allclose(alone[0], together[position], atol=1e-3)


@pytest.mark.parametrize("text", [CHINESE[1], ENGLISH[1], MIXED[1]])
async def test_query_and_passage_prompts_differ(embedder: Embedder, text: str) -> None:
    passage, query = (await embedder.embed_passages([text]))[0], await embedder.embed_query(text)
    assert 0.5 < float(passage @ query) < 0.999


async def test_query_finds_its_passage_in_each_language(embedder: Embedder) -> None:
    generation = embedder.generation
    for texts, questions in (
        (CHINESE, {0: "我不能吃什么东西？", 2: "妈妈哪天过生日？", 3: "服务器磁盘还剩多少空间？"}),
        (ENGLISH, {0: "Which food must I avoid?", 2: "When was my mother born?", 3: "How full is the server's disk?"}),
    ):
        passages = generation.centre(await embedder.embed_passages(texts))
        for expected, question in questions.items():
            scores = passages @ generation.centre_one(await embedder.embed_query(question))
            assert int(scores.argmax()) == expected


async def test_long_text_is_cut_not_refused(embedder: Embedder) -> None:
    long_texts = [CHINESE[0] * 400, ENGLISH[0] * 400]
    vectors = await embedder.embed_passages(long_texts)
    longer = await embedder.embed_passages([text + "尾巴 tail" for text in long_texts])
    np.testing.assert_allclose(longer, vectors, atol=1e-4)


async def test_odd_characters_are_embedded(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(["👩‍👩‍👧", "a\u0000b\u200b\ufeff", "～～～", "ﬁ①㍿", "\u202e倒序"])
    assert np.isfinite(vectors).all()


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, embedder.generation.dimension)


@pytest.mark.parametrize("blank", ["", "  \n", "\u3000"])
async def test_blank_text_is_refused_by_name(embedder: Embedder, blank: str) -> None:
    with pytest.raises(InvalidModelInput) as refused:
        await embedder.embed_passages(["好", blank])
    assert refused.value.field == "texts[1]"
    with pytest.raises(InvalidModelInput) as refused:
        await embedder.embed_query(blank)
    assert refused.value.field == "text"


async def test_lone_surrogate_is_refused(embedder: Embedder) -> None:
    with pytest.raises(InvalidModelInput, match="surrogate"):
        await embedder.embed_passages(["\ud800"])


async def test_one_text_instead_of_many_is_refused(embedder: Embedder) -> None:
    with pytest.raises(InvalidModelInput, match="sequence"):
        await embedder.embed_passages("一段话")


async def test_concurrent_calls_get_their_own_vectors(embedder: Embedder) -> None:
    expected = await embedder.embed_passages(ALL)
    calls = [embedder.embed_passages(ALL[start : start + 3]) for start in range(0, len(ALL) - 2, 3)]
    queries = [embedder.embed_query(text) for text in ALL[:4]]
    answers, query_answers = await asyncio.gather(asyncio.gather(*calls), asyncio.gather(*queries))
    for number, answer in enumerate(answers):
        np.testing.assert_allclose(answer, expected[3 * number : 3 * number + 3], atol=1e-3)
    for text, vector in zip(ALL, query_answers, strict=False):
        np.testing.assert_allclose(vector, await embedder.embed_query(text), atol=1e-3)


async def test_generation_is_the_cards(embedder: Embedder, card: ModelCard) -> None:
    assert embedder.generation.card is card


async def test_closed_embedder_answers_no_more(embedder: Embedder) -> None:
    """Last in this file: the other tests share the embedder."""
    await embedder.close()
    await embedder.close()
    with pytest.raises(ModelClosed):
        await embedder.embed_query("好")
    with pytest.raises(ModelClosed):
        await embedder.embed_passages(["好"])
