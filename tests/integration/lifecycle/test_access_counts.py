"""Access counts on their way from Redis to the memories' statistics: each counts once."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest

from rearview.adapters.postgres.access_counts import PostgresAccessCounts
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.access_counts import RedisAccessCounts
from rearview.domain.errors import Unavailable
from rearview.domain.ids import new_id
from rearview.lifecycle.drain_access_counts import AccessCountDrain
from rearview.ports.access_counts import AccessBatch
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.waiting import wait_until
from tests.support.writer_fixtures import WriterBench

AT = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)


class DyingStore:
    """A store that adds a batch, and then its process dies before it can say so."""

    def __init__(self, store: PostgresAccessCounts) -> None:
        self._store = store

    async def add(self, batch: AccessBatch) -> int:
        await self._store.add(batch)
        raise Unavailable("gone")


def drain(lifecycle: LifecycleBench, *, batch: int = 500) -> AccessCountDrain:
    source, store = RedisAccessCounts(lifecycle.redis), PostgresAccessCounts(lifecycle.database)
    return AccessCountDrain(source, store, batch=batch)


async def remember(bench: WriterBench, count: int) -> list[UUID]:
    return [(await bench.remember(f"Fact number {n}: the {n}th house is blue")).memory.memory_id for n in range(count)]


async def access(lifecycle: LifecycleBench, bench: WriterBench, memory_ids: list[UUID], at: datetime = AT) -> None:
    counter = RedisAccessCounter(lifecycle.redis)
    await counter.count(bench.scope.tenant_id, {bench.scope.namespace_id: memory_ids}, at)


async def stats(bench: WriterBench) -> dict[UUID, tuple[int, datetime]]:
    rows = await bench.rows(
        "SELECT memory_id, access_count, last_accessed_at FROM memory_stats WHERE tenant_id = %s AND access_count > 0",
        bench.scope.tenant_id,
    )
    return {row["memory_id"]: (row["access_count"], row["last_accessed_at"]) for row in rows}


async def test_counts_of_every_tenant_are_added_and_leave_redis(lifecycle: LifecycleBench) -> None:
    first, second = await remember(lifecycle.own, 2)
    (third,) = await remember(lifecycle.other, 1)
    await access(lifecycle, lifecycle.own, [first, second])
    await access(lifecycle, lifecycle.own, [first], AT + timedelta(seconds=1))
    await access(lifecycle, lifecycle.other, [third])

    assert await drain(lifecycle).drain() == 3

    assert await stats(lifecycle.own) == {first: (2, AT + timedelta(seconds=1)), second: (1, AT)}
    assert await stats(lifecycle.other) == {third: (1, AT)}
    left = {key for key in await lifecycle.redis_values() if key.startswith("acc")}
    assert {key.partition(":")[0] for key in left} <= {"accn"}

    await access(lifecycle, lifecycle.own, [first], AT - timedelta(days=1))
    assert await drain(lifecycle).drain() == 1
    assert (await stats(lifecycle.own))[first] == (3, AT + timedelta(seconds=1)), "time does not run backwards"


async def test_more_than_a_batch_is_added_in_several(lifecycle: LifecycleBench) -> None:
    memory_ids = await remember(lifecycle.own, 25)
    await access(lifecycle, lifecycle.own, memory_ids)
    await drain(lifecycle, batch=4).drain()
    assert await stats(lifecycle.own) == dict.fromkeys(memory_ids, (1, AT))


async def test_a_batch_whose_bearer_died_is_not_added_again(lifecycle: LifecycleBench) -> None:
    (memory_id,) = await remember(lifecycle.own, 1)
    await access(lifecycle, lifecycle.own, [memory_id])
    dying = AccessCountDrain(RedisAccessCounts(lifecycle.redis), DyingStore(PostgresAccessCounts(lifecycle.database)))
    with pytest.raises(Unavailable):
        await dying.drain()
    await access(lifecycle, lifecycle.own, [memory_id])
    await access(lifecycle, lifecycle.own, [memory_id])

    await drain(lifecycle).drain()

    assert (await stats(lifecycle.own))[memory_id][0] == 3


async def test_a_batch_that_was_taken_and_never_added_comes_again(lifecycle: LifecycleBench) -> None:
    (memory_id,) = await remember(lifecycle.own, 1)
    await access(lifecycle, lifecycle.own, [memory_id])
    await RedisAccessCounts(lifecycle.redis).take(lifecycle.own.scope.tenant_id, limit=10)
    await drain(lifecycle).drain()
    assert (await stats(lifecycle.own))[memory_id][0] == 1


async def test_a_late_bearer_of_an_old_batch_adds_nothing(lifecycle: LifecycleBench) -> None:
    (memory_id,) = await remember(lifecycle.own, 1)
    source, store = RedisAccessCounts(lifecycle.redis), PostgresAccessCounts(lifecycle.database)
    await access(lifecycle, lifecycle.own, [memory_id])
    old = await source.take(lifecycle.own.scope.tenant_id, limit=10)
    assert old is not None
    await drain(lifecycle).drain()
    await access(lifecycle, lifecycle.own, [memory_id])
    await drain(lifecycle).drain()

    assert await store.add(old) == 0
    await source.confirm(old)
    assert (await stats(lifecycle.own))[memory_id][0] == 2


async def test_several_drains_at_once_add_once(lifecycle: LifecycleBench) -> None:
    memory_ids = await remember(lifecycle.own, 12)
    for _ in range(3):
        await access(lifecycle, lifecycle.own, memory_ids)
    await asyncio.gather(*(drain(lifecycle, batch=2).drain() for _ in range(4)))
    await drain(lifecycle).drain()
    assert {count for count, _ in (await stats(lifecycle.own)).values()} == {3}


async def test_memories_that_are_gone_are_passed_over(lifecycle: LifecycleBench) -> None:
    (memory_id,) = await remember(lifecycle.own, 1)
    await access(lifecycle, lifecycle.own, [memory_id, new_id()])
    assert await drain(lifecycle).drain() == 1
    assert set(await stats(lifecycle.own)) == {memory_id}
    assert not [key for key in await lifecycle.redis_values() if key.startswith(("acc:", "accd:"))]


async def test_counts_that_come_while_their_memory_is_purged_leave_no_row(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    (memory_id,) = await remember(own, 1)
    await access(lifecycle, own, [memory_id])
    async with await psycopg.AsyncConnection.connect(lifecycle.urls.superuser) as purge:
        await purge.execute("DELETE FROM memory_stats WHERE memory_id = %s", (memory_id,))
        await purge.execute("DELETE FROM memory WHERE memory_id = %s", (memory_id,))
        draining = asyncio.create_task(drain(lifecycle).drain())
        await wait_until(lambda: _waits_or_is_done(lifecycle, draining), "the drain to come to the purged row")
        await purge.commit()
    assert await draining == 0
    assert await stats(own) == {}


async def _waits_or_is_done(lifecycle: LifecycleBench, draining: "asyncio.Task[int]") -> bool:
    if draining.done():
        return True
    query = "SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted"
    return bool((await lifecycle.own.rows(query))[0]["waiting"])
