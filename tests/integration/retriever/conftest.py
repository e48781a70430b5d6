"""Recall over real PostgreSQL and Valkey, with real vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore
from rearview.adapters.postgres.recall_traces import PostgresRecallTraceStore
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.handed_out import RedisHandedOut
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.principal import Scope
from rearview.domain.recall import Hit, Recalled, RecallQuery, Route
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.pii import PatternRedactor
from rearview.language.query_reader import LanguageQueryReader
from rearview.ports.clock import SystemClock
from rearview.ports.embedder import Embedder
from rearview.retriever.asked import Asked, RecallLimits
from rearview.retriever.recall import Recall
from rearview.retriever.recall_recorder import BackgroundRecorder
from rearview.retriever.reranking import RerankStage
from tests.support.indexed_library import Library, open_library
from tests.support.model_fixtures import e5_folder, models_dir
from tests.support.stack import DatabaseUrls

__all__ = ["e5_folder", "models_dir"]

PATIENT = RecallLimits(total_seconds=60.0, working_memory_seconds=30.0)
"""On a busy machine nothing is left out for want of time, unless a test asks for it."""
NOW = datetime(2024, 3, 20, 8, tzinfo=UTC)


@dataclass
class Bench:
    """The recall use case over real parts, and how tests ask it."""

    recall: Recall
    recorder: BackgroundRecorder
    traces: PostgresRecallTraceStore
    store: PostgresRecallStore
    working_memory: RedisWorkingMemory
    redis: RedisConnection
    database: Database
    embedder: Embedder
    losses: list[str] = field(default_factory=list)

    async def ask(
        self, asked: str, *scopes: Scope, vector: bool = True, time_left_seconds: float | None = None, **options: Any
    ) -> Recalled:
        """Recall; `options` are fields of RecallQuery."""
        query = replace(RecallQuery(asked, NOW), **options)
        vectors = {}
        if vector:
            generation = self.embedder.generation
            vectors[generation.generation_id] = generation.centre_one(await self.embedder.embed_query(asked))
        return await self.recall.recall(Asked(query, scopes, vectors, time_left_seconds))

    def with_parts(
        self, *, limits: RecallLimits | None = None, reranking: RerankStage | None = None, **parts: Any
    ) -> Bench:
        """The same with other parts."""
        chosen: dict[str, Any] = {
            "store": self.store,
            "working_memory": self.working_memory,
            "recorder": self.recorder,
            "redactor": PatternRedactor(),
            **parts,
        }
        recall = Recall(
            reader=LanguageQueryReader(),
            hasher=KeywordHashes(),
            clock=SystemClock(),
            reranking=reranking,
            limits=limits or PATIENT,
            **chosen,
        )
        return replace(self, recall=recall)


def only(*routes: Route) -> frozenset[Route]:
    """Every route but these, to be disabled."""
    return frozenset(Route) - set(routes)


def event_ids(recalled: Recalled) -> list[UUID]:
    """The first source event of each hit."""
    return [hit.highlights[0].event.event_id for hit in recalled.hits if hit.highlights]


def memory_ids(recalled: Recalled) -> list[UUID]:
    """The memory of each hit that has one."""
    return [hit.memory.memory_id for hit in recalled.hits if hit.memory]


def hit_of(recalled: Recalled, memory_id: UUID) -> Hit:
    """The best hit of a memory."""
    return next(hit for hit in recalled.hits if hit.memory and hit.memory.memory_id == memory_id)


@pytest.fixture(scope="session")
async def embedder(e5_folder: Path, models_dir: Path) -> AsyncIterator[Embedder]:
    """The default embedder."""
    opened = open_embedder(EmbedderSettings(models_dir=models_dir))
    yield opened
    await opened.close()


@pytest.fixture
def library(database: DatabaseUrls, embedder: Embedder) -> Iterator[Library]:
    """A namespace of a tenant of its own."""
    opened = open_library(database.superuser, embedder)
    yield opened
    opened.connection.close()


@pytest.fixture
async def bench(database: DatabaseUrls, redis_url: str, embedder: Embedder) -> AsyncIterator[Bench]:
    """Recall under the service's role."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(
            Database(database.service, max_connections=4, settings=dict(RECALL_SETTINGS))
        )
        redis = await stack.enter_async_context(RedisConnection(redis_url, timeout_seconds=30))
        traces = PostgresRecallTraceStore(pool)
        losses: list[str] = []
        recorder = await stack.enter_async_context(
            BackgroundRecorder(traces, RedisAccessCounter(redis), RedisHandedOut(redis), on_loss=losses.append)
        )
        store, working_memory = PostgresRecallStore(pool), RedisWorkingMemory(redis, SystemClock())
        recall = Recall(
            store=store,
            working_memory=working_memory,
            reader=LanguageQueryReader(),
            hasher=KeywordHashes(),
            redactor=PatternRedactor(),
            recorder=recorder,
            clock=SystemClock(),
            limits=PATIENT,
        )
        yield Bench(recall, recorder, traces, store, working_memory, redis, pool, embedder, losses)
