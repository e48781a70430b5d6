"""Recall through the gateway and a real retriever while something behind them is slow, hangs, or is gone.

The client's deadline ends a call by itself, so an answer within it is one that kept it.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc.aio
import psycopg
import pytest

from rearview.adapters.models.http_embedder import Endpoint, HttpEmbedder
from rearview.adapters.redis.probe import RedisUnreachable, ping
from rearview.domain.event import CaptureOutcome
from rearview.embedded.valkey_server import find_program
from rearview.ports.embedder import Embedder
from rearview.ports.reranker import Reranker
from rearview.v1 import memory_service_pb2, recall_pb2
from tests.support.embedding_server import EmbeddingServer, Reply
from tests.support.hash_embedder import HashEmbedder, hashed_vector
from tests.support.indexed_library import Library, Turn, open_library
from tests.support.running_gateway import RunningGateway, bearer, running_gateway
from tests.support.running_retriever import running_retriever
from tests.support.slow_link import slow_database
from tests.support.stack import DatabaseUrls
from tests.support.waiting import wait_until

SESSION = "namespaces/notes/sessions/s1"
KEY = "an internal key of more than thirty-two bytes"
DELAY_SECONDS = 0.2
PATIENT_SECONDS = 60.0
CUT_SHORT_SECONDS = 4.0
CALLERS = 20

STORED = ("我对花生过敏", "The offsite is in Lisbon", "预算是12000元")
JUST_SAID = ("明早九点在东门集合", "Bring the blue folder 带蓝色文件夹")


@dataclass
class Platform:
    """A gateway with a retriever behind it, an admin's key, and what the namespace holds."""

    gateway: RunningGateway
    key: str
    library: Library

    async def ask(self, query: str, *, timeout: float = PATIENT_SECONDS, **fields: Any) -> recall_pb2.RecallResponse:
        request = recall_pb2.RecallRequest(parent="namespaces/notes", query=query, **fields)
        return await self.gateway.memories.Recall(request, metadata=bearer(self.key), timeout=timeout)


@asynccontextmanager
async def platform(
    database: DatabaseUrls,
    redis_url: str,
    model: Embedder,
    *,
    link: DatabaseUrls | None = None,
    reranker: Reranker | None = None,
    **settings: Any,
) -> AsyncIterator[Platform]:
    """Serve both services, over `link` where the way to the database is another one; store some memories and turns."""
    link = link or database
    async with (
        running_retriever(link, redis_url, KEY, reranker=reranker, max_connections=2) as address,
        running_gateway(
            link,
            internal_key=KEY,
            model=model,
            retriever_address=address,
            redis_url=redis_url,
            max_connections=2,
            **settings,
        ) as gateway,
    ):
        key = await gateway.new_tenant("faulty")
        with psycopg.connect(database.superuser) as connection:
            row = connection.execute("SELECT tenant_id FROM tenant WHERE name = 'faulty'").fetchone()
        assert row is not None
        library = open_library(database.superuser, HashEmbedder(), tenant=row[0])
        try:
            for text in STORED:
                await library.memory(text)
            library.index()
            now = datetime.now(UTC)
            said = [Turn(text) for text in JUST_SAID]
            library.events("s1", said, [now] * len(said), CaptureOutcome.PENDING)
            yield Platform(gateway, key, library)
        finally:
            library.connection.close()


