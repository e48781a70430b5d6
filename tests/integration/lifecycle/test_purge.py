"""Purging: of what was forgotten nothing is left anywhere, whatever happens on the way, and nothing else is touched."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.recall_traces import PostgresRecallTraceStore
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.domain.errors import Conflict, Unavailable
from rearview.domain.event import Event, EventRole, ToolCall
from rearview.domain.forget import ForgetReceipt, ForgetState, receipt_digest
from rearview.domain.ids import new_id
from rearview.domain.principal import Scope
from rearview.domain.recall import RecallTrace, ScoreParts, TraceCandidate
from tests.support.lifecycle_bench import KEEPS_IDS, LifecycleBench
from tests.support.writer_fixtures import WriterBench, request_key

MARKERS = ("Zanzibarquartz", "翡翠蜻蜓", "Ottokar von Flieder")
SECRETS = [
    "My sister Zanzibarquartz lives in Kyoto and works as a cook",
    "她最喜欢的菜是翡翠蜻蜓糕，每年三月都要做",
    "Zanzibarquartz flies to Rome on 2026-05-04 and pays 1200 euros",
]
HARMLESS = [
    "We want to see the temples and the bamboo grove in Kyoto in April",
    "在京都我们还想去岚山看竹林，大概四月去",
    "The hotel near the Gion district costs 18000 yen a night",
]
DEAD_PORT = "redis://127.0.0.1:1/0"


async def tell_secrets(bench: WriterBench, session_id: str = "chat") -> tuple[Event, ...]:
    """Append a session full of markers, in every field that a caller can fill."""
    events = [
        *(bench.turn(text, at, speaker=MARKERS[2]) for at, text in enumerate(SECRETS)),
        bench.turn("Look at this", 4, image_caption=f"a photo of {MARKERS[0]}", metadata={"note": [MARKERS[1]]}),
        bench.turn(
            f"I looked up the flight of {MARKERS[0]} for you",
            5,
            EventRole.ASSISTANT,
            tool_call=ToolCall("flights", "c1", {"passenger": MARKERS[0]}, f"seat 12A for {MARKERS[0]}"),
        ),
    ]
    return await bench.append(events, session_id, request_key("AppendEvents", [new_id().hex]))


async def remember_secret(bench: WriterBench) -> UUID:
    """Remember a marker, in every field that a caller can fill."""
    remembered = await bench.remember(
        f"{MARKERS[0]} 的护照在抽屉里",
        labels={"who": MARKERS[1]},
        metadata={"deep": {"er": MARKERS[0]}},
        entities=(MARKERS[1],),
        request=request_key("Remember", new_id().hex),
    )
    return remembered.memory.memory_id


async def leave_traces(lifecycle: LifecycleBench, memory_ids: list[UUID]) -> None:
    """Recall the memories: a trace that mentions them, and counts of accesses."""
    scope = lifecycle.own.scope
    await write_trace(lifecycle, scope, f"where does {MARKERS[0]} live", [f"namespaces/notes/memories/{memory_ids[0]}"])
    counter = RedisAccessCounter(lifecycle.redis)
    await counter.count(scope.tenant_id, {scope.namespace_id: memory_ids}, datetime.now(UTC))


async def write_trace(lifecycle: LifecycleBench, scope: Scope, query: str, names: list[str]) -> UUID:
    trace = RecallTrace(
        trace_id=new_id(),
        query=query,
        namespaces=("notes",),
        at=datetime.now(UTC),
        understanding={},
        route_counts={},
        candidates=tuple(TraceCandidate(name, frozenset(), ScoreParts(1.0, 1.0), 1) for name in names),
        degraded=(),
        stage_milliseconds={},
    )
    store = PostgresRecallTraceStore(lifecycle.database)
    await store.write(scope.tenant_id, "tester", [scope.namespace_id], trace)
    return trace.trace_id


async def memory_ids(lifecycle: LifecycleBench) -> list[UUID]:
    rows = await lifecycle.own.rows(
        "SELECT memory_id FROM memory WHERE tenant_id = %s ORDER BY 1", lifecycle.own.scope.tenant_id
    )
    return [row["memory_id"] for row in rows]


def counts(receipt: ForgetReceipt) -> dict[str, int]:
    return {place.place: place.count for place in receipt.places}


async def test_nothing_is_left_of_a_forgotten_session_and_memory(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    events = await tell_secrets(own)
    remembered = await remember_secret(own)
    await own.append(HARMLESS, "other")
    for session_id in ("chat", "other"):
        await own.writer.ender.end(own.scope, session_id)
    await own.run_jobs(also_later=True)
    found = await memory_ids(lifecycle)
    await leave_traces(lifecycle, found)
    kept_trace = await write_trace(lifecycle, own.scope, "temples", [f"namespaces/notes/memories/{new_id()}"])
    holders = await lifecycle.tables_with(*MARKERS)
    assert holders == {"event", "memory", "speaker", "recall_trace"}, "the markers stand where they are looked for"
    assert any(key.startswith("wm:") for key in await lifecycle.redis_keys_with(*MARKERS))

    receipts = [await lifecycle.forget_session(), await lifecycle.forget_memories(remembered)]
    gone = {str(event.event_id) for event in events} | {str(i) for r in receipts for i in r.memory_ids}
    assert len(gone) > len(events)
    for receipt in receipts:
        assert await lifecycle.purge(receipt)

    assert await lifecycle.tables_with(*MARKERS) == set()
    assert await lifecycle.tables_with(*gone) <= KEEPS_IDS
    assert await lifecycle.redis_keys_with(*MARKERS) == set()
    # A note refuses turns that arrive late; it holds ids and lapses within a day.
    assert {key.partition(":")[0] for key in await lifecycle.redis_keys_with(*gone)} <= {"wmf"}
    assert await own.count("session", "session_id = 'chat'") == 0
    assert await own.count("tombstone") == len(gone)
    assert await own.count("recall_trace", "trace_id = %s", kept_trace) == 1
    assert await own.count("event", "session_id = 'other'") == len(HARMLESS)


async def test_the_receipt_says_what_was_erased_and_proves_it(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    events = await tell_secrets(own)
    await own.writer.ender.end(own.scope, "chat")
    await own.run_jobs(also_later=True)
    found = await memory_ids(lifecycle)
    await leave_traces(lifecycle, found)
    units = await own.count("search_unit_1") + await own.count("search_unit_fresh_1")
    links = await own.count("memory_event")
    forgotten = await lifecycle.forget_session()

    await lifecycle.purge(forgotten)

    receipt = await lifecycle.receipt(forgotten)
    assert receipt.state is ForgetState.PURGED
    assert receipt.purged_at is not None
    assert counts(receipt) == {
        "postgres.memory_original": 0,
        "postgres.event_original": 0,
        "postgres.memory": len(found),
        "postgres.event": len(events),
        "postgres.memory_event": links,
        "postgres.memory_source": 0,
        "postgres.memory_stats": 0,
        "postgres.search_unit": units,
        "postgres.open_window": 0,
        "postgres.speaker": 1,
        "postgres.session": 1,
        "postgres.recall_trace": 1,
        "postgres.request": 1,
        "redis.working_memory": 0,  # the forget had cleared it
        "redis.access_counts": len(found),
        "redis.answers": 0,
    }
    assert receipt.digest == receipt_digest([*found, *(event.event_id for event in events)], receipt.places)
    record = (await own.rows("SELECT * FROM audit_record WHERE action = 'memory.purge'"))[0]
    assert record["resource_names"] == [f"forgetReceipts/{receipt.receipt_id}"]
    assert receipt.digest in record["detail"]
    assert not any(marker in str(record) for marker in MARKERS)

    await lifecycle.purge(forgotten)  # until it is verified it is looked through again, and says nothing new
    assert await lifecycle.receipt(forgotten) == receipt
    assert await own.count("audit_record", "action = 'memory.purge'") == 1


async def test_a_trace_that_comes_after_the_purge_is_not_kept(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await tell_secrets(own)
    await own.run_jobs()
    purged = (await memory_ids(lifecycle))[0]
    await lifecycle.purge(await lifecycle.forget_session())
    await write_trace(lifecycle, own.scope, "谁住在哪里", [f"namespaces/notes/memories/{purged}"])
    kept = await write_trace(lifecycle, own.scope, "谁住在哪里", [f"namespaces/notes/memories/{new_id()}"])
    assert [row["trace_id"] for row in await own.rows("SELECT trace_id FROM recall_trace")] == [kept]


async def test_working_memory_is_cleared_and_refuses_late_turns(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await tell_secrets(own)
    held = {key: value for key, value in (await lifecycle.redis_values()).items() if key.startswith("wm:")}
    forgotten = await lifecycle.forget_session()
    # As if the forget had not reached Redis.
    client_values = next(iter(held.items()))
    await restore_list(lifecycle, *client_values)

    await lifecycle.purge(forgotten)

    assert counts(await lifecycle.receipt(forgotten))["redis.working_memory"] == 5
    assert await lifecycle.redis_keys_with(*MARKERS) == set()
    # The session's name is free again, and its turns count from one.
    await own.append(["A new talk under an old name"], "chat")
    assert await lifecycle.redis_keys_with("under an old name") == {client_values[0]}


async def restore_list(lifecycle: LifecycleBench, key: str, values: list[str]) -> None:
    await lifecycle.redis.call(lambda client: client.rpush(key, *values))


async def test_another_tenant_with_the_same_words_is_untouched(lifecycle: LifecycleBench) -> None:
    for bench in (lifecycle.own, lifecycle.other):
        await tell_secrets(bench)
        await remember_secret(bench)
        await bench.writer.ender.end(bench.scope, "chat")
    await lifecycle.own.run_jobs(also_later=True)
    before = await lifecycle.rows_of(lifecycle.other.scope.tenant_id)
    values = {k: v for k, v in (await lifecycle.redis_values()).items() if str(lifecycle.other.scope.tenant_id) in k}
    assert sum(map(len, before.values())) > 20

    await lifecycle.purge(await lifecycle.forget_session())
    await lifecycle.purge(await lifecycle.forget_memories(*await memory_ids(lifecycle)))

    assert await memory_ids(lifecycle) == []
    assert await lifecycle.rows_of(lifecycle.other.scope.tenant_id) == before
    after = {k: v for k, v in (await lifecycle.redis_values()).items() if str(lifecycle.other.scope.tenant_id) in k}
    assert after == values


@pytest.mark.parametrize("ended", [True, False], ids=["windows closed", "windows open"])
async def test_keyword_counts_are_as_if_it_had_never_been_said(lifecycle: LifecycleBench, ended: bool) -> None:
    own = lifecycle.own
    await own.append(HARMLESS, "other")
    await own.writer.ender.end(own.scope, "other")
    await own.run_jobs()
    before = await own.rows("SELECT keyword, units FROM keyword_frequency ORDER BY keyword")
    totals = (await own.rows("SELECT units, chinese_units, english_units, memories, bytes FROM namespace_statistics"))[
        0
    ]
    assert before

    await own.append([*SECRETS, HARMLESS[0], "Shall we take the night train to Zanzibarquartz in Kyoto?"])
    if ended:
        await own.writer.ender.end(own.scope, "chat")
    await own.run_jobs()
    await own.run_jobs(["merge_fresh_units"], also_later=True)
    assert await own.count("search_unit_1") > 0
    await lifecycle.purge(await lifecycle.forget_session())

    assert await own.rows("SELECT keyword, units FROM keyword_frequency ORDER BY keyword") == before
    after = (await own.rows("SELECT units, chinese_units, english_units, memories, bytes FROM namespace_statistics"))[0]
    assert after == totals


async def test_a_speaker_stays_known_while_somebody_else_heard_them(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await own.append([own.turn(text, at, speaker="李雷") for at, text in enumerate(HARMLESS)], "other")
    await own.append([own.turn(text, at, speaker="李雷") for at, text in enumerate(SECRETS)])
    await own.run_jobs()

    await lifecycle.purge(await lifecycle.forget_session())
    assert await own.count("speaker", "name = '李雷'") == 1
    await lifecycle.purge(await lifecycle.forget_session("other"))
    assert await own.count("speaker") == 0


async def test_a_restored_forget_is_left_alone(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await tell_secrets(own)
    await own.run_jobs()
    forgotten = await lifecycle.forget_session(at_once=False)
    await own.writer.forgetter.restore(own.scope, forgotten.receipt_id)
    before = await lifecycle.rows_of(own.scope.tenant_id)

    assert not await lifecycle.purge(forgotten)

    assert await lifecycle.rows_of(own.scope.tenant_id) == before
    assert (await lifecycle.receipt(forgotten)).state is ForgetState.RESTORED


async def test_nothing_is_restored_once_the_purge_has_begun(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await tell_secrets(own)
    await own.run_jobs()
    # The writer's clock is behind that of the database, where the grace period is over.
    forgotten = await lifecycle.forget_session(at_once=False)
    store = PostgresErasure(lifecycle.database)
    assert await store.begin(own.scope.tenant_id, forgotten.receipt_id, now=own.clock.now())
    with pytest.raises(Conflict):
        await own.writer.forgetter.restore(own.scope, forgotten.receipt_id)
    assert await lifecycle.purge(forgotten)


async def test_nothing_is_purged_before_its_time(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    own.clock.moment = datetime.now(UTC)
    await tell_secrets(own)
    forgotten = await lifecycle.forget_session(at_once=False)
    before = await lifecycle.rows_of(own.scope.tenant_id)

    assert not await lifecycle.purge(forgotten)

    assert await lifecycle.rows_of(own.scope.tenant_id) == before


async def test_two_purges_at_once_erase_once(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    events = await tell_secrets(own)
    await own.run_jobs()
    found = await memory_ids(lifecycle)
    forgotten = await lifecycle.forget_session()

    purgers = [lifecycle.purger(batch=1) for _ in range(3)]
    await asyncio.gather(*(purger.purge(own.scope.tenant_id, forgotten.receipt_id) for purger in purgers))

    receipt = await lifecycle.receipt(forgotten)
    assert receipt.state is ForgetState.PURGED
    assert counts(receipt)["postgres.event"] == len(events)
    assert counts(receipt)["postgres.memory"] == len(found)
    assert await own.count("audit_record", "action = 'memory.purge'") == 1
    assert await lifecycle.tables_with(*MARKERS) == set()


async def test_without_redis_the_database_is_purged_and_the_receipt_waits(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await tell_secrets(own)
    await own.run_jobs()
    forgotten = await lifecycle.forget_session()

    with pytest.raises(Unavailable):
        await lifecycle.purger(redis_url=DEAD_PORT).purge(own.scope.tenant_id, forgotten.receipt_id)

    assert await lifecycle.tables_with(*MARKERS) == set()
    assert (await lifecycle.receipt(forgotten)).state is ForgetState.TOMBSTONED
    assert await lifecycle.purge(forgotten)
    assert (await lifecycle.receipt(forgotten)).state is ForgetState.PURGED


async def test_an_unknown_receipt_is_nothing_to_do(lifecycle: LifecycleBench) -> None:
    unknown = replace(await _some_receipt(lifecycle), receipt_id=new_id())
    assert not await lifecycle.purge(unknown)


async def test_one_tenants_purge_does_not_reach_anothers_receipt(lifecycle: LifecycleBench) -> None:
    forgotten = await _some_receipt(lifecycle)
    assert not await lifecycle.purger().purge(lifecycle.other.scope.tenant_id, forgotten.receipt_id)
    assert (await lifecycle.receipt(forgotten)).state is ForgetState.TOMBSTONED


async def _some_receipt(lifecycle: LifecycleBench) -> ForgetReceipt:
    await tell_secrets(lifecycle.own)
    return await lifecycle.forget_session()
