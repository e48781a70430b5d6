"""The endpoint adapter against a real local server that misbehaves on request."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from rearview.adapters.models.http_embedder import Endpoint, HttpEmbedder
from rearview.domain.embedding_errors import (
    InvalidModelInput,
    ModelAnswerInvalid,
    ModelError,
    ModelMismatch,
    ModelRequestRejected,
    ModelUnavailable,
)
from rearview.domain.generation import ModelCard, Prompts
from tests.support.embedding_server import EmbeddingServer, Reply, right_answer

CARD = ModelCard.uncalibrated("remote", "1", 3, Prompts(query="q: ", passage="p: "))
KEY = "sk-very-secret-7f3a"


def vectors(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 0.0] for text in texts]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(vectors).running() as running:
        yield running


def endpoint(server: EmbeddingServer, **changes: Any) -> Endpoint:
    settings: dict[str, Any] = {
        "url": server.url,
        "model": "served-name",
        "api_key": KEY,
        "timeout_seconds": 5.0,
        "attempts": 3,
        "first_pause_seconds": 0.01,
        "longest_pause_seconds": 0.05,
        "max_batch_texts": 2,
    }
    return Endpoint(**{**settings, **changes})


@pytest.fixture
async def embedder(server: EmbeddingServer) -> AsyncIterator[HttpEmbedder]:
    opened = HttpEmbedder(endpoint(server), CARD)
    yield opened
    await opened.close()


async def test_request_carries_prompts_model_and_key(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    rows = await embedder.embed_passages(["一", "two", "第三"])
    await embedder.embed_query("问")
    assert [asked["input"] for asked in server.requests] == [["p: 一", "p: two"], ["p: 第三"], ["q: 问"]]
    assert {asked["model"] for asked in server.requests} == {"served-name"}
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    expected = np.array([[4, 1, 0], [6, 1, 0], [5, 1, 0]], dtype=np.float32)
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize(
    "hiccup",
    [
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(status=429, headers={"Retry-After": "999999"}),  # cut to the longest pause
        Reply(status=429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        Reply(status=500),
        Reply(status=503),
        Reply(drop=True),
    ],
)
async def test_passing_failures_are_retried(embedder: HttpEmbedder, server: EmbeddingServer, hiccup: Reply) -> None:
    server.script(hiccup, hiccup)
    assert (await embedder.embed_query("问")).shape == (3,)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("failure", "named"), [(Reply(status=500), "500"), (Reply(drop=True), "Error")])
async def test_lasting_failure_is_unavailable(
    embedder: HttpEmbedder, server: EmbeddingServer, failure: Reply, named: str
) -> None:
    server.script(*[failure] * 3)
    with pytest.raises(ModelUnavailable, match=rf"127\.0\.0\.1 failed 3 times.*{named}"):
        await embedder.embed_query("问")
    assert len(server.requests) == 3


async def test_a_stalled_server_is_a_time_out(server: EmbeddingServer) -> None:
    embedder = HttpEmbedder(endpoint(server, timeout_seconds=0.2, attempts=2), CARD)
    server.script(Reply(stall=True), Reply(stall=True))
    with pytest.raises(ModelUnavailable, match="time-out"):
        await embedder.embed_query("问")
    server.script(Reply(stall=True))
    assert (await embedder.embed_query("问")).shape == (3,)
    await embedder.close()


async def test_nobody_listens(server: EmbeddingServer) -> None:
    embedder = HttpEmbedder(endpoint(server, url="http://127.0.0.1:9/v1/embeddings"), CARD)
    with pytest.raises(ModelUnavailable, match="ConnectError"):
        await embedder.embed_query("问")
    await embedder.close()


@pytest.mark.parametrize("status", [301, 400, 401, 404, 413, 422])
async def test_refusals_are_not_retried(embedder: HttpEmbedder, server: EmbeddingServer, status: int) -> None:
    headers = {"Location": server.url} if status == 301 else {}
    server.script(Reply(status=status, body=KEY.encode(), headers=headers))
    with pytest.raises(ModelRequestRejected, match=str(status)):
        await embedder.embed_passages(["一"])
    assert len(server.requests) == 1


BAD_ANSWERS = {
    "not JSON": b"<html>busy</html>",
    "not UTF-8": b"\xff\xfe{",
    "a list": b"[]",
    "no data": b'{"error": "overloaded"}',
    "one missing": right_answer(vectors(["a"])),
    "a string": json.dumps({"data": [{"index": i, "embedding": "AAAA"} for i in (0, 1)]}).encode(),
    "no index": json.dumps({"data": [{"embedding": [1, 2, 3]}] * 2}).encode(),
    "zeros": right_answer([[0.0, 0.0, 0.0]] * 2),
    "not a number": b'{"data": [{"index": 0, "embedding": [NaN, 0, 1]}, {"index": 1, "embedding": [1, 0, 1]}]}',
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
async def test_senseless_answers_are_named(embedder: HttpEmbedder, server: EmbeddingServer, answer: bytes) -> None:
    server.script(Reply(body=answer))
    with pytest.raises(ModelAnswerInvalid):
        await embedder.embed_passages(["一", "二"])


async def test_wrong_dimension_is_a_mismatch(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    server.script(Reply(body=right_answer([[1.0, 2.0]])))
    with pytest.raises(ModelMismatch, match=r"\(2,\).*3"):
        await embedder.embed_query("问")


@pytest.mark.parametrize("reply", [Reply(status=401, body=KEY.encode()), Reply(body=KEY.encode()), Reply(drop=True)])
async def test_key_and_texts_stay_out_of_errors(embedder: HttpEmbedder, server: EmbeddingServer, reply: Reply) -> None:
    server.script(*[reply] * 3)
    with pytest.raises(ModelError) as failed:
        await embedder.embed_query("我的秘密")
    told: BaseException | None = failed.value
    while told is not None:
        assert KEY not in f"{told!r}{told}"
        assert "秘密" not in f"{told!r}{told}"
        told = told.__cause__
    assert KEY not in repr(endpoint(server))


async def test_a_query_goes_past_waiting_passages(server: EmbeddingServer) -> None:
    embedder = HttpEmbedder(endpoint(server, max_concurrent_requests=1, timeout_seconds=60), CARD)
    server.script(Reply(stall=True))
    passages = asyncio.create_task(embedder.embed_passages(["一", "二", "三"]))
    await asyncio.to_thread(server.asked.wait)
    assert (await embedder.embed_query("问")).shape == (3,)
    assert not passages.done()
    passages.cancel()
    await embedder.close()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ftp://host/embeddings"),
        ("url", "not a url"),
        ("url", "https://user:password@host/v1/embeddings"),
        ("model", ""),
        ("api_key", ""),
        ("api_key", f"{KEY}\n"),
        ("api_key", f"{KEY}钥"),
        ("timeout_seconds", 0),
        ("attempts", 0),
        ("first_pause_seconds", -1),
    ],
)
def test_bad_settings_are_named_without_the_key(server: EmbeddingServer, field: str, value: object) -> None:
    with pytest.raises(InvalidModelInput) as refused:
        endpoint(server, **{field: value})
    assert refused.value.field == field
    assert KEY not in str(refused.value)
    assert "password@" not in str(refused.value)
