"""Forgetting and taking it back."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.errors import NotFound, PreconditionFailed, RequestIdReused
from rearview.domain.forget import Forget, ForgetMemories, ForgetReceipt, ForgetSession, ForgetState
from rearview.domain.ids import new_id
from rearview.domain.principal import Scope
from rearview.ports.working_memory import SessionKey
from rearview.writer.config import WriterConfig
from tests.support.writer_fixtures import WriterBench, add_namespace, request_key

TALK = ["The trip to Kyoto in April is taking shape", "必须在八千元以内", "The hotel in Kyoto is near the station"]


async def forget(bench: WriterBench, *memory_ids: Any, **fields: Any) -> ForgetReceipt:
    return await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories(memory_ids), **fields))


async def held(bench: WriterBench, config: WriterConfig) -> list[str]:
    session = SessionKey(bench.scope.tenant_id, bench.scope.namespace_id, "chat")
    async with RedisConnection(config.redis_url.get_secret_value()) as redis:
        turns = await RedisWorkingMemory(redis, bench.clock).last_turns(session, 100)
    return [turn.event.content for turn in turns.turns]


async def indexed_talk(bench: WriterBench) -> dict[int, Any]:
    """Return the memories' ids by type."""
    await bench.append(TALK)
    await bench.writer.ender.end(bench.scope, "chat")
    await bench.run_jobs(["index_session"])
    return {row["type"]: row["memory_id"] for row in await bench.rows("SELECT type, memory_id FROM memory")}


async def test_a_memory_goes_with_its_turns_units_and_place_in_working_memory(
    bench: WriterBench, writer_config: WriterConfig
) -> None:
    constraint = (await indexed_talk(bench))[5]
    receipt = await forget(bench, constraint, reason="changed my mind")
    assert (receipt.state, receipt.memory_ids, receipt.event_count) == (ForgetState.TOMBSTONED, (constraint,), 1)
    assert receipt.purge_after - receipt.tombstoned_at == timedelta(hours=24)
    assert await bench.count("memory", "state = 4 AND state_before = 1") == 1
    assert await bench.count("search_unit_fresh_1", "state = 2") == 1
    assert await bench.count("event", "tombstoned") == 1
    assert await bench.count("tombstone") == 2
    assert await held(bench, writer_config) == [TALK[0], TALK[2]]
    purge = (await bench.rows("SELECT args, scheduled_at FROM procrastinate_jobs WHERE task_name = 'purge'"))[0]
    assert purge["args"] == {"tenant_id": str(bench.scope.tenant_id), "receipt_id": str(receipt.receipt_id)}
    assert purge["scheduled_at"] == receipt.purge_after
    counts = (await bench.rows("SELECT memories FROM namespace_statistics"))[0]
    assert counts["memories"] == await bench.count("memory", "state = 1")
    audit = await bench.rows("SELECT detail FROM audit_record WHERE action = 'memory.forget'")
    assert [row["detail"] for row in audit] == ["memories=1 events=1 reason=changed my mind"]


async def test_a_session_goes_whole_and_starts_afresh(bench: WriterBench, writer_config: WriterConfig) -> None:
    await indexed_talk(bench)
    await bench.remember("Said in the same chat", session_id="chat")
    receipt = await bench.writer.forgetter.forget(
        bench.scope, Forget("notes", ForgetSession("chat"), skip_grace_period=True)
    )
    assert receipt.purge_after == receipt.tombstoned_at
    assert receipt.event_count == len(TALK)
    assert await bench.count("memory", "state <> 4") == 0
    assert await bench.count("event", "NOT tombstoned") == 0
    assert await held(bench, writer_config) == []
    await bench.append(["重新开始"])
    assert await held(bench, writer_config) == ["重新开始"]
    assert await bench.count("session", "forgotten_at IS NULL AND ended_at IS NULL") == 1


async def test_an_unknown_or_forgotten_name_changes_nothing_at_all(bench: WriterBench) -> None:
    memory_id = (await bench.remember("stays")).memory.memory_id
    with pytest.raises(NotFound):
        await forget(bench, memory_id, new_id())
    assert await bench.count("memory", "state = 1") == 1
    assert await bench.count("forget_receipt") == 0
    await forget(bench, memory_id)
    with pytest.raises(NotFound):
        await forget(bench, memory_id)
    with pytest.raises(NotFound):
        await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("nobody")))


