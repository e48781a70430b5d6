"""Memories on their way between the tiers: each in one place, found and read wherever it is, byte for byte the same."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.domain.errors import Conflict, NotFound
from rearview.domain.forget import Forget, ForgetMemories, ForgetSession
from rearview.domain.memory import Tier
from rearview.domain.recall import MemoryFilter
from rearview.domain.writing import UpdateMemory
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.sweep import HOT_TO_WARM, TO_HOT, WARM_TO_COLD
from tests.support.tier_bench import TEXTS, TierBench

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKED = (("阳台的备用钥匙在哪里？", 0), ("KEY-20417", 1), ("review draft 许航", 2), ("dentist appointment floor", 4))


async def assert_found(bench: TierBench, **options: Any) -> None:
    for query, at in ASKED:
        answer = await bench.recall(query, top_k=2, **options)
        assert TEXTS[at] in [hit.memory.content for hit in answer.hits if hit.memory], query
        assert not answer.degraded


async def test_unused_memories_become_warm_and_are_found_as_before(tiers: TierBench) -> None:
    ids = await tiers.write()
    await tiers.age(29)
    assert (await tiers.sweep()).counts[HOT_TO_WARM] == 0
    await tiers.age(2)
    assert (await tiers.sweep()).counts[HOT_TO_WARM] == len(TEXTS)
    assert await tiers.tier_counts() == {Tier.WARM: len(TEXTS)}
    await tiers.assert_in_one_place()
    await assert_found(tiers)
    assert await tiers.contents(ids) == list(TEXTS)


async def test_unused_memories_become_cold_and_are_found_on_request_or_when_too_few_are(tiers: TierBench) -> None:
    ids = await tiers.write()
    before = [await tiers.reader.get(tiers.writing.scope, one) for one in ids]
    assert (await tiers.make_cold()).counts[WARM_TO_COLD] == len(TEXTS)
    assert await tiers.tier_counts() == {Tier.COLD: len(TEXTS)}
    await tiers.assert_in_one_place()
    assert tiers.objects() == await tiers.catalog()
    assert len(tiers.objects()) == 1
    after = [await tiers.reader.get(tiers.writing.scope, one) for one in ids]
    assert [
        replace(one, tier=Tier.HOT, updated_at=was.updated_at) for one, was in zip(after, before, strict=True)
    ] == before
    await assert_found(tiers, include_cold=True)
    await assert_found(tiers)


async def test_a_recall_of_a_stretch_of_time_reads_no_segment_outside_of_it(tiers: TierBench) -> None:
    await tiers.write()
    await tiers.make_cold()
    (key,) = tiers.objects()
    tiers.bucket.client().remove_object(bucket_name=tiers.bucket.bucket, object_name=key)
    moment = tiers.writing.clock.moment
    for outside in (MemoryFilter(end=moment - timedelta(days=300)), MemoryFilter(start=moment + timedelta(days=1))):
        assert not (await tiers.recall(ASKED[0][0], include_cold=True, filter=outside)).degraded
    within = MemoryFilter(start=moment - timedelta(days=300), end=moment + timedelta(days=1))
    assert (await tiers.recall(ASKED[0][0], include_cold=True, filter=within)).degraded == ("cold",)


def routes_taken(plan: str) -> set[str]:
    """Return those of the hot tier's routes that a plan went."""
    taken = re.findall(
        r"Function Scan on (rearview_(?:vector|keyword)_route|rearview_memories_by_entity)\S* .*loops=", plan
    )
    return set(taken)


async def test_a_namespace_that_is_all_cold_asks_no_hot_index(tiers: TierBench) -> None:
    await tiers.write()
    assert len(routes_taken(await tiers.plan("KEY-20417"))) == 3
    await tiers.make_cold()
    assert routes_taken(await tiers.plan("KEY-20417")) == set()


async def test_a_filter_and_a_stretch_of_time_hold_for_cold_memories(tiers: TierBench) -> None:
    moment = tiers.writing.clock.moment
    kept = (await tiers.writing.remember(TEXTS[0], labels={"room": "balcony"})).memory.memory_id
    await tiers.writing.remember("阳台的备用钥匙以前放在门后。", labels={"room": "hall"})
    await tiers.make_cold()
    answer = await tiers.recall(ASKED[0][0], include_cold=True, filter=MemoryFilter(labels={"room": "balcony"}))
    assert [hit.memory.memory_id for hit in answer.hits if hit.memory] == [kept]
    answer = await tiers.recall(ASKED[0][0], include_cold=True, filter=MemoryFilter(end=moment.replace(year=2001)))
    assert not answer.hits


