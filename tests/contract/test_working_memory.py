"""What every working memory does: the one in Redis and the one that stands in for it in tests."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.errors import Unavailable
from rearview.domain.event import Event, EventRole, ToolCall, WorkingTurn
from rearview.domain.ids import new_id
from rearview.ports.clock import SystemClock
from rearview.ports.working_memory import LIFETIME, MAX_TURNS, SessionKey, WorkingMemory
from tests.support.fake_working_memory import FakeWorkingMemory

SAID_AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest_asyncio.fixture(params=["fake", "valkey"], loop_scope="session")
async def memory(request: pytest.FixtureRequest) -> AsyncIterator[WorkingMemory]:
    if request.param == "fake":
        yield FakeWorkingMemory(SystemClock())
        return
    async with RedisConnection(request.getfixturevalue("redis_url"), timeout_seconds=30) as connection:
        yield RedisWorkingMemory(connection, SystemClock())


@pytest.fixture
def session() -> SessionKey:
    return SessionKey(new_id(), new_id(), "chat")


def turn(sequence: int, content: str = "说点什么 say something") -> WorkingTurn:
    event = Event(new_id(), EventRole.USER, content, SAID_AT, sequence=sequence, created_at=SAID_AT)
    return WorkingTurn(event, 0.5)


async def test_turns_come_back_as_they_went_in(memory: WorkingMemory, session: SessionKey) -> None:
    call = ToolCall("搜索", "c1", {"q": ["预算", 3, None, {"x": True}]}, "3 hits", failed=True)
    full = replace(
        turn(1).event,
        role=EventRole.TOOL,
        speaker="韩梅梅",
        tool_call=call,
        image_caption="a red door",
        metadata={"k": {"n": 1.5}},
        redactions=("PHONE",),
    )
    turns = [WorkingTurn(full, 0.25), turn(2, 'quotes " and \\ and \u2028 and 😀'), turn(3, "")]
    await memory.append(session, turns)
    held = await memory.last_turns(session, 10)
    assert list(held.turns) == turns
    assert held.expires_at is not None
    assert abs(held.expires_at - datetime.now(UTC) - LIFETIME) < timedelta(minutes=1)


async def test_nothing_is_held_of_a_session_without_turns(memory: WorkingMemory, session: SessionKey) -> None:
    held = await memory.last_turns(session, 10)
    assert (held.turns, held.expires_at) == ((), None)


async def test_turns_are_in_their_order_whatever_the_order_of_arrival_and_each_once(
    memory: WorkingMemory, session: SessionKey
) -> None:
    turns = [turn(number) for number in range(1, 6)]
    await memory.append(session, turns[3:])
    await memory.append(session, turns[:3])
    await memory.append(session, turns[1:4])
    assert list((await memory.last_turns(session, 10)).turns) == turns
    assert list((await memory.last_turns(session, 2)).turns) == turns[3:]


async def test_the_oldest_turns_go_beyond_the_limit(memory: WorkingMemory, session: SessionKey) -> None:
    turns = [turn(number) for number in range(1, MAX_TURNS + 31)]
    await memory.append(session, turns[:150])
    await memory.append(session, turns[150:])
    assert list((await memory.last_turns(session, 1_000)).turns) == turns[30:]


async def test_sessions_namespaces_and_tenants_are_apart(memory: WorkingMemory, session: SessionKey) -> None:
    await memory.append(session, [turn(1)])
    for other in (
        replace(session, session_id="other"),
        replace(session, namespace_id=new_id()),
        replace(session, tenant_id=new_id()),
    ):
        assert (await memory.last_turns(other, 10)).turns == ()


async def test_forgotten_turns_go_and_do_not_come_back(memory: WorkingMemory, session: SessionKey) -> None:
    turns = [turn(number) for number in range(1, 6)]
    await memory.append(session, turns)
    await memory.forget(session, [turns[1].event.event_id, new_id()])
    await memory.append(session, turns[1:3])
    held = await memory.last_turns(session, 10)
    assert list(held.turns) == [turns[0], *turns[2:]]
    assert held.expires_at is not None


async def test_a_forgotten_session_goes_whole_and_goes_on_after(memory: WorkingMemory, session: SessionKey) -> None:
    turns = [turn(number) for number in range(1, 5)]
    await memory.append(session, turns[:2])
    await memory.forget(session, [], through_sequence=3)
    await memory.append(session, turns)
    assert list((await memory.last_turns(session, 10)).turns) == turns[3:]
    await memory.forget(session, [], through_sequence=2)
    await memory.append(session, turns[:3])
    assert list((await memory.last_turns(session, 10)).turns) == turns[3:]


async def test_lost_turns_are_put_back_in_their_place_each_once(memory: WorkingMemory, session: SessionKey) -> None:
    said_at = datetime.now(UTC)
    turns = [
        WorkingTurn(replace(one.event, created_at=said_at), one.importance)
        for one in map(turn, range(1, MAX_TURNS + 9))
    ]
    await memory.append(session, turns[-3:])
    await memory.forget(session, [turns[-5].event.event_id], through_sequence=8)
    await memory.refill(session, turns)
    held = await memory.last_turns(session, MAX_TURNS)
    assert list(held.turns) == [*turns[8:-5], *turns[-4:]]
    assert held.expires_at is not None
    assert abs(held.expires_at - said_at - LIFETIME) < timedelta(minutes=1)
    # Those put back are the oldest, and the first to go.
    following = turn(MAX_TURNS + 9)
    await memory.append(session, [following, turn(MAX_TURNS + 10)])
    held = await memory.last_turns(session, MAX_TURNS)
    assert held.turns[0] == turns[9]
    assert held.turns[-2] == following


async def test_lapsed_turns_are_not_put_back(memory: WorkingMemory, session: SessionKey) -> None:
    await memory.refill(session, [turn(1)])
    assert (await memory.last_turns(session, 10)).turns == ()


async def test_forgetting_what_is_not_held_is_harmless(memory: WorkingMemory, session: SessionKey) -> None:
    await memory.forget(session, [new_id()], through_sequence=0)
    await memory.append(session, [turn(1)])
    assert len((await memory.last_turns(session, 10)).turns) == 1


async def test_appends_at_once_all_arrive(memory: WorkingMemory, session: SessionKey) -> None:
    turns = [turn(number) for number in range(1, 41)]
    await asyncio.gather(*(memory.append(session, turns[at : at + 2]) for at in range(0, 40, 2)))
    assert list((await memory.last_turns(session, 100)).turns) == turns


async def test_a_redis_that_is_away_is_told_at_once_after_a_few_failures(session: SessionKey) -> None:
    now = [0.0]
    async with RedisConnection("redis://127.0.0.1:1/0", monotonic=lambda: now[0]) as connection:
        memory = RedisWorkingMemory(connection, SystemClock())
        tried = 0

        async def operation(_: object) -> None:
            nonlocal tried
            tried += 1

        for _ in range(3):
            with pytest.raises(Unavailable):
                await memory.append(session, [turn(1)])
        with pytest.raises(Unavailable):
            await connection.call(operation)
        assert tried == 0
        now[0] = 6.0
        await connection.call(operation)
        await connection.call(operation)
        assert tried == 2
