"""Appending: stored once, in order, redacted, and in working memory before the answer."""

import asyncio
from dataclasses import replace

import pytest

from rearview.adapters.postgres.event_log import PostgresEventLog
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.errors import AlreadyExists, InvalidFields, NotFound, PreconditionFailed, RequestIdReused
from rearview.domain.event import EventRole, ToolCall
from rearview.domain.forget import Forget, ForgetSession
from rearview.ports.embedder import Embedder
from rearview.ports.working_memory import SessionKey
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.support.writer_fixtures import SetClock, WriterBench, request_key


async def test_turns_are_numbered_in_order_and_read_back_from_working_memory(
    bench: WriterBench, writer_config: WriterConfig
) -> None:
    first = await bench.append(["我叫李雷，住在杭州", "My budget is 8000 yuan"])
    second = await bench.append(["周五 meeting 改到三点"])
    assert [event.sequence for event in (*first, *second)] == [1, 2, 3]

    session = SessionKey(bench.scope.tenant_id, bench.scope.namespace_id, "chat")
    async with RedisConnection(writer_config.redis_url.get_secret_value()) as redis:
        held = await RedisWorkingMemory(redis, bench.clock).last_turns(session, 10)
    assert [turn.event for turn in held.turns] == [*first, *second]
    assert all(turn.importance > 0 for turn in held.turns)
    assert await bench.count("procrastinate_jobs", "task_name = 'index_session'") == 1
    assert await bench.count("audit_record", "action = 'events.append'") == 2


async def test_a_repeated_request_changes_nothing_and_answers_alike(bench: WriterBench) -> None:
    turns = [bench.turn("Remember that I am allergic to peanuts"), bench.turn("我对花生过敏")]
    key = request_key("AppendEvents", "peanuts")
    first = await bench.append(turns, request=key)
    # A retry gets other ids where the caller named none.
    again = await bench.append([bench.turn(turn.content) for turn in turns], request=key)
    assert [event.event_id for event in again] == [event.event_id for event in first]
    assert await bench.count("event") == 2
    with pytest.raises(RequestIdReused):
        await bench.append(["something else"], request=replace(key, fingerprint=b"x" * 32))


async def test_a_repeated_request_for_a_session_of_another_name_makes_no_session(bench: WriterBench) -> None:
    key = request_key("AppendEvents", "once")
    await bench.append(["The first"], request=key)
    await bench.append(["The first"], session_id="other", request=key)
    assert await bench.count("session") == 1


async def test_an_event_that_is_stored_already_is_answered_as_stored(bench: WriterBench) -> None:
    one, two = bench.turn("first"), bench.turn("第二")
    await bench.append([one])
    answer = await bench.append([replace(one, content="changed"), two])
    assert [(event.content, event.sequence) for event in answer] == [("first", 1), ("第二", 2)]
    answer = await bench.append([bench.turn("third"), one, bench.turn("第四 fourth")])
    assert [event.sequence for event in answer] == [3, 1, 4]
    with pytest.raises(AlreadyExists):
        await bench.append([one], session_id="another")
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    with pytest.raises(PreconditionFailed):
        await bench.append([two])


async def test_writers_in_parallel_leave_no_gap_and_no_double(bench: WriterBench) -> None:
    log = bench.writer.appender._log
    assert isinstance(log, PostgresEventLog)
    await bench.open_connections(log._database)
    shared = [bench.turn(f"shared {number}") for number in range(4)]
    await asyncio.gather(
        *(bench.append([f"turn {number}", f"第{number}句"]) for number in range(12)),
        *(bench.append(shared) for _ in range(3)),
    )
    sequences = await bench.rows("SELECT sequence FROM event ORDER BY sequence")
    assert [row["sequence"] for row in sequences] == list(range(1, 29))
    assert await bench.count("session", "last_sequence = 28") == 1
    assert await bench.count("procrastinate_jobs", "task_name = 'index_session'") == 1


async def test_ending_is_idempotent_and_appending_opens_again(bench: WriterBench) -> None:
    with pytest.raises(NotFound):
        await bench.writer.ender.end(bench.scope, "chat")
    await bench.append(["hello there"])
    ended = await bench.writer.ender.end(bench.scope, "chat")
    assert ended.ended_at is not None
    assert (await bench.writer.ender.end(bench.scope, "chat")).ended_at == ended.ended_at
    await bench.append(["one more thing"])
    assert await bench.count("session", "ended_at IS NULL") == 1


async def test_redis_being_away_costs_nothing_that_is_acknowledged(
    writer_config: WriterConfig, bench: WriterBench, real_embedder: Embedder
) -> None:
    config = writer_config.model_copy(update={"redis_url": type(writer_config.redis_url)("redis://127.0.0.1:1/0")})
    async with open_writer(config, embedder=real_embedder, clock=SetClock()) as writer:
        cut_off = replace(bench, writer=writer)
        for number in range(6):
            await cut_off.append([f"turn {number}"])
        receipt = await writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    assert await bench.count("event", "tombstoned") == 6
    assert receipt.event_count == 6
    assert await bench.count("procrastinate_jobs", "task_name = 'clear_working_memory'") == 1


PLANTED = {
    "phone": "13812345678",
    "mail": "han.meimei@example.com",
    "card": "4111111111111111",
    "key": "sk-proj-abcdefghijklmnopqrstuvwx123456",
    "address": "192.168.77.10",
}


async def test_nothing_that_redaction_removes_is_stored_anywhere(
    bench: WriterBench, writer_config: WriterConfig
) -> None:
    phone, mail, card, key, address = PLANTED.values()
    turns = [
        bench.turn(f"我的手机号是{phone}，记住了", speaker=f"韩梅梅 {mail}"),
        bench.turn(f"My card is {card}", image_caption=f"a photo of {mail}"),
        bench.turn(
            "",
            role=EventRole.TOOL,
            tool_call=ToolCall(
                f"ping {address}", mail, {"host": address, "nested": [{"password": "hunter2zz"}, card]}, f"key {key}"
            ),
        ),
        bench.turn("Metadata matters", metadata={mail: {"phone": phone}, "token": key}),
    ]
    events = await bench.append(turns)
    assert "PHONE" in events[0].redactions
    assert "EMAIL" in events[0].redactions
    await bench.writer.ender.end(bench.scope, "chat")
    await bench.run_jobs()
    await bench.remember(f"Call me at {phone} or {mail}", metadata={"mail": mail}, labels={"owner": mail})

    stored = await bench.every_text()
    async with RedisConnection(writer_config.redis_url.get_secret_value()) as redis:
        session = SessionKey(bench.scope.tenant_id, bench.scope.namespace_id, "chat")
        held = await RedisWorkingMemory(redis, bench.clock).last_turns(session, 10)
    assert len(held.turns) == 4
    for value in (*PLANTED.values(), "hunter2zz"):
        assert value not in stored
        assert value not in repr(held)
    assert "[PHONE]" in stored


async def test_a_payload_too_deep_to_be_redacted_is_refused(bench: WriterBench) -> None:
    nested: dict[str, object] = {}
    for _ in range(100):
        nested = {"deeper": nested}
    with pytest.raises(InvalidFields, match=r"events\[0\]\.metadata"):
        await bench.append([bench.turn("fine", metadata=nested)])
    assert await bench.count("event") == 0
