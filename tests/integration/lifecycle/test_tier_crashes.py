"""Workers killed between any two steps, object storage that fails, stalls or lies: nothing is lost, doubled, left."""

import asyncio
import os
import signal
import sys
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.domain.errors import Conflict, NotFound, Unavailable
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.memory import Tier
from rearview.lifecycle.cold_moves import ColdMoves, ColdRules
from rearview.lifecycle.fault_points import FAULT_POINTS, FaultPoints
from rearview.lifecycle.sweep import Sweeper, SweepLimits
from rearview.ports.cold_store import ColdObjects, ObjectVersion
from tests.support.tier_bench import TEXTS, TierBench, environment

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run_and_die(bench: TierBench, point: str, *memories: UUID) -> None:
    scope = bench.writing.scope
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.sweep_process", bench.writing.clock.now().isoformat()),
        *map(str, (scope.tenant_id, scope.namespace_id, *memories)),
        env={**os.environ, **environment(bench.config), "REARVIEW_FAULT_POINT": point},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()


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


async def test_a_killed_move_loses_nothing_and_leaves_nothing(tiers: TierBench) -> None:
    ids: list[UUID] = []
    texts: list[str] = []
    for point in FAULT_POINTS[:5]:
        added = [f"{text} {point}" for text in TEXTS]
        ids, texts = ids + await tiers.write(added), texts + added
        await tiers.age(100)
        await run_and_die(tiers, point)
        await assert_whole(tiers, ids, texts)
        await settle(tiers)
        await assert_whole(tiers, ids, texts)
        assert await tiers.tier_counts() == {Tier.COLD: len(ids)}
        assert tiers.objects() == await tiers.catalog()


async def test_a_killed_erasure_loses_nothing_and_leaves_nothing(tiers: TierBench) -> None:
    ids, texts = await tiers.write(), list(TEXTS)
    scope = tiers.writing.scope
    for point in FAULT_POINTS[5:]:
        await tiers.make_cold()
        old = tiers.objects()
        gone, ids, texts = ids[0], ids[1:], texts[1:]
        await tiers.writing.writer.forgetter.forget(scope, Forget("notes", ForgetMemories((gone,))))
        await run_and_die(tiers, point, gone)
        with pytest.raises(NotFound):
            await tiers.reader.get(scope, gone)
        await assert_whole(tiers, ids, texts)
        await let_lease_expire(tiers)
        await tiers.tiers.eraser.erase(scope.tenant_id, scope.namespace_id, [gone])
        await assert_whole(tiers, ids, texts)
        assert not old & tiers.objects()
        await settle(tiers)
        assert tiers.objects() == await tiers.catalog()


class Unreliable:
    """Object storage that misbehaves in one way."""

    def __init__(self, objects: ColdObjects, way: str) -> None:
        self._objects = objects
        self._way = way

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    async def put(self, key: str, data: bytes) -> None:
        """Store, or not."""
        if self._way == "fails":
            raise Unavailable("refused", dependency="object_storage")
        if self._way == "fails afterwards":
            await self._objects.put(key, data)
            raise Unavailable("no answer", dependency="object_storage")
        if self._way == "truncates":
            data = data[: len(data) // 2]
        if self._way != "lies":
            await self._objects.put(key, data)

    async def erase(self, key: str) -> None:
        """Delete, for real."""
        await self._objects.erase(key)

    async def delete_versions(self, versions: Collection[ObjectVersion]) -> None:
        """Delete, for real."""
        await self._objects.delete_versions(versions)


def sweeper_over(bench: TierBench, objects: ColdObjects) -> Sweeper:
    clock, faults = bench.writing.clock, FaultPoints()
    rules = ColdRules(orphan_age=timedelta(0))
    moves = ColdMoves(bench.tiers.store, ObjectSegmentStore(objects), clock, rules=rules, faults=faults)
    limits = SweepLimits()
    return Sweeper(
        bench.tiers.store, moves, bench.tiers.expirer, bench.tiers.rehydrator, clock, limits=limits, faults=faults
    )


async def nobody(_counts: object) -> None:
    return None


@pytest.mark.parametrize("way", ["fails", "fails afterwards", "truncates", "lies"])
async def test_what_storage_does_not_hold_stays_warm(tiers: TierBench, way: str) -> None:
    ids = await tiers.write()
    await tiers.age(100)
    scope = tiers.writing.scope
    sweeper = sweeper_over(tiers, Unreliable(tiers.cold.objects, way))
    with pytest.raises(Unavailable):
        await sweeper.sweep(scope.tenant_id, scope.namespace_id, nobody)
    assert await tiers.tier_counts() == {Tier.WARM: len(ids)}
    await assert_whole(tiers, ids, list(TEXTS))
    await settle(tiers)
    assert await tiers.tier_counts() == {Tier.COLD: len(ids)}
    await assert_whole(tiers, ids, list(TEXTS))
    assert tiers.objects() == await tiers.catalog()


async def test_whoever_stalls_longer_than_its_lease_changes_nothing(tiers: TierBench) -> None:
    ids = await tiers.write()
    await tiers.age(100)
    scope, reached, go_on = tiers.writing.scope, asyncio.Event(), asyncio.Event()

    class Stalling(Unreliable):
        async def put(self, key: str, data: bytes) -> None:
            reached.set()
            await go_on.wait()
            await tiers.cold.objects.put(key, data)

    stalled = asyncio.create_task(
        sweeper_over(tiers, Stalling(tiers.cold.objects, "")).sweep(scope.tenant_id, scope.namespace_id, nobody)
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

    class Slow(Unreliable):
        async def put(self, key: str, data: bytes) -> None:
            await tiers.writing.rows("UPDATE memory SET priority = 0.6 WHERE memory_id = %s", ids[0])
            await forgetter.forget(scope, Forget("notes", ForgetMemories((ids[1],)), skip_grace_period=True))
            await tiers.cold.objects.put(key, data)

    await sweeper_over(tiers, Slow(tiers.cold.objects, "")).sweep(scope.tenant_id, scope.namespace_id, nobody)
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
