"""Tiers over real PostgreSQL, Valkey and S3, beside a real writer that made what is to be moved.

- `tiers`: one tenant with one namespace, `TierBench`.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest_asyncio

from rearview.adapters.cold.cold_routes import SegmentRoutes
from rearview.adapters.cold.opening import Cold, open_cold
from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.memory_reader import PostgresMemoryReader
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.ids import new_id
from rearview.domain.memory import Tier
from rearview.domain.principal import Scope
from rearview.domain.recall import Recalled, RecallQuery, RecallTrace
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.pii import PatternRedactor
from rearview.language.query_reader import LanguageQueryReader
from rearview.lifecycle.app import Tiers, open_tiers
from rearview.lifecycle.cold_moves import ColdMoves, ColdRules
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.fault_points import NO_FAULTS
from rearview.lifecycle.sweep import Sweeper, SweepLimits, Swept
from rearview.ports.cold_recall import ColdRoutes
from rearview.ports.cold_store import ColdObjects
from rearview.ports.embedder import Embedder
from rearview.retriever.asked import Asked, RecallLimits
from rearview.retriever.cold_reading import TieredMemoryReader
from rearview.retriever.cold_stage import ColdStage
from rearview.retriever.recall import Recall
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.support.hash_embedder import HashEmbedder
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.writer_fixtures import SetClock, WriterBench, add_namespace

TEXTS = (
    "阳台的备用钥匙放在蓝色花盆下面。",
    "The spare key for the balcony is under the blue flower pot, code KEY-20417.",
    "明天 review 之前要把 draft 发给许航。",
    "上海图书馆周一闭馆。",
    "The dentist moved the appointment to the third floor.",
    "这套沙发标价九千四百三十元。",
)


class _LastTrace:
    """Takes what recalls leave behind; nobody reads more of it than the last trace."""

    trace: Callable[[], Awaitable[RecallTrace]]

    def record(self, *taken: Any) -> None:
        """Take a trace."""
        self.trace = taken[-1]

    def count_accesses(self, *_: Any) -> None:
        """Take counts."""

    def hand_out(self, *_: Any) -> None:
        """Take what was returned."""


@dataclass(frozen=True, slots=True)
class TierBench:
    """A writer's bench with the lifecycle and the retriever of the same namespace."""

    writing: WriterBench
    urls: DatabaseUrls
    bucket: BucketAddress
    config: LifecycleConfig
    tiers: Tiers
    cold: Cold
    recaller: Recall
    reader: TieredMemoryReader
    embedder: Embedder
    store: PostgresRecallStore
    recorder: _LastTrace
    others: tuple[Embedder, ...] = ()

    async def write(self, texts: Sequence[str] = TEXTS) -> list[UUID]:
        """Remember texts; return their memories' ids."""
        return [(await self.writing.remember(text)).memory.memory_id for text in texts]

    async def age(self, days: float) -> None:
        """Let so much time pass for all memories."""
        await age(self.writing, days)

    async def sweep(self) -> Swept:
        """Make one pass."""

        async def nobody(_counts: Any) -> None:
            return None

        return await self.tiers.sweeper.sweep(self.writing.scope.tenant_id, self.writing.scope.namespace_id, nobody)

    async def make_cold(self) -> Swept:
        """Let everything become cold."""
        await self.age(100)
        return await self.sweep()

    async def recall(self, text: str, *, time_left_seconds: float | None = None, **options: Any) -> Recalled:
        """Recall by text and vector."""
        vectors = {
            each.generation.generation_id: each.generation.centre_one(await each.embed_query(text))
            for each in (self.embedder, *self.others)
        }
        query = replace(RecallQuery(text, self.writing.clock.moment), **options)
        return await self.recaller.recall(Asked(query, [self.writing.scope], vectors, time_left_seconds))

    async def plan(self, text: str) -> str:
        """Recall, and return how the database went about it."""
        await self.recall(text, explain_plan=True)
        return (await self.recorder.trace()).plan

    async def contents(self, ids: Sequence[UUID]) -> list[str]:
        """Return what memories say, wherever they are."""
        return [(await self.reader.get(self.writing.scope, one)).content for one in ids]

    async def tier_counts(self) -> dict[Tier, int]:
        """Return how many memories are in each tier."""
        rows = await self.writing.rows("SELECT tier, count(*) AS n FROM memory WHERE state <> 4 GROUP BY tier")
        return {Tier(row["tier"]): row["n"] for row in rows}

    async def assert_in_one_place(self) -> None:
        """Every memory has its units in just the place of its tier, and every segment is pointed to rightly."""
        assert await misplaced(self.writing) == []

    def objects(self) -> set[str]:
        """Return the keys in the bucket."""
        listed = self.bucket.client().list_objects(bucket_name=self.bucket.bucket, recursive=True)
        return {each.object_name for each in listed if each.object_name}

    def versions(self) -> list[tuple[str, str]]:
        """Return all versions in the bucket, delete markers included."""
        listed = self.bucket.client().list_objects(bucket_name=self.bucket.bucket, recursive=True, include_version=True)
        return [(str(each.object_name), str(each.version_id)) for each in listed]

    async def catalog(self) -> set[str]:
        """Return the keys in the catalog."""
        return {row["object_key"] for row in await self.writing.rows("SELECT object_key FROM cold_segment")}


