"""Sweeps as they come by themselves: bounded, one after the other, with what they clean up on the way."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from minio.datatypes import ListMultipartUploadsResult

from rearview.domain.ids import new_id
from rearview.domain.memory import Tier
from rearview.lifecycle.app import run_lifecycle
from rearview.lifecycle.sweep import COMPACTED, HOT_TO_WARM, MOVES, ORPHANS, WARM_TO_COLD, Swept
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import TEXTS, TierBench, open_tier_bench
from tests.support.waiting import wait_until

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOUR = timedelta(hours=1)


@pytest.fixture
async def bounded(database: DatabaseUrls, redis_url: str, bucket: BucketAddress) -> AsyncIterator[TierBench]:
    """Tiers whose passes move four memories at most, one a transaction, and whose orphans are an hour old."""
    async with open_tier_bench(
        database, redis_url, bucket, sweep_memories=4, sweep_step=1, orphan_minutes=60
    ) as opened:
        yield opened


def moved(swept: Swept) -> int:
    return sum(swept.counts[name] for name in MOVES)


async def test_a_pass_moves_no_more_than_its_limit_and_the_next_goes_on(bounded: TierBench) -> None:
    ids = await bounded.write()
    await bounded.age(100)
    passes = [await bounded.sweep()]
    while passes[-1].more:
        passes.append(await bounded.sweep())
    assert [moved(swept) for swept in passes] == [4, 4, 4, 0]
    assert sum(swept.counts[HOT_TO_WARM] for swept in passes) == len(TEXTS)
    assert sum(swept.counts[WARM_TO_COLD] for swept in passes) == len(TEXTS)
    assert await bounded.tier_counts() == {Tier.COLD: len(TEXTS)}
    await bounded.assert_in_one_place()
    assert await bounded.contents(ids) == list(TEXTS)


async def test_a_namespace_is_due_until_nothing_is_left_to_do_and_again_after_a_while(bounded: TierBench) -> None:
    store, writing = bounded.tiers.store, bounded.writing

    async def enqueued(age: timedelta = HOUR) -> int:
        return await store.enqueue_sweeps(age=age, limit=10)

    assert await enqueued() == 0, "it holds nothing"
    await bounded.write()
    await bounded.age(40)
    assert await enqueued() == 1
    assert await enqueued() == 0, "its job waits"
    jobs = await writing.rows("SELECT args FROM procrastinate_jobs WHERE task_name = 'sweep' AND status = 'todo'")
    assert [job["args"]["namespace_id"] for job in jobs] == [str(writing.scope.namespace_id)]

    for more, due in ((True, 1), (False, 0)):
        await writing.rows("DELETE FROM procrastinate_jobs WHERE task_name = 'sweep'")
        assert (await bounded.sweep()).more is more
        assert await enqueued() == due
    assert await enqueued(timedelta(0)) == 1, "it was swept longer ago than that"


async def test_the_running_service_sweeps_without_being_asked(tiers: TierBench) -> None:
    await tiers.write()
    await tiers.age(40)
    config = tiers.config.model_copy(update={"upkeep_seconds": 0.1})
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        run_lifecycle(config, clock=tiers.writing.clock, on_started=port.set_result, stop=stop)
    )

    async def warm() -> bool:
        return await tiers.tier_counts() == {Tier.WARM: len(TEXTS)}

    try:
        await port
        await wait_until(warm, "a sweep")
    finally:
        stop.set()
        await serving
    await tiers.assert_in_one_place()


async def test_small_segments_are_merged(tiers: TierBench) -> None:
    ids = await tiers.write(TEXTS[:3])
    assert (await tiers.make_cold()).counts[COMPACTED] == 0
    first = tiers.objects()
    assert len(first) == 1
    ids += await tiers.write(TEXTS[3:])
    swept = await tiers.make_cold()
    assert swept.counts[COMPACTED] == 2
    assert len(tiers.objects()) == 1
    assert tiers.objects() == await tiers.catalog()
    assert not tiers.objects() & first
    await tiers.assert_in_one_place()
    assert await tiers.contents(ids) == list(TEXTS)
    assert (await tiers.sweep()).counts[COMPACTED] == 0, "one is not merged with itself"


async def test_uploads_that_nobody_finished_are_aborted_when_they_are_old_enough(bounded: TierBench) -> None:
    scope, client = bounded.writing.scope, bounded.bucket.client()
    mine = f"{scope.tenant_id}/{scope.namespace_id}/begun.segment"
    others = f"{scope.tenant_id}/{new_id()}/begun.segment"
    for key in (mine, others):
        client._create_multipart_upload(bounded.bucket.bucket, key, {})

    def uploads() -> set[str | None]:
        listed: ListMultipartUploadsResult = client._list_multipart_uploads(bounded.bucket.bucket)
        return {upload.object_name for upload in listed.uploads}

    assert uploads() == {mine, others}
    bounded.writing.clock.moment = datetime.now(UTC)
    assert (await bounded.sweep()).counts[ORPHANS] == 0
    assert uploads() == {mine, others}, "a move under way may be writing it"
    bounded.writing.clock.moment = datetime.now(UTC) + timedelta(minutes=61)
    assert (await bounded.sweep()).counts[ORPHANS] == 1
    assert uploads() == {others}
