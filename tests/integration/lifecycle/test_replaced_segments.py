"""Segments that are replaced while a recall asks: between its look into the catalog and its look into the object."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from rearview.domain.memory import Tier
from rearview.domain.recall import Recalled
from rearview.lifecycle.sweep import COMPACTED, TO_HOT
from rearview.ports.cold_recall import ColdRoutes
from rearview.ports.found_units import FoundUnits
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import TEXTS, TierBench, open_tier_bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "阳台的备用钥匙在哪里？"


class Interrupted:
    """Cold routes, before each look of which something happens."""

    def __init__(self) -> None:
        self.before: list[Callable[[], Awaitable[Any]]] = []
        self.looks = 0
        self._routes: ColdRoutes

    def around(self, routes: ColdRoutes) -> ColdRoutes:
        self._routes = routes
        return self

    async def find(self, *asked: Any, timeout_seconds: float) -> FoundUnits:
        self.looks += 1
        if self.before:
            await self.before.pop(0)()
        return await self._routes.find(*asked, timeout_seconds=timeout_seconds)


@pytest.fixture
def interrupted() -> Interrupted:
    return Interrupted()


@pytest.fixture
async def bench(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress, interrupted: Interrupted
) -> AsyncIterator[TierBench]:
    async with open_tier_bench(database, redis_url, bucket, routes=interrupted.around) as opened:
        yield opened


def contents(answer: Recalled) -> set[str]:
    return {hit.memory.content for hit in answer.hits if hit.memory}


async def test_a_recall_finds_what_was_compacted_since_it_read_the_catalog(
    bench: TierBench, interrupted: Interrupted
) -> None:
    await bench.write(TEXTS[:3])
    await bench.make_cold()
    (old,) = bench.objects()
    await bench.write(TEXTS[3:])
    await bench.age(100)

    async def compact() -> None:
        assert (await bench.sweep()).counts[COMPACTED] == 2
        assert old not in bench.objects()

    interrupted.before = [compact]
    answer = await bench.recall(QUESTION, include_cold=True, top_k=10)
    assert TEXTS[0] in contents(answer)
    assert not answer.degraded
    assert interrupted.looks == 2


async def test_a_recall_finds_what_came_back_since_it_read_the_catalog(
    bench: TierBench, interrupted: Interrupted
) -> None:
    ids = await bench.write(TEXTS[:3])
    await bench.make_cold()

    async def come_back() -> None:
        await use(bench, ids)
        assert (await bench.sweep()).counts[TO_HOT] == 3
        assert not bench.objects()
        assert await bench.tier_counts() == {Tier.HOT: 3}

    interrupted.before = [come_back]
    answer = await bench.recall(QUESTION, include_cold=True, top_k=10)
    assert TEXTS[0] in contents(answer)
    assert not answer.degraded


async def use(bench: TierBench, ids: list[UUID]) -> None:
    scope = bench.writing.scope
    await bench.writing.rows(
        "INSERT INTO memory_stats (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)"
        " SELECT %s, %s, unnest(%s::uuid[]), 1, %s",
        scope.tenant_id,
        scope.namespace_id,
        ids,
        bench.writing.clock.now(),
    )


async def test_a_recall_looks_twice_and_then_says_what_is_missing(bench: TierBench, interrupted: Interrupted) -> None:
    await bench.write(TEXTS[:3])
    await bench.make_cold()
    await bench.write(TEXTS[3:])
    for key in bench.objects():
        bench.bucket.client().remove_object(bucket_name=bench.bucket.bucket, object_name=key)
    answer = await bench.recall(QUESTION, include_cold=True, top_k=10)
    assert answer.degraded == ("cold",)
    assert contents(answer) <= set(TEXTS[3:])
    assert interrupted.looks == 2