def sweeper_over(bench: TierBench, objects: ColdObjects) -> Sweeper:
    """Return a sweeper of the same database over other object storage, to which every orphan is old enough."""
    clock, faults = bench.writing.clock, NO_FAULTS
    rules = ColdRules(orphan_age=timedelta(0))
    moves = ColdMoves(bench.tiers.store, ObjectSegmentStore(objects), clock, rules=rules, faults=faults)
    limits = SweepLimits()
    return Sweeper(
        bench.tiers.store, moves, bench.tiers.expirer, bench.tiers.rehydrator, clock, limits=limits, faults=faults
    )


async def nobody(_counts: object) -> None:
    """Whom a sweep's progress is told."""


async def age(writing: WriterBench, days: float) -> None:
    """Let all memories of a namespace have been written and used so much earlier."""
    for table, column in (("memory", "updated_at"), ("memory_stats", "last_accessed_at")):
        await writing.rows(
            f"UPDATE {table} SET {column} = {column} - make_interval(secs => %s) WHERE namespace_id = %s",
            days * 86_400,
            writing.scope.namespace_id,
        )


async def misplaced(writing: WriterBench) -> list[dict[str, Any]]:
    """Return the memories of a tenant whose units or content are anywhere but in the one place of their tier."""
    rows = await writing.rows(
        "SELECT m.memory_id, m.tier, (SELECT count(*) FROM search_unit_1 u WHERE u.memory_id = m.memory_id)"
        " + (SELECT count(*) FROM search_unit_fresh_1 u WHERE u.memory_id = m.memory_id) AS hot,"
        " (SELECT count(*) FROM search_unit_warm_1 u WHERE u.memory_id = m.memory_id) AS warm,"
        " content IS NULL AS empty, segment_id IS NOT NULL AS pointed FROM memory m"
        " WHERE m.state <> 4 AND m.tenant_id = %s",
        writing.scope.tenant_id,
    )

    def places(row: dict[str, Any]) -> tuple[bool, ...]:
        return (row["hot"] > 0, row["warm"] > 0, row["pointed"] and row["empty"])

    return [row for row in rows if places(row) != tuple(row["tier"] == tier for tier in Tier)]


def lifecycle_config(database: DatabaseUrls, redis_url: str, bucket: BucketAddress, **more: Any) -> LifecycleConfig:
    """Return a lifecycle's configuration."""
    return LifecycleConfig.model_validate(
        {
            "database_url": database.service,
            "redis_url": redis_url,
            "internal_key": "k" * 32,
            "listen": "127.0.0.1:0",
            **storage(bucket),
            **more,
        }
    )


