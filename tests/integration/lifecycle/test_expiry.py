"""What expires is never recalled again and leaves nothing behind, in whichever tier it was: over real stores."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig
from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.erasure_check import PostgresErasureCheck
from rearview.adapters.postgres.expiry import PostgresExpiry
from rearview.adapters.postgres.memory_reader import PostgresMemoryReader
from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.domain.errors import NotFound
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryState, MemoryType, Tier
from rearview.domain.paging import PageRequest
from rearview.domain.recall import MemoryFilter
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.sweep import EVENTS, EXPIRED
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.clock import SystemClock
from tests.support.lifecycle_bench import KEEPS_IDS, LifecycleBench
from tests.support.tier_bench import TEXTS, TierBench

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def set_policy(bench: TierBench, **columns: object) -> None:
    """Set columns of the namespace's policy."""
    await bench.writing.rows(
        f"INSERT INTO namespace_policy (tenant_id, namespace_id, {', '.join(columns)}, version, updated_at)"
        f" VALUES (%s, %s, {', '.join(['%s'] * len(columns))}, 1, now())",
        bench.writing.scope.tenant_id,
        bench.writing.scope.namespace_id,
        *columns.values(),
    )


def days_by_type(days: Mapping[MemoryType, float]) -> Jsonb:
    """Return an `expire_after` as it is stored."""
    return Jsonb({str(int(kind)): each * 86_400 for kind, each in days.items()})


async def recalled(bench: TierBench) -> set[str]:
    """Return everything that recall finds for the texts of the bench."""
    found = set()
    for text in TEXTS:
        answer = await bench.recall(text, include_cold=True, top_k=20)
        found |= {hit.memory.content for hit in answer.hits if hit.memory}
    return found


async def purge_all(bench: TierBench, redis_url: str) -> int:
    """Purge and verify every receipt; return how many there were."""
    scope = bench.writing.scope
    receipts = await bench.writing.rows("SELECT receipt_id FROM forget_receipt WHERE state = 1")
    async with (
        Database(bench.urls.service, vectors=False) as database,
        RedisConnection(redis_url, timeout_seconds=10.0) as redis,
    ):
        clock = bench.writing.clock
        purger = Purger(PostgresErasure(database), RedisErasure(redis), clock, bench.tiers.eraser)
        verifier = PurgeVerifier(PostgresErasureCheck(database), RedisErasure(redis), bench.tiers.erasure_check, clock)
        for receipt in receipts:
            assert await purger.purge(scope.tenant_id, receipt["receipt_id"])
            assert await verifier.verify(scope.tenant_id, receipt["receipt_id"])
    return len(receipts)


async def audited(bench: TierBench, action: str) -> list[str]:
    """Return the details of audit records by the service itself."""
    rows = await bench.writing.rows(
        "SELECT detail FROM audit_record WHERE action = %s AND principal = 'lifecycle' ORDER BY recorded_at", action
    )
    return [row["detail"] for row in rows]


async def test_a_memory_past_its_end_is_out_of_reach_before_any_sweep(tiers: TierBench) -> None:
    clock, scope = tiers.writing.clock, tiers.writing.scope
    kept = (await tiers.writing.remember(TEXTS[0])).memory.memory_id
    gone = (await tiers.writing.remember(TEXTS[1], expires_at=clock.moment + timedelta(days=2))).memory.memory_id
    assert await recalled(tiers) == {TEXTS[0], TEXTS[1]}
    clock.moment += timedelta(days=3)
    assert await recalled(tiers) == {TEXTS[0]}
    async with Database(tiers.urls.service) as database:
        reader = PostgresMemoryReader(database, clock)
        with pytest.raises(NotFound):
            await reader.get(scope, gone)
        listed = await reader.list_page(scope, MemoryFilter(), (), {MemoryState.ACTIVE}, PageRequest())
        assert [memory.memory_id for memory in listed.rows] == [kept]