async def test_used_memories_come_back_with_the_same_bytes(tiers: TierBench) -> None:
    ids = await tiers.write()
    unit = "unit_id, embedding::text, sv::text, speaker, flags, type, occurred_at"
    rows = f"SELECT {unit} FROM search_unit_fresh_1 ORDER BY 1"
    columns = "SELECT memory_id, content, metadata, entities, labels FROM memory ORDER BY 1"
    units, memories = await tiers.writing.rows(rows), await tiers.writing.rows(columns)
    await tiers.make_cold()
    await tiers.writing.rows(
        "INSERT INTO memory_stats (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)"
        " SELECT tenant_id, namespace_id, memory_id, 1, %s FROM memory",
        tiers.writing.clock.now(),
    )
    assert (await tiers.sweep()).counts[TO_HOT] == len(ids)
    assert await tiers.writing.rows(rows) == units
    assert await tiers.writing.rows(columns) == memories
    await tiers.assert_in_one_place()
    # Their old bytes went with the compaction of the same pass.
    assert not tiers.objects()
    assert (await tiers.sweep()).counts[HOT_TO_WARM] == 0


async def test_what_is_pinned_or_of_high_priority_stays_hot(tiers: TierBench) -> None:
    await tiers.writing.remember(TEXTS[0], pinned=True)
    await tiers.writing.remember(TEXTS[1], priority=0.95)
    await tiers.writing.remember(TEXTS[3])
    await tiers.make_cold()
    assert await tiers.tier_counts() == {Tier.HOT: 2, Tier.COLD: 1}


async def test_a_namespace_keeps_no_more_hot_memories_than_its_policy_says(tiers: TierBench) -> None:
    ids = await tiers.write()
    await tiers.writing.rows(
        "INSERT INTO namespace_policy (tenant_id, namespace_id, max_hot_memories, version, updated_at)"
        " VALUES (%s, %s, 2, 1, now())",
        tiers.writing.scope.tenant_id,
        tiers.writing.scope.namespace_id,
    )
    assert (await tiers.sweep()).counts[HOT_TO_WARM] == len(ids) - 2
    hot = await tiers.writing.rows("SELECT memory_id FROM memory WHERE tier = 1 ORDER BY created_at")
    assert [row["memory_id"] for row in hot] == ids[-2:]


@pytest.mark.parametrize("days", [40, 100])
async def test_a_memory_is_changed_wherever_it_is(tiers: TierBench, days: int) -> None:
    ids = await tiers.write()
    await tiers.age(days)
    await tiers.sweep()
    updater, scope = tiers.writing.writer.updater, tiers.writing.scope
    pinned = await updater.update(scope, UpdateMemory("notes", ids[0], frozenset({"pinned"}), pinned=True))
    assert (pinned.content, pinned.tier, pinned.pinned) == (TEXTS[0], Tier.HOT, True)
    text = "阳台的备用钥匙现在放在红色箱子里。"
    changed = await updater.update(scope, UpdateMemory("notes", ids[1], frozenset({"content"}), content=text))
    assert changed.content == text
    await tiers.assert_in_one_place()
    answer = await tiers.recall("红色箱子", include_cold=True, top_k=3)
    assert next(hit.memory.content for hit in answer.hits if hit.memory) == text
    answer = await tiers.recall("KEY-20417", include_cold=True, top_k=10)
    assert TEXTS[1] not in [hit.memory.content for hit in answer.hits if hit.memory]


