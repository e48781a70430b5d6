"""Object storage that fails, stalls, cuts off, lies about success or is behind: nothing is lost, and nothing that is
still there is said to be erased. A proxy in front of the real store does all of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.postgres.database import Database
from rearview.adapters.redis.connection import RedisConnection
from rearview.domain.errors import Unavailable
from rearview.domain.forget import Forget, ForgetMemories, ForgetReceipt, ForgetState
from rearview.domain.memory import Tier
from rearview.lifecycle.app import embedders_of, job_work
from rearview.ports.job_queue import JobHandler
from tests.support.faulty_s3 import FaultyS3, faulty_s3
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import TEXTS, TierBench, open_tier_bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

STALLED_SECONDS = 3
"""So long a request waits for one that stalls."""


@dataclass(frozen=True, slots=True)
class FaultyBench:
    """Tiers whose services see a bucket through the proxy; what the test itself looks at, it sees without."""

    tiers: TierBench
    proxy: FaultyS3
    redis_url: str

    async def job(self, task: str, **arguments: object) -> None:
        """Do one of the lifecycle's jobs."""
        scope, config = self.tiers.writing.scope, self.tiers.config
        async with (
            Database(self.tiers.urls.service, vectors=False) as database,
            RedisConnection(self.redis_url, timeout_seconds=30) as redis,
        ):
            work = job_work(config, database, redis, self.tiers.tiers, embedders_of(config), self.tiers.writing.clock)
            handler: JobHandler = work[task]
            await handler({"tenant_id": str(scope.tenant_id), **{key: str(value) for key, value in arguments.items()}})

    async def sweep(self) -> None:
        """Do the job of a sweep, with a clock ahead of the store's, so that leftovers are old enough."""
        self.tiers.writing.clock.moment = datetime.now(UTC) + timedelta(hours=1)
        await self.job("sweep", namespace_id=self.tiers.writing.scope.namespace_id)

    @asynccontextmanager
    async def misbehaving(self, kind: str, way: str, job: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Let a job meet a fault and fail of it; what its caller looks at, it looks at before the fault is gone."""
        self.proxy.misbehave(kind, way)
        for _ in range(10):
            with pytest.raises(Unavailable):
                await job()
            if self.proxy.met:
                break
        yield
        self.proxy.heal()

    async def forgotten(self, memory_id: UUID) -> ForgetReceipt:
        """Forget a memory whose purge is due; return the receipt as it stands then."""
        scope, forgetter = self.tiers.writing.scope, self.tiers.writing.writer.forgetter
        receipt = await forgetter.forget(scope, Forget("notes", ForgetMemories((memory_id,)), skip_grace_period=True))
        await self.tiers.writing.rows("UPDATE forget_receipt SET purge_after = now()")
        return receipt

    async def state_of(self, receipt: ForgetReceipt) -> ForgetState:
        """Return how far a forget has come."""
        scope, forgetter = self.tiers.writing.scope, self.tiers.writing.writer.forgetter
        return (await forgetter.receipt(scope.tenant_id, receipt.receipt_id)).state

    async def tried_until_done(self, job: Callable[[], Awaitable[None]]) -> None:
        """Try as the queue does."""
        for _ in range(10):
            try:
                await job()
            except Unavailable:
                await asyncio.sleep(0.1)
            else:
                return
        raise AssertionError("it does not come to its end")

    async def assert_whole(self, ids: list[UUID], texts: list[str]) -> None:
        """Each memory once, byte for byte; and no object that no catalog names."""
        await self.tiers.assert_in_one_place()
        assert await self.tiers.contents(ids) == texts
        assert self.tiers.objects() == await self.tiers.catalog()


@asynccontextmanager
async def opened(database: DatabaseUrls, redis_url: str, bucket: BucketAddress) -> AsyncIterator[FaultyBench]:
    async with (
        faulty_s3(bucket) as (proxy, seen),
        open_tier_bench(database, redis_url, seen, s3_seconds=STALLED_SECONDS) as tiers,
    ):
        yield FaultyBench(replace(tiers, bucket=bucket), proxy, redis_url)


async def test_what_storage_does_not_hold_stays_warm(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        ids = await bench.tiers.write()
        await bench.tiers.age(100)
        for kind, way in (
            *(("PUT", way) for way in ("fails", "fails afterwards", "stalls", "resets", "lies")),
            *(("GET", way) for way in ("fails", "resets", "truncates", "lies")),
        ):
            async with bench.misbehaving(kind, way, bench.sweep):
                assert await bench.tiers.tier_counts() == {Tier.WARM: len(ids)}, (kind, way)
                await bench.tiers.assert_in_one_place()
        assert await bench.tiers.contents(ids) == list(TEXTS)
        await bench.tiers.age(100)
        await bench.tried_until_done(bench.sweep)
        assert await bench.tiers.tier_counts() == {Tier.COLD: len(ids)}
        await bench.assert_whole(ids, list(TEXTS))


async def test_a_purge_is_not_verified_while_the_object_is_there(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        ids = await bench.tiers.write()
        await bench.tiers.age(100)
        await bench.tried_until_done(bench.sweep)
        (old,) = bench.tiers.objects()
        receipt = await bench.forgotten(ids[0])

        async def purge() -> None:
            await bench.job("purge", receipt_id=receipt.receipt_id)

        # First the segment is rewritten, then the old one is deleted, then it is looked for.
        for kind, way in (
            *(("GET", "truncates"), ("PUT", "lies")),
            *(("DELETE", way) for way in ("fails", "resets", "stalls", "lies")),
            *(("LIST", way) for way in ("fails", "is stale")),
        ):
            async with bench.misbehaving(kind, way, purge):
                assert old in bench.tiers.objects(), (kind, way)
                assert await bench.state_of(receipt) is ForgetState.TOMBSTONED, "neither purged nor verified"
        await bench.tried_until_done(purge)
        assert await bench.state_of(receipt) is ForgetState.VERIFIED
        assert old not in bench.tiers.objects()
        await bench.tried_until_done(bench.sweep)
        await bench.assert_whole(ids[1:], list(TEXTS[1:]))


async def test_what_no_catalog_holds_is_purged_as_well(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        ids = await bench.tiers.write()
        await bench.tiers.age(100)
        async with bench.misbehaving("PUT", "fails afterwards", bench.sweep):
            assert await bench.tiers.tier_counts() == {Tier.WARM: len(ids)}
            assert bench.tiers.objects(), "the object is there, and nobody knows of it"
        receipt = await bench.forgotten(ids[1])
        await bench.tried_until_done(lambda: bench.job("purge", receipt_id=receipt.receipt_id))
        assert await bench.state_of(receipt) is ForgetState.VERIFIED
        assert not bench.tiers.objects()


async def test_a_recall_says_that_cold_memories_are_missing(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        await bench.tiers.write(TEXTS[:4])
        await bench.tiers.age(100)
        await bench.tried_until_done(bench.sweep)
        await bench.tiers.write(TEXTS[4:])
        for way in ("fails", "resets", "truncates", "lies"):
            bench.proxy.misbehave("GET", way)
            answer = await bench.tiers.recall(TEXTS[1], include_cold=True, top_k=10)
            assert answer.degraded, way
            found = {hit.memory.content for hit in answer.hits if hit.memory}
            assert found <= set(TEXTS[4:]), "of what cannot be read nothing is shown"
            bench.proxy.heal()
        answer = await bench.tiers.recall(TEXTS[1], include_cold=True, top_k=10)
        assert TEXTS[1] in {hit.memory.content for hit in answer.hits if hit.memory}
        assert not answer.degraded


async def test_storage_that_stalls_leaves_time_for_what_else_was_found(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        await bench.tiers.write(TEXTS[:4])
        await bench.tiers.age(100)
        await bench.tried_until_done(bench.sweep)
        await bench.tiers.write(TEXTS[4:])
        bench.proxy.misbehave("GET", "stalls")
        answer = await bench.tiers.recall(
            TEXTS[4], include_cold=True, top_k=10, time_left_seconds=STALLED_SECONDS * 2 / 3
        )
        bench.proxy.heal()
        assert answer.degraded == ("cold",)
        assert TEXTS[4] in {hit.memory.content for hit in answer.hits if hit.memory}


async def test_an_erasure_of_what_cannot_be_deleted_does_not_end_well(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress
) -> None:
    async with opened(database, redis_url, bucket) as bench:
        await bench.tiers.write()
        await bench.tiers.age(100)
        await bench.tried_until_done(bench.sweep)
        segments, scope = ObjectSegmentStore(bench.tiers.cold.objects), bench.tiers.writing.scope

        async def erase() -> None:
            await segments.erase_all(scope.tenant_id, scope.namespace_id)

        async with bench.misbehaving("DELETE", "lies", erase):
            assert bench.tiers.objects()
        await bench.tried_until_done(erase)
        assert not bench.tiers.objects()