async def test_expired_memories_leave_nothing_in_any_tier(tiers: TierBench, redis_url: str) -> None:
    bucket, clock = tiers.bucket, tiers.writing.clock
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    end = clock.moment + timedelta(days=1)
    cold = [(await tiers.writing.remember(text, expires_at=end)).memory.memory_id for text in TEXTS[:2]]
    kept = [(await tiers.writing.remember(TEXTS[2])).memory.memory_id]
    await tiers.make_cold()
    warm = [(await tiers.writing.remember(TEXTS[3], expires_at=end)).memory.memory_id]
    await tiers.age(40)
    await tiers.sweep()
    hot = [(await tiers.writing.remember(TEXTS[4], expires_at=end)).memory.memory_id]
    kept.append((await tiers.writing.remember(TEXTS[5], expires_at=end + timedelta(days=9))).memory.memory_id)
    assert await tiers.tier_counts() == {Tier.COLD: 3, Tier.WARM: 1, Tier.HOT: 2}
    old = tiers.versions()

    clock.moment += timedelta(days=2)
    scope = tiers.writing.scope
    plan = await tiers.tiers.sweeper.plan(scope.tenant_id, scope.namespace_id)
    assert (plan[EXPIRED], plan[EVENTS]) == (4, 0)
    assert await tiers.writing.count("memory", "state = 4") == 0, "a plan changes nothing"
    assert (await tiers.sweep()).counts[EXPIRED] == 4
    assert await recalled(tiers) == {TEXTS[2], TEXTS[5]}
    assert await purge_all(tiers, redis_url) == 1

    assert await tiers.writing.count("forget_receipt", "state = 3") == 1
    assert await tiers.writing.tables_with(*map(str, (*cold, *warm, *hot))) <= KEEPS_IDS
    assert await tiers.writing.tables_with(TEXTS[0], TEXTS[1], TEXTS[3], TEXTS[4]) == set()
    assert not [version for version in old if version in tiers.versions()]
    assert tiers.objects() == await tiers.catalog()
    assert await tiers.contents(kept) == [TEXTS[2], TEXTS[5]]
    assert "reason=expired" in (await audited(tiers, "memory.forget"))[0]
    assert (await tiers.sweep()).counts[EXPIRED] == 0


async def test_cold_memories_of_a_type_expire_when_nobody_uses_them(tiers: TierBench, redis_url: str) -> None:
    note, pinned, fact, used = TEXTS[0], TEXTS[1], TEXTS[3], TEXTS[4]
    await tiers.writing.remember(note, type=MemoryType.EXPLICIT)
    stays = (await tiers.writing.remember(pinned, type=MemoryType.EXPLICIT)).memory.memory_id
    await tiers.writing.remember(fact, type=MemoryType.DECISION)
    at_hand = (await tiers.writing.remember(used, type=MemoryType.EXPLICIT)).memory.memory_id
    await tiers.make_cold()
    assert await tiers.tier_counts() == {Tier.COLD: 4}
    # Pinned where it is: what is pinned is brought back otherwise.
    await tiers.writing.rows("UPDATE memory SET pinned = true WHERE memory_id = %s", stays)
    assert await recalled(tiers) == {note, pinned, fact, used}, "without a policy nothing expires"
    await tiers.make_cold()
    await tiers.writing.rows(
        "INSERT INTO memory_stats AS s (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)"
        " SELECT tenant_id, namespace_id, memory_id, 1, %s FROM memory WHERE memory_id = %s"
        " ON CONFLICT (tenant_id, namespace_id, memory_id) DO UPDATE SET last_accessed_at = excluded.last_accessed_at",
        tiers.writing.clock.moment - timedelta(days=60),
        at_hand,
    )

    await set_policy(tiers, expire_after=days_by_type({MemoryType.EXPLICIT: 90}))
    assert await recalled(tiers) == {pinned, fact, used}, "recall does not wait for the sweep"
    await tiers.sweep()
    assert await tiers.writing.tables_with(note) == set(), "cold texts are in segments only"
    assert await purge_all(tiers, redis_url) == 1
    assert await tiers.writing.count("memory") == 3