@pytest.mark.parametrize("days", [40, 100])
async def test_what_is_forgotten_is_out_of_reach_at_once_and_gone_from_every_version(
    tiers: TierBench, days: int
) -> None:
    bucket = tiers.bucket
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    ids = await tiers.write()
    await tiers.age(days)
    await tiers.sweep()
    gone = tiers.versions()
    scope = tiers.writing.scope
    receipt = await tiers.writing.writer.forgetter.forget(
        scope, Forget("notes", ForgetMemories(tuple(ids[:2])), skip_grace_period=True)
    )
    for query in (ASKED[0][0], ASKED[1][0]):
        answer = await tiers.recall(query, include_cold=True, top_k=10)
        assert not {TEXTS[0], TEXTS[1]} & {hit.memory.content for hit in answer.hits if hit.memory}
    with pytest.raises(NotFound):
        await tiers.reader.get(scope, ids[0])

    frequencies = "SELECT coalesce(sum(units), 0) AS n FROM keyword_frequency"
    counted = (await tiers.writing.rows(frequencies))[0]["n"]
    async with Database(tiers.urls.service, vectors=False) as database:
        purger = Purger(PostgresErasure(database), _Nowhere(), tiers.writing.clock, tiers.tiers.eraser)
        assert await purger.purge(scope.tenant_id, receipt.receipt_id)
    assert not [version for version in gone if version in tiers.versions()]
    assert tiers.objects() == await tiers.catalog()
    assert (await tiers.writing.rows(frequencies))[0]["n"] < counted
    assert await tiers.contents(ids[2:]) == list(TEXTS[2:])
    assert not await tiers.writing.rows("SELECT 1 FROM memory WHERE memory_id = ANY (%s)", ids[:2])
    stored = b"".join(
        bucket.client().get_object(bucket_name=bucket.bucket, object_name=key).read() for key in tiers.objects()
    )
    assert ids[0].bytes not in stored


async def test_a_cold_fact_takes_other_words_and_the_forgotten_ones_leave_every_version(tiers: TierBench) -> None:
    bucket, scope, writer = tiers.bucket, tiers.writing.scope, tiers.writing.writer
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    for session, text in (("first", "我住在北京"), ("second", "I live in Beijing")):
        await tiers.writing.append([text], session)
        await writer.ender.end(scope, session)
        await tiers.writing.run_jobs()
    await tiers.make_cold()
    (fact,) = await tiers.writing.rows("SELECT memory_id, tier, content FROM memory WHERE derived")
    assert (fact["tier"], fact["content"]) == (Tier.COLD, None)
    gone = tiers.versions()

    receipt = await writer.forgetter.forget(scope, Forget("notes", ForgetSession("first"), skip_grace_period=True))
    await tiers.writing.run_jobs()
    async with Database(tiers.urls.service, vectors=False) as database:
        purger = Purger(PostgresErasure(database), _Nowhere(), tiers.writing.clock, tiers.tiers.eraser)
        assert await purger.purge(scope.tenant_id, receipt.receipt_id)

    assert await tiers.contents([fact["memory_id"]]) == ["I live in Beijing"]
    assert not [version for version in gone if version in tiers.versions()]
    assert tiers.objects() == await tiers.catalog()


class _Nowhere:
    """Volatile places that hold nothing."""

    async def erase_turns(self, _turns: object) -> int:
        """Erase nothing."""
        return 0

    async def erase_access_counts(self, *_: object) -> int:
        """Erase nothing."""
        return 0

    async def erase_answers(self, _tenant_id: object) -> int:
        """Erase nothing."""
        return 0

    async def left(self, *_: object) -> dict[str, int]:
        """Find nothing."""
        return {}


async def test_a_namespace_has_one_sweeper_and_a_late_one_changes_nothing(tiers: TierBench) -> None:
    await tiers.write()
    await tiers.age(40)
    store, scope = tiers.tiers.store, tiers.writing.scope
    lease = await store.acquire(scope.tenant_id, scope.namespace_id, length=timedelta(seconds=60))
    assert lease is not None
    with pytest.raises(Conflict):
        await tiers.sweep()
    await tiers.writing.rows("UPDATE lifecycle_lease SET expires_at = now() - interval '1 second'")
    assert (await tiers.sweep()).counts[HOT_TO_WARM] == len(TEXTS)
    with pytest.raises(Conflict):
        await store.make_warm(lease, [], cutoff=None, floor=1.0, now=tiers.writing.clock.now())


async def test_what_is_said_again_while_it_is_cold_is_at_hand_again(tiers: TierBench) -> None:
    ids = await tiers.write()
    await tiers.make_cold()
    again = await tiers.writing.remember(TEXTS[0])
    assert (again.memory.memory_id, again.memory.content, again.memory.tier) == (ids[0], TEXTS[0], Tier.HOT)
    await tiers.assert_in_one_place()
