"""Sweepers that meet each other, or changes of what they move: nothing is lost, doubled, left."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rearview.domain.errors import Conflict
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.memory import Tier
from rearview.ports.cold_store import ColdObjects
from tests.support.tier_bench import TEXTS, TierBench, nobody, sweeper_over

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def let_lease_expire(bench: TierBench) -> None:
    await bench.writing.rows("UPDATE lifecycle_lease SET expires_at = now() - interval '1 second'")


async def assert_whole(bench: TierBench, ids: list[UUID], texts: list[str]) -> None:
    """Each memory once, byte for byte, found by its text."""
    await bench.assert_in_one_place()
    assert await bench.contents(ids) == texts
    answer = await bench.recall(texts[0], include_cold=True, top_k=20)
    found = [hit.memory.memory_id for hit in answer.hits if hit.memory]
    assert found.count(ids[0]) == 1


async def settle(bench: TierBench) -> None:
    await let_lease_expire(bench)
    # Times of the store's own clock: what was written a moment ago counts as old.
    bench.writing.clock.moment = datetime.now(UTC) + timedelta(hours=2)
    await bench.age(100)
    await bench.sweep()


class Watched:
    """Object storage of which a test does something in the midst of a `put`."""

    def __init__(self, objects: ColdObjects) -> None:
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)


async def test_whoever_stalls_longer_than_its_lease_changes_nothing(tiers: TierBench) -> None:
    ids = await tiers.write()
    await tiers.age(100)
    scope, reached, go_on = tiers.writing.scope, asyncio.Event(), asyncio.Event()

    class Stalling(Watched):
        async def put(self, key: str, data: bytes) -> None:
            reached.set()
            await go_on.wait()
            await tiers.cold.objects.put(key, data)

    stalled = asyncio.create_task(
        sweeper_over(tiers, Stalling(tiers.cold.objects)).sweep(scope.tenant_id, scope.namespace_id, nobody)
    )
    await reached.wait()
    await let_lease_expire(tiers)
    await tiers.sweep()
    assert await tiers.tier_counts() == {Tier.COLD: len(ids)}
    go_on.set()
    with pytest.raises(Conflict):
        await stalled
    await assert_whole(tiers, ids, list(TEXTS))
    await settle(tiers)
    assert tiers.objects() == await tiers.catalog()


async def test_what_changes_while_its_segment_is_written_stays(tiers: TierBench) -> None:
    texts = [f"{text} {at}" for at in range(2) for text in TEXTS]
    ids = await tiers.write(texts)
    await tiers.age(100)
    scope, forgetter = tiers.writing.scope, tiers.writing.writer.forgetter

    class Slow(Watched):
        async def put(self, key: str, data: bytes) -> None:
            await tiers.writing.rows("UPDATE memory SET priority = 0.6 WHERE memory_id = %s", ids[0])
            await forgetter.forget(scope, Forget("notes", ForgetMemories((ids[1],)), skip_grace_period=True))
            await tiers.cold.objects.put(key, data)

    await sweeper_over(tiers, Slow(tiers.cold.objects)).sweep(scope.tenant_id, scope.namespace_id, nobody)
    assert await tiers.tier_counts() == {Tier.WARM: 1, Tier.COLD: len(ids) - 2}
    kept = [0, *range(2, len(ids))]
    await assert_whole(tiers, [ids[at] for at in kept], [texts[at] for at in kept])
    # What was forgotten meanwhile stands in the segment, dead: a purge finds it there.
    assert await tiers.tiers.eraser.erase(scope.tenant_id, scope.namespace_id, [ids[1]]) == 1
    client, bucket = tiers.bucket.client(), tiers.bucket.bucket
    stored = [client.get_object(bucket_name=bucket, object_name=key).read() for key in tiers.objects()]
    assert stored
    assert not [data for data in stored if ids[1].bytes in data]


async def test_two_sweepers_share_the_work(tiers: TierBench) -> None:
    ids = await tiers.write([f"{text} {at}" for at in range(5) for text in TEXTS])
    await tiers.age(100)
    scope = tiers.writing.scope
    sweepers = [sweeper_over(tiers, tiers.cold.objects) for _ in range(3)]
    ended = await asyncio.gather(
        *(one.sweep(scope.tenant_id, scope.namespace_id, nobody) for one in sweepers), return_exceptions=True
    )
    assert [one for one in ended if isinstance(one, BaseException) and not isinstance(one, Conflict)] == []
    assert await tiers.tier_counts() == {Tier.COLD: len(ids)}
    await tiers.assert_in_one_place()
    assert tiers.objects() == await tiers.catalog()
