"""The last turns of a session, when working memory has lost some of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.session_tail import PostgresSessionTail
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.domain.event import CaptureOutcome, Event, EventRole, WorkingTurn
from rearview.domain.ids import new_id
from rearview.domain.recall import Route
from rearview.language.signals import turn_signals
from rearview.ports.clock import SystemClock
from rearview.ports.working_memory import LIFETIME, SessionKey, WorkingTurns
from rearview.retriever.recent_turns import LoggedRecentTurns
from tests.integration.retriever.conftest import Bench, event_ids, only
from tests.support.indexed_library import Library, Turn
from tests.support.stack import DatabaseUrls

TEXTS = ("那我们周五见", "See you on Friday then", "好的 sounds good，老地方", "I will bring the keys 钥匙我带")


@pytest.fixture
async def log(database: DatabaseUrls) -> AsyncIterator[PostgresSessionTail]:
    async with Database(database.service, max_connections=2, vectors=False) as pool:
        yield PostgresSessionTail(pool)


def recent(working_memory: RedisWorkingMemory, log: PostgresSessionTail) -> LoggedRecentTurns:
    return LoggedRecentTurns(working_memory, log, turn_signals, SystemClock(), patience_seconds=30)


def logged(library: Library, *, age: timedelta = timedelta(0)) -> list[WorkingTurn]:
    """Turns that are in the log and not indexed yet, as an append puts them into working memory."""
    said_at = datetime.now(UTC) - age
    turns = [Turn(text) for text in TEXTS]
    ids = library.events("s1", turns, [said_at] * len(turns), CaptureOutcome.PENDING)
    return [
        WorkingTurn(Event(event_id, EventRole.USER, text, said_at, sequence=at, created_at=said_at), 0.9)
        for at, (event_id, text) in enumerate(zip(ids, TEXTS, strict=True), 1)
    ]


def key_of(library: Library) -> SessionKey:
    return SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1")


def ids_of(working: WorkingTurns) -> list[UUID]:
    return [turn.event.event_id for turn in working.turns]


def ids_of_all(turns: list[WorkingTurn]) -> list[UUID]:
    return [turn.event.event_id for turn in turns]


@pytest.mark.parametrize("held", [(), (0,), (3,), (0, 3), (1, 2), (0, 1, 2, 3)], ids=str)
async def test_what_was_lost_is_read_from_the_log_and_put_back(
    bench: Bench, library: Library, log: PostgresSessionTail, held: tuple[int, ...]
) -> None:
    turns, key = logged(library), key_of(library)
    await bench.working_memory.append(key, [turns[at] for at in held])
    read = await recent(bench.working_memory, log).last_turns(key, 10)
    assert ids_of(read) == ids_of_all(turns)
    assert [turn.event.content for turn in read.turns] == list(TEXTS)
    assert read.expires_at is not None
    assert abs(read.expires_at - datetime.now(UTC) - LIFETIME) < timedelta(minutes=1)
    put_back = await bench.working_memory.last_turns(key, 10)
    assert ids_of(put_back) == ids_of_all(turns)
    assert put_back.expires_at is not None


async def test_the_log_alone_suffices_while_working_memory_is_away(library: Library, log: PostgresSessionTail) -> None:
    turns = logged(library)
    async with RedisConnection("redis://127.0.0.1:1/0") as nowhere:
        reading = recent(RedisWorkingMemory(nowhere, SystemClock()), log)
        read = await reading.last_turns(key_of(library), 3)
    assert ids_of(read) == ids_of_all(turns[1:])
    assert read.expires_at is not None


async def test_what_was_forgotten_is_neither_returned_nor_put_back(
    bench: Bench, library: Library, log: PostgresSessionTail
) -> None:
    turns, key = logged(library), key_of(library)
    await bench.working_memory.append(key, turns)
    library.connection.execute("UPDATE event SET tombstoned = true WHERE event_id = %s", [turns[3].event.event_id])
    reading = recent(bench.working_memory, log)
    assert ids_of(await reading.last_turns(key, 3)) == ids_of_all(turns[:3])
    # A reader that saw the turn just before it was forgotten comes with it just after.
    await bench.working_memory.forget(key, [turns[3].event.event_id])
    await bench.working_memory.refill(key, turns)
    assert ids_of(await bench.working_memory.last_turns(key, 10)) == ids_of_all(turns[:3])


async def test_turns_lapse_though_the_log_has_them(bench: Bench, library: Library, log: PostgresSessionTail) -> None:
    logged(library, age=LIFETIME + timedelta(minutes=1))
    read = await recent(bench.working_memory, log).last_turns(key_of(library), 10)
    assert (read.turns, read.expires_at) == ((), None)


async def test_sessions_namespaces_and_tenants_are_apart(
    bench: Bench, library: Library, log: PostgresSessionTail
) -> None:
    turns, key = logged(library), key_of(library)
    reading = recent(bench.working_memory, log)
    for other in (
        replace(key, session_id="s2"),
        replace(key, namespace_id=new_id()),
        replace(key, tenant_id=new_id()),
    ):
        assert ids_of(await reading.last_turns(other, 10)) == []
        assert await log.turns(other, ids_of_all(turns)) == []


async def test_a_recall_finds_a_turn_of_a_moment_ago_whatever_its_words_when_redis_was_flushed(
    bench: Bench, library: Library, log: PostgresSessionTail
) -> None:
    turns, key = logged(library), key_of(library)
    await bench.working_memory.append(key, turns[:1])
    fallen_back = bench.with_parts(working_memory=recent(bench.working_memory, log))
    routes = only(Route.WORKING_MEMORY, Route.RAW_TURNS, Route.VECTOR)
    for question in ("what did we agree on?", "刚才说了什么"):
        recalled = await fallen_back.ask(question, library.scope, session_id="s1", disabled_routes=routes)
        assert set(ids_of_all(turns)) <= set(event_ids(recalled))
        assert recalled.degraded == ()