async def test_the_reason_is_redacted_before_it_is_kept(bench: WriterBench) -> None:
    memory_id = (await bench.remember("mine")).memory.memory_id
    await forget(bench, memory_id, reason="asked by 13812345678, han@example.com")
    assert await bench.count("forget_receipt", "reason = 'asked by [PHONE], [EMAIL]'") == 1
    stored = await bench.every_text()
    assert "13812345678" not in stored
    assert "han@example.com" not in stored


async def test_a_repeated_request_gets_the_same_receipt(bench: WriterBench) -> None:
    memory_id = (await bench.remember("once")).memory.memory_id
    key = request_key("Forget", "once")
    first = await forget(bench, memory_id, request=key)
    assert await forget(bench, memory_id, request=key) == first
    with pytest.raises(RequestIdReused):
        await forget(bench, memory_id, request=replace(key, fingerprint=b"z" * 32))


async def test_another_tenant_and_another_namespace_reach_nothing(bench: WriterBench) -> None:
    memory_id = (await bench.remember("mine")).memory.memory_id
    for stranger in (
        Scope(new_id(), bench.scope.namespace_id, "notes"),
        Scope(bench.scope.tenant_id, new_id(), "other"),
    ):
        add_namespace(bench.superuser_url, stranger)
        with pytest.raises(NotFound):
            await bench.writer.forgetter.forget(stranger, Forget("notes", ForgetMemories((memory_id,))))
    receipt = await forget(bench, memory_id)
    stranger = Scope(new_id(), bench.scope.namespace_id, "notes")
    with pytest.raises(NotFound):
        await bench.writer.forgetter.restore(stranger, receipt.receipt_id)


async def test_a_restore_brings_back_what_was_there_but_working_memory(
    bench: WriterBench, writer_config: WriterConfig
) -> None:
    await indexed_talk(bench)
    before = await bench.rows("SELECT memory_id, state, content FROM memory ORDER BY memory_id")
    await bench.run_jobs(["merge_fresh_units"], also_later=True)
    receipt = await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    restored = await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id)
    assert restored.state is ForgetState.RESTORED
    assert await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id) == restored
    assert await bench.rows("SELECT memory_id, state, content FROM memory ORDER BY memory_id") == before
    assert await bench.count("search_unit_1", "state = 0") == len(TALK)
    assert await bench.count("event", "tombstoned") == 0
    assert await bench.count("tombstone") == 0
    assert await bench.count("session", "forgotten_at IS NULL") == 1
    assert await held(bench, writer_config) == []
    counts = (await bench.rows("SELECT memories FROM namespace_statistics"))[0]
    assert counts["memories"] == len(before)
    # The clearing job that still waits must not take anything now, and the memories can be forgotten again.
    await bench.run_jobs(["clear_working_memory"])
    await forget(bench, *(row["memory_id"] for row in before))


async def test_turns_that_were_pending_when_they_were_forgotten_are_indexed_after_a_restore(bench: WriterBench) -> None:
    await bench.append(TALK)
    receipt = await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    await bench.append(["A fresh start with other things to say"])
    await bench.run_jobs(["index_session"])
    await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id)
    await bench.run_jobs(["index_session"])
    assert await bench.count("event", "outcome = 1") == 0
    assert await bench.count("search_unit_fresh_1", "state = 0") == len(TALK) + 1


async def test_once_the_purge_may_have_begun_nothing_can_be_restored(bench: WriterBench) -> None:
    memory_id = (await bench.remember("gone")).memory.memory_id
    receipt = await forget(bench, memory_id, skip_grace_period=True)
    with pytest.raises(PreconditionFailed):
        await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id)
    with pytest.raises(NotFound):
        await bench.writer.forgetter.restore(bench.scope, new_id())


async def test_a_turn_that_arrives_in_working_memory_after_its_forget_is_refused(
    bench: WriterBench, writer_config: WriterConfig
) -> None:
    events = await bench.append(TALK)
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    await bench.writer.appender._working_memory.append(
        SessionKey(bench.scope.tenant_id, bench.scope.namespace_id, "chat"),
        [bench.writer.appender._working_turn(event) for event in events],
    )
    assert await held(bench, writer_config) == []