def storage(bucket: BucketAddress) -> dict[str, Any]:
    """Return the values of `ObjectStorageConfig` for a bucket."""
    return {
        "s3_endpoint": bucket.endpoint,
        "s3_access_key": bucket.access_key,
        "s3_secret_key": bucket.secret_key,
        "s3_bucket": bucket.bucket,
        "s3_secure": False,
        "s3_seconds": 10,
    }


def environment(config: LifecycleConfig) -> dict[str, str]:
    """Return the variables of a configuration, for a process of its own."""
    values = json.loads(config.model_dump_json())
    secrets = {
        name: getattr(config, name).get_secret_value() for name, value in values.items() if value == "**********"
    }
    return {
        f"REARVIEW_{name.upper()}": str(value) for name, value in {**values, **secrets}.items() if value is not None
    }


@pytest_asyncio.fixture(loop_scope="session")
async def tiers(database: DatabaseUrls, redis_url: str, bucket: BucketAddress) -> AsyncIterator[TierBench]:
    """One tenant at work."""
    async with open_tier_bench(database, redis_url, bucket) as bench:
        yield bench


class open_tier_bench:  # noqa: N801 -- reads as a statement
    """A context that yields a bench."""

    def __init__(
        self,
        database: DatabaseUrls,
        redis_url: str,
        bucket: BucketAddress,
        *,
        model: Embedder | None = None,
        others: tuple[Embedder, ...] = (),
        scope: Scope | None = None,
        routes: Callable[[ColdRoutes], ColdRoutes] = lambda routes: routes,
        **more: Any,
    ) -> None:
        """Take the parts, and what the lifecycle is configured with. Queries are embedded by `others`, too; with a
        `scope` that is there already its memories are taken on. Recalls look into segments through `routes`."""
        self._parts = database, redis_url, bucket
        self._embedder = model or HashEmbedder()
        self._others = others
        self._scope = scope
        self._routes = routes
        self._more = more
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> TierBench:

        database, redis_url, bucket = self._parts
        stack = self._stack
        scope = self._scope or Scope(new_id(), new_id(), "notes", principal="tester")
        if self._scope is None:
            add_namespace(database.superuser, scope)
        clock = SetClock()
        embedder = self._embedder
        config = lifecycle_config(database, redis_url, bucket, **{"orphan_minutes": 0, **self._more})
        writer_config = WriterConfig.model_validate(
            {
                "database_url": database.service,
                "redis_url": redis_url,
                "redis_seconds": 10,
                "internal_key": "k" * 32,
                "listen": "127.0.0.1:0",
                **storage(bucket),
            }
        )
        writer = await stack.enter_async_context(open_writer(writer_config, embedder=embedder, clock=clock))
        work = await stack.enter_async_context(Database(database.service, vectors=False))
        recalling = await stack.enter_async_context(Database(database.service, settings=dict(RECALL_SETTINGS)))
        redis = await stack.enter_async_context(RedisConnection(redis_url, timeout_seconds=2.0))
        tiers = await stack.enter_async_context(open_tiers(config, work, clock))
        cold = await stack.enter_async_context(open_cold(config, work, clock))
        store = PostgresRecallStore(recalling)
        recorder = _LastTrace()
        recaller = Recall(
            store=store,
            working_memory=RedisWorkingMemory(redis, clock),
            reader=LanguageQueryReader(),
            hasher=KeywordHashes(),
            redactor=PatternRedactor(),
            recorder=recorder,
            clock=clock,
            limits=RecallLimits(total_seconds=30.0),
            cold=ColdStage(self._routes(SegmentRoutes(recalling, cold.reader)), cold.rehydrator, store),
        )
        bench = WriterBench(writer, scope, clock, database.superuser)
        reader = TieredMemoryReader(PostgresMemoryReader(work, clock), cold.rehydrator)
        return TierBench(
            bench, database, bucket, config, tiers, cold, recaller, reader, embedder, store, recorder, self._others
        )

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


__all__ = ["TierBench", "open_tier_bench", "tiers"]
