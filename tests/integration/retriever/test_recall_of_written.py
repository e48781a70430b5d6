"""What the writer stores, recall finds: at once by working memory and raw turns, then by its index, until forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.memory import MemoryType
from rearview.domain.recall import Route
from rearview.ports.embedder import Embedder
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.integration.retriever.conftest import Bench, event_ids, memory_ids
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import SetClock, WriterBench, scope, writer_config

__all__ = ["scope", "writer_config"]

TALK = [
    "We are planning a trip to Kyoto in April with my sister Ana",
    "The hotel near the Gion district costs 18000 yen a night",
    "在京都我们还想去岚山看竹林",
    "换个话题，新办公室的预算是一万二",
    "采购订单号是A2024-0815",
    "我对花生过敏，点外卖的时候要注意",
]


@pytest.fixture
async def writing(
    writer_config: WriterConfig,
    scope: object,
    database: DatabaseUrls,
    embedder: Embedder,
) -> AsyncIterator[WriterBench]:
    clock = SetClock()
    async with open_writer(writer_config, embedder=embedder, clock=clock) as writer:
        yield WriterBench(writer, scope, clock, database.superuser)  # type: ignore[arg-type]


async def test_from_append_to_forget(bench: Bench, writing: WriterBench) -> None:
    when = writing.clock.moment
    events = await writing.append(TALK)

    at_once = await bench.ask("京都 竹林", writing.scope, session_id="chat", reference_time=when)
    assert event_ids(at_once)[0] == events[2].event_id
    assert at_once.hits[0].memory is None
    assert {Route.WORKING_MEMORY, Route.RAW_TURNS} <= at_once.hits[0].routes

    await writing.writer.ender.end(writing.scope, "chat")
    await writing.run_jobs()
    for query, answer in (
        ("京都哪里有竹林", events[2]),
        ("How much is the hotel?", events[1]),
        ("预算是多少", events[3]),
        ("A2024-0815", events[4]),
        ("what food is she allergic to", events[5]),
    ):
        indexed = await bench.ask(query, writing.scope, reference_time=when, top_k=3)
        assert answer.event_id in event_ids(indexed), query
        assert indexed.degraded == ()
        assert all(hit.memory is not None for hit in indexed.hits)

    remembered = await writing.remember("门禁密码的提示是外婆的生日", type=MemoryType.EXPLICIT)
    explicit = await bench.ask("门禁", writing.scope, reference_time=when)
    assert memory_ids(explicit)[0] == remembered.memory.memory_id
    assert "外婆的生日" in explicit.context

    await writing.writer.forgetter.forget(
        writing.scope, Forget(writing.scope.namespace, ForgetMemories((remembered.memory.memory_id,)))
    )
    gone = await bench.ask("门禁", writing.scope, reference_time=when, session_id="chat")
    assert remembered.memory.memory_id not in memory_ids(gone)
    assert "外婆" not in gone.context


async def test_merged_units_are_found_as_fresh_ones_were(bench: Bench, writing: WriterBench) -> None:
    when = writing.clock.moment
    await writing.append(TALK)
    await writing.writer.ender.end(writing.scope, "chat")
    await writing.run_jobs()
    fresh = await bench.ask("岚山的竹林", writing.scope, reference_time=when)
    await writing.run_jobs(also_later=True)
    turns = await writing.count("event", "outcome = %s", int(CaptureOutcome.KEPT))
    assert await writing.count("search_unit_1") == turns + await writing.count("memory", "derived")
    merged = await bench.ask("岚山的竹林", writing.scope, reference_time=when)
    assert event_ids(merged) == event_ids(fresh)


BUDGETS = ["我的旅行预算是5000元。", "我的旅行预算改成8000元了。", "旅行预算提高到12000元。"]


async def test_what_holds_comes_before_what_held_once(bench: Bench, writing: WriterBench) -> None:
    said: list[Event] = []
    for month, text in enumerate(BUDGETS):
        said += await writing.append([writing.turn(text, seconds=month)], f"month {month}")
        await writing.writer.ender.end(writing.scope, f"month {month}")
    await writing.run_jobs()
    first, second, third = said

    async def order(query: str, **options: Any) -> list[str]:
        found = await bench.ask(query, writing.scope, reference_time=writing.clock.moment, top_k=8, **options)
        return [hit.highlights[0].event.content for hit in found.hits]

    now = await order("我的旅行预算现在是多少？")
    assert now[0] == third.content
    assert now.index(third.content) < now.index(first.content)
    then = await order("我的旅行预算是多少？", as_of=second.occurred_at + timedelta(milliseconds=500))
    assert then[0] == second.content
    before = await order("我的旅行预算最初是多少？")
    assert before[0] == first.content


async def test_a_turn_that_holds_the_code_comes_before_its_neighbours(bench: Bench, writing: WriterBench) -> None:
    texts = [
        ("我上周买的扫地机器人订单号是ZX88213，一直没发货。", EventRole.USER),
        ("好的，我帮您查一下。", EventRole.ASSISTANT),
        ("另外那台加湿器的订单号是ZX88231，已经收到了。", EventRole.USER),
        ("明白，加湿器已签收。", EventRole.ASSISTANT),
    ]
    events = await writing.append([writing.turn(text, at, role) for at, (text, role) in enumerate(texts)])
    await writing.writer.ender.end(writing.scope, "chat")
    await writing.run_jobs()
    for query, answer in (("订单ZX88231", events[2]), ("What is order zx88213?", events[0])):
        found = await bench.ask(query, writing.scope, reference_time=writing.clock.moment)
        assert event_ids(found)[0] == answer.event_id, query
