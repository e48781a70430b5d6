"""Reading: pages that neither shift nor overlap, histories, traces, receipts, working memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.event_reader import PostgresEventReader
from rearview.adapters.postgres.memory_reader import PostgresMemoryReader
from rearview.adapters.postgres.session_tail import PostgresSessionTail
from rearview.domain.errors import NotFound
from rearview.domain.event import CaptureOutcome, Event, EventRole, WorkingTurn
from rearview.domain.forget import ForgetState
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryState, MemoryType
from rearview.domain.paging import PageRequest
from rearview.domain.recall import MemoryFilter
from rearview.language.query_reader import LanguageQueryReader
from rearview.language.signals import turn_signals
from rearview.ports.clock import SystemClock
from rearview.ports.working_memory import SessionKey
from rearview.retriever.get_forget_receipt import GetForgetReceipt
from rearview.retriever.get_working_memory import GetWorkingMemory
from rearview.retriever.list_memories import ListMemories
from rearview.retriever.recent_turns import LoggedRecentTurns
from tests.integration.retriever.conftest import Bench
from tests.support.indexed_library import BASE, Library, Turn
from tests.support.stack import DatabaseUrls

ACTIVE = frozenset({MemoryState.ACTIVE})


@pytest.fixture
async def pool(database: DatabaseUrls) -> AsyncIterator[Database]:
    async with Database(database.service, max_connections=2, vectors=False) as opened:
        yield opened


async def test_get(library: Library, pool: Database) -> None:
    memory_id, events = await library.episode("s1", ["我对花生过敏", "I noted it"], entities=["花生"])
    reader = PostgresMemoryReader(pool)
    memory = await reader.get(library.scope, memory_id)
    assert memory.content == "我对花生过敏\nI noted it"
    assert memory.event_ids == tuple(("s1", event_id) for event_id in events)
    assert [(entity.text, entity.canonical) for entity in memory.entities] == [("花生", "peanut")]
    assert memory.generation_id == library.embedder.generation.generation_id
    library.tombstone(memory_id)
    with pytest.raises(NotFound, match=str(memory_id)):
        await reader.get(library.scope, memory_id)


async def test_pages_are_stable_under_inserts(library: Library, pool: Database) -> None:
    for at in range(7):
        # Two of each moment: ties must not lose or repeat a row at the border of a page.
        library.memory_row(f"第{at}条", MemoryType.EXPLICIT, occurred_at=BASE + timedelta(hours=at // 2))
    listing = ListMemories(PostgresMemoryReader(pool), LanguageQueryReader())
    seen: list[str] = []
    page = PageRequest(size=2)
    while True:
        found = await listing.page(library.scope, MemoryFilter(), ACTIVE, page)
        seen += [memory.content for memory in found.rows]
        library.memory_row("新来的", MemoryType.EXPLICIT, occurred_at=BASE + timedelta(days=len(seen)))
        if not found.next_after:
            break
        page = PageRequest(size=2, after=found.next_after)
    assert sorted(seen) == [f"第{at}条" for at in range(7)]


async def test_list_filters_and_states(library: Library, pool: Database) -> None:
    wanted = library.memory_row("预算是12000", MemoryType.FACT, entities=["预算"], labels={"team": "a"})
    old = library.memory_row("预算是8000", MemoryType.FACT, entities=["预算"], state=MemoryState.SUPERSEDED)
    library.memory_row("别的", MemoryType.EXPLICIT)
    gone = library.memory_row("忘掉的预算", MemoryType.FACT, entities=["预算"])
    library.tombstone(gone)
    listing = ListMemories(PostgresMemoryReader(pool), LanguageQueryReader())

    async def ids(memory_filter: MemoryFilter, states: frozenset[MemoryState] = ACTIVE) -> set[object]:
        page = await listing.page(library.scope, memory_filter, states, PageRequest())
        return {memory.memory_id for memory in page.rows}

    assert await ids(MemoryFilter(entities=("Budget",))) == {wanted}
    assert await ids(MemoryFilter(labels={"team": "a"})) == {wanted}
    assert await ids(MemoryFilter(types=frozenset({MemoryType.FACT})), frozenset(MemoryState)) == {wanted, old}
    assert await ids(MemoryFilter(session_id="none")) == set()


async def test_history(library: Library, pool: Database) -> None:
    newest = library.memory_row("12000", MemoryType.FACT, occurred_at=BASE + timedelta(days=2))
    middle = library.memory_row(
        "10000",
        MemoryType.FACT,
        occurred_at=BASE + timedelta(days=1),
        state=MemoryState.SUPERSEDED,
        superseded_by=newest,
    )
    oldest = library.memory_row("8000", MemoryType.FACT, state=MemoryState.SUPERSEDED, superseded_by=middle)
    alone = library.memory_row("无关", MemoryType.FACT)
    reader = PostgresMemoryReader(pool)
    for start in (newest, middle, oldest):
        page = await reader.history(library.scope, start, PageRequest())
        assert [memory.memory_id for memory in page.rows] == [newest, middle, oldest]
    first = await reader.history(library.scope, middle, PageRequest(size=2))
    rest = await reader.history(library.scope, middle, PageRequest(size=2, after=first.next_after))
    assert [memory.memory_id for memory in (*first.rows, *rest.rows)] == [newest, middle, oldest]
    assert [memory.memory_id for memory in (await reader.history(library.scope, alone, PageRequest())).rows] == [alone]
    with pytest.raises(NotFound):
        await reader.history(library.scope, new_id(), PageRequest())


async def test_events_and_sessions(library: Library, pool: Database) -> None:
    texts = [Turn(f"第{at}句") for at in range(5)]
    times = [BASE + timedelta(minutes=at) for at in range(5)]
    ids = library.events("s1", texts, times, CaptureOutcome.PENDING)
    library.events("s2", texts[:1], [BASE + timedelta(days=1)], CaptureOutcome.PENDING)
    library.events("s3", texts[:1], [BASE - timedelta(days=1)], CaptureOutcome.PENDING)
    library.connection.execute("UPDATE event SET tombstoned = true WHERE event_id = %s", [ids[2]])
    library.connection.execute("UPDATE session SET forgotten_at = now() WHERE session_id = 's3'")
    reader = PostgresEventReader(pool)
    first = await reader.events(library.scope, "s1", PageRequest(size=3))
    rest = await reader.events(library.scope, "s1", PageRequest(size=3, after=first.next_after))
    assert [event.event_id for event in (*first.rows, *rest.rows)] == [*ids[:2], *ids[3:]]
    assert not rest.next_after
    newest = await reader.events(library.scope, "s1", PageRequest(size=3), newest_first=True)
    before = await reader.events(library.scope, "s1", PageRequest(size=3, after=newest.next_after), newest_first=True)
    assert [event.event_id for event in (*newest.rows, *before.rows)] == [ids[4], ids[3], ids[1], ids[0]]
    assert not before.next_after
    sessions = await reader.sessions(library.scope, PageRequest(size=1))
    assert [session.session_id for session in sessions.rows] == ["s2"]
    more = await reader.sessions(library.scope, PageRequest(size=1, after=sessions.next_after))
    assert [(session.session_id, session.event_count) for session in more.rows] == [("s1", 5)]
    for unknown in ("s3", "s9"):
        with pytest.raises(NotFound):
            await reader.events(library.scope, unknown, PageRequest())


async def test_capture_trace(library: Library, pool: Database) -> None:
    memory_id, (event_id,) = await library.episode("s1", ["预算是12000"])
    superseded = new_id()
    library.connection.execute(
        "UPDATE event SET capture = %s, importance = 0.75, redactions = '{PHONE}', indexed_at = now()",
        [
            Jsonb(
                {
                    "reason": "kept: 0.75 >= 0.05",
                    "superseded_ids": [str(superseded)],
                    "stage_milliseconds": {"embed": 3.5},
                }
            )
        ],
    )
    reader = PostgresEventReader(pool)
    trace = await reader.capture_trace(library.scope, "s1", event_id)
    assert trace.outcome is CaptureOutcome.KEPT
    assert trace.reason == "kept: 0.75 >= 0.05"
    assert trace.importance == 0.75
    assert trace.memory_ids == (memory_id,)
    assert trace.superseded_ids == (superseded,)
    assert trace.redactions == ("PHONE",)
    assert trace.stage_milliseconds == {"embed": 3.5}
    assert trace.indexed_at is not None
    with pytest.raises(NotFound):
        await reader.capture_trace(library.scope, "another", event_id)


async def test_receipt(library: Library, pool: Database) -> None:
    receipt_id, now = new_id(), datetime.now(UTC)
    library.connection.execute(
        """INSERT INTO forget_receipt (tenant_id, receipt_id, namespace_id, namespace, state, principal, memory_ids,
                                       event_ids, tombstoned_at, purge_after, places)
           VALUES (%s, %s, %s, 'notes', 2, 'agent', %s, %s, %s, %s, %s)""",
        [
            library.scope.tenant_id,
            receipt_id,
            library.scope.namespace_id,
            [new_id()],
            [new_id(), new_id()],
            now,
            now + timedelta(days=1),
            Jsonb([{"place": "postgres.memory", "count": 1, "erased_at": now.isoformat()}]),
        ],
    )
    reading = GetForgetReceipt(PostgresEventReader(pool))
    receipt = await reading.get(library.scope.tenant_id, {library.scope.namespace_id}, receipt_id)
    assert (receipt.state, receipt.memory_count, receipt.event_count) == (ForgetState.PURGED, 1, 2)
    assert receipt.places[0].place == "postgres.memory"
    for tenant, readable in ((library.scope.tenant_id, set()), (new_id(), {library.scope.namespace_id})):
        with pytest.raises(NotFound):
            await reading.get(tenant, readable, receipt_id)


async def test_working_memory(bench: Bench, library: Library, pool: Database) -> None:
    turns, now = [Turn(f"第{at}句") for at in range(4)], datetime.now(UTC)
    ids = library.events("s1", turns, [now] * 4, CaptureOutcome.PENDING)
    events = [
        Event(event_id, EventRole.USER, turn.text, now, sequence=at, created_at=now)
        for at, (event_id, turn) in enumerate(zip(ids, turns, strict=True), 1)
    ]
    key = SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1")
    await bench.working_memory.append(key, [WorkingTurn(event, 0.6) for event in events])
    recent = LoggedRecentTurns(
        bench.working_memory, PostgresSessionTail(pool), turn_signals, SystemClock(), patience_seconds=30
    )
    reading = GetWorkingMemory(recent, PostgresEventReader(pool))
    working = await reading.last_turns(library.scope, "s1", 3)
    assert [turn.event.event_id for turn in working.turns] == ids[1:]
    assert [turn.importance for turn in working.turns] == pytest.approx([0.6 / 1.6, 0.6 / 1.3, 0.6])
    assert working.expires_at is not None
    library.connection.execute("UPDATE event SET tombstoned = true WHERE event_id = %s", [ids[3]])
    after = await reading.last_turns(library.scope, "s1", 3)
    assert [turn.event.event_id for turn in after.turns] == ids[:3]
    with pytest.raises(NotFound):
        await reading.last_turns(library.scope, "s2", 3)