async def test_a_memory_that_was_given_more_time_meanwhile_stays(tiers: TierBench) -> None:
    clock, scope = tiers.writing.clock, tiers.writing.scope
    ids = [
        (await tiers.writing.remember(text, expires_at=clock.moment + timedelta(days=1))).memory.memory_id
        for text in TEXTS[:2]
    ]
    clock.moment += timedelta(days=2)
    async with Database(tiers.urls.service, vectors=False) as database:
        store = PostgresExpiry(database)
        due = await store.due(scope.tenant_id, scope.namespace_id, now=clock.moment, limit=10)
        assert sorted(due) == sorted(ids)
        await tiers.writing.rows(
            "UPDATE memory SET expires_at = %s WHERE memory_id = %s", clock.moment + timedelta(days=1), ids[0]
        )
        assert await store.expire(scope.tenant_id, scope.namespace_id, due, now=clock.moment) == 1
        with pytest.raises(NotFound):
            await store.expire(scope.tenant_id, scope.namespace_id, ids[:1], now=clock.moment)
    assert [row["memory_id"] for row in await tiers.writing.rows("SELECT * FROM memory WHERE state = 1")] == ids[:1]


async def test_old_events_lapse_and_their_memories_stay(tiers: TierBench) -> None:
    writing = tiers.writing
    await writing.append(["王芳的生日是三月八号，记得订蛋糕。", "好的", "The cake has to be without nuts."], "old")
    await writing.append(["The dentist moved the appointment to the third floor."], "young")
    await writing.run_jobs(also_later=True)
    await writing.append(["还没有读到的一句话"], "unread")
    memories = await writing.count("memory")
    await writing.rows("UPDATE event SET created_at = created_at - interval '31 days' WHERE session_id <> 'young'")
    await writing.rows("UPDATE session SET last_event_at = last_event_at - interval '31 days' WHERE session_id = 'old'")
    scope = writing.scope
    assert (await tiers.tiers.sweeper.plan(scope.tenant_id, scope.namespace_id))[EVENTS] == 0, "a year by default"

    await set_policy(tiers, event_retention=timedelta(days=30))
    assert (await tiers.tiers.sweeper.plan(scope.tenant_id, scope.namespace_id))[EVENTS] == 3
    assert (await tiers.sweep()).counts[EVENTS] == 3
    left = await writing.rows("SELECT session_id FROM event ORDER BY session_id")
    assert [row["session_id"] for row in left] == ["unread", "young"], "what nobody has read yet stays"
    assert await writing.count("memory", "state = 1") == memories
    assert await writing.tables_with("好的") <= {"memory"}
    answer = await tiers.recall("王芳什么时候过生日？")
    assert any("三月八号" in hit.memory.content for hit in answer.hits if hit.memory)
    assert [detail.split(" until")[0] for detail in await audited(tiers, "event.expire")] == ["events=3 sessions=1"]
    assert (await tiers.sweep()).counts[EVENTS] == 0


async def test_expiry_keeps_to_its_namespace(tiers: TierBench) -> None:
    other = new_id()
    clock, scope = tiers.writing.clock, tiers.writing.scope
    await tiers.writing.remember(TEXTS[0], expires_at=clock.moment + timedelta(days=1))
    await tiers.writing.rows(
        "INSERT INTO namespace SELECT (jsonb_populate_record(n, jsonb_build_object('namespace_id', %s::uuid, 'name',"
        " 'other'))).* FROM namespace n WHERE namespace_id = %s",
        other,
        scope.namespace_id,
    )
    clock.moment += timedelta(days=2)
    assert await tiers.tiers.sweeper.plan(scope.tenant_id, other) == dict.fromkeys(
        await tiers.tiers.sweeper.plan(scope.tenant_id, other), 0
    )
    assert (await tiers.sweep()).counts[EXPIRED] == 1