@asynccontextmanager
async def http_model() -> AsyncIterator[tuple[Embedder, EmbeddingServer]]:
    """Yield a model behind an endpoint, and the endpoint."""
    here = HashEmbedder()
    with EmbeddingServer(lambda texts: [hashed_vector(text).tolist() for text in texts]).running() as server:
        yield HttpEmbedder(Endpoint(server.url, "hashed-pairs"), here.generation.card), server


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Valkey of this test alone, which may stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [find_program(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield f"redis://127.0.0.1:{port}/0", process
    finally:
        process.kill()
        process.wait()


def texts_of(answer: recall_pb2.RecallResponse) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


async def test_a_database_far_away(database: DatabaseUrls, redis_url: str) -> None:
    """Each round trip takes a fifth of a second: with time enough nothing is left out, with none that is said."""
    async with (
        slow_database(database, DELAY_SECONDS) as link,
        platform(database, redis_url, HashEmbedder(), link=link) as faulty,
    ):
        answer = await faulty.ask("我对什么过敏 花生", session=SESSION)
        assert list(answer.degraded) == []
        assert STORED[0] in texts_of(answer)
        assert set(JUST_SAID) <= set(texts_of(answer))
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await faulty.ask("where is the offsite", timeout=1.5 * DELAY_SECONDS)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        # Nobody else's connection was harmed.
        again = await asyncio.gather(*(faulty.ask(f"where is the offsite in Lisbon {at}") for at in range(4)))
        assert all(STORED[1] in texts_of(one) for one in again)


@pytest.mark.parametrize(("held_table", "missing"), [("search_unit_fresh_1", "routes"), ("memory_event", "content")])
async def test_a_statement_that_waits(database: DatabaseUrls, redis_url: str, held_table: str, missing: str) -> None:
    """What the routes find cannot be had in time: the named session's turns are answered, and what lacks is named."""
    async with platform(database, redis_url, HashEmbedder()) as faulty:
        assert STORED[2] in texts_of(await faulty.ask("预算是12000元吗", session=SESSION))
        with psycopg.connect(database.superuser) as holder:
            holder.execute(f"LOCK TABLE {held_table} IN ACCESS EXCLUSIVE MODE")
            answer = await faulty.ask("明早几点集合", session=SESSION, timeout=CUT_SHORT_SECONDS)
            assert missing in answer.degraded
            assert "working_memory" not in answer.degraded
            assert set(texts_of(answer)) == set(JUST_SAID)
            with pytest.raises(grpc.aio.AioRpcError) as raised:  # an empty answer would say that nothing is known
                await faulty.ask("明早几点集合", timeout=CUT_SHORT_SECONDS)
            assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            holder.rollback()
        whole = await faulty.ask("预算是12000元", session=SESSION, no_cache=True)
        assert list(whole.degraded) == []
        assert STORED[2] in texts_of(whole)


async def test_an_embedder_that_hangs(database: DatabaseUrls, redis_url: str) -> None:
    """More callers than there are connections wait for it at once, each for its own time, and nobody else does."""
    async with (
        http_model() as (model, server),
        platform(database, redis_url, model, embed_budget_seconds=3.0, max_running_calls=2 * CALLERS) as faulty,
    ):
        server.script(*[Reply(stall=True)] * (10 * CALLERS))
        asking = [asyncio.create_task(faulty.ask(f"The offsite is in Lisbon, no. {at}?")) for at in range(CALLERS)]
        await wait_until(server.asked.is_set, "the endpoint to be asked")
        listed = await faulty.gateway.memories.ListMemories(
            memory_service_pb2.ListMemoriesRequest(parent="namespaces/notes"),
            metadata=bearer(faulty.key),
            timeout=PATIENT_SECONDS,
        )
        assert len(listed.memories) == len(STORED)
        for answer in await asyncio.gather(*asking):
            assert list(answer.degraded) == ["vector"]
            assert STORED[1] in texts_of(answer)
        hurried = await faulty.ask("The offsite is in Lisbon", session=SESSION, timeout=CUT_SHORT_SECONDS)
        assert list(hurried.degraded) == ["vector"]
        assert STORED[1] in texts_of(hurried)


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL], ids=["hangs", "gone"])
async def test_a_redis_that_is_away(
    database: DatabaseUrls, own_valkey: tuple[str, subprocess.Popen[bytes]], how: signal.Signals
) -> None:
    """The session's turns are read from the log instead, and no answer waits for the cache."""
    url, process = own_valkey

    def answers() -> bool:
        try:
            ping(url)
        except RedisUnreachable:
            return False
        return True

    await wait_until(answers, "Valkey to answer")
    async with platform(database, url, HashEmbedder()) as faulty:
        assert list((await faulty.ask("明早几点集合", session=SESSION)).degraded) == []
        process.send_signal(how)
        for at in range(4):
            answer = await faulty.ask(f"明早{at}点集合 at the east gate", session=SESSION, timeout=PATIENT_SECONDS)
            assert set(answer.degraded) <= {"working_memory"}
            assert JUST_SAID[0] in texts_of(answer)