async def test_recall_traces_lapse_with_the_retention_of_their_tenant_and_namespaces(
    lifecycle: LifecycleBench,
) -> None:
    now = datetime.now(UTC)
    own, other = lifecycle.own.scope, lifecycle.other.scope
    strict = new_id()

    async def traced(tenant_id: UUID, age: timedelta, *namespaces: UUID) -> None:
        await lifecycle.own.rows(
            "INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)"
            " VALUES (%s, %s, 'tester', %s, '{}', %s)",
            tenant_id,
            new_id(),
            list(namespaces),
            now - age,
        )

    await lifecycle.own.rows(
        "INSERT INTO tenant_policy (tenant_id, trace_retention, version, updated_at) VALUES (%s, '30 days', 1, now())",
        own.tenant_id,
    )
    await lifecycle.own.rows(
        "INSERT INTO namespace_policy (tenant_id, namespace_id, trace_retention, version, updated_at)"
        " VALUES (%s, %s, '1 hour', 1, now())",
        own.tenant_id,
        strict,
    )
    for age in (timedelta(days=29), timedelta(days=31)):
        await traced(own.tenant_id, age, own.namespace_id)
        await traced(other.tenant_id, age, other.namespace_id)
    for age in (timedelta(minutes=50), timedelta(hours=2)):
        await traced(own.tenant_id, age, own.namespace_id, strict)
        await traced(other.tenant_id, age, other.namespace_id)
    async with Database(lifecycle.urls.service, vectors=False) as database:
        rounds = UpkeepRounds(PostgresUpkeep(database, SystemClock()), UpkeepRules(step=1))
        assert await rounds.expire() == 4
    left = await lifecycle.own.rows("SELECT tenant_id, created_at FROM recall_trace")
    assert {(row["tenant_id"], now - row["created_at"]) for row in left} == {
        (own.tenant_id, timedelta(days=29)),
        (other.tenant_id, timedelta(hours=2)),
        (own.tenant_id, timedelta(minutes=50)),
        (other.tenant_id, timedelta(minutes=50)),
    }


async def test_what_is_worth_too_little_falls_tier_by_tier_and_episodes_expire(tiers: TierBench) -> None:
    writing, clock = tiers.writing, tiers.writing.clock
    week = timedelta(days=8)
    note = (await writing.remember(TEXTS[0])).memory.memory_id
    wanted = (await writing.remember(TEXTS[1], priority=0.85)).memory.memory_id
    pinned = (await writing.remember(TEXTS[2], pinned=True)).memory.memory_id
    often = (await writing.remember(TEXTS[3])).memory.memory_id
    await writing.append([TEXTS[4]], "told")
    await writing.run_jobs(also_later=True)
    await writing.rows("DELETE FROM open_window")  # as the job does when a session falls silent
    told = (await writing.rows("SELECT memory_id FROM memory WHERE type = 1"))[0]["memory_id"]
    await writing.rows(
        "INSERT INTO memory_stats (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)"
        " SELECT tenant_id, namespace_id, memory_id, 1000, %s FROM memory WHERE memory_id = %s"
        " ON CONFLICT (tenant_id, namespace_id, memory_id) DO UPDATE SET access_count = 1000",
        clock.moment,
        often,
    )

    async def tiers_of(*memories: UUID) -> list[Tier | None]:
        rows = await writing.rows("SELECT memory_id, tier FROM memory WHERE state <> 4")
        found = {row["memory_id"]: Tier(row["tier"]) for row in rows}
        return [found.get(memory_id) for memory_id in memories]

    await tiers.sweep()
    clock.moment += week
    await tiers.sweep()
    assert await tiers_of(note, told) == [Tier.HOT, Tier.HOT], "without a floor nothing falls"

    await set_policy(tiers, value_floor=0.46)
    scope = writing.scope
    plan = await tiers.tiers.sweeper.plan(scope.tenant_id, scope.namespace_id)
    fallen = (await tiers.sweep()).counts["hot_to_warm"]
    assert plan["hot_to_warm"] == fallen >= 2
    for expected in (Tier.WARM, Tier.COLD):
        assert await tiers_of(note, told) == [expected, expected]
        await tiers.sweep()
        assert await tiers_of(note, told) == [expected, expected], "one tier at a time, and a grace in each"
        clock.moment += week
        swept = await tiers.sweep()
    assert await tiers_of(note, told) == [Tier.COLD, None], "only episodes expire by their value"
    assert swept.counts[EXPIRED] >= 1
    assert await tiers_of(wanted, pinned, often) == [Tier.HOT] * 3
