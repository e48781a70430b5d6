"""What was said a moment ago in another session is known before it is indexed, and puts nothing out of its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.event import CaptureOutcome, Event, EventRole, WorkingTurn
from rearview.domain.recall import MemoryFilter, Route
from rearview.ports.working_memory import SessionKey
from rearview.retriever.question import NEWEST_SINCE, NEWEST_TURNS
from tests.integration.retriever.conftest import Bench, event_ids
from tests.support.indexed_library import Library, Turn

JUST_SAID = [
    ("我刚把那只小猫取名叫年糕", "What is my pet called?"),
    ("My landlord is Mr Quill", "房东姓什么？"),
    ("那个 repo 的 owner 换成 Priya 了", "谁负责代码仓库？"),
]


@pytest.fixture
async def filled(library: Library) -> Library:
    places = ("Lisbon", "Porto", "北京", "上海", "Madrid", "广州")
    turns = [f"{place} trip note {at}: what to call, 姓名与负责人见附件 {at}" for place in places for at in range(5)]
    await library.episode("old", turns)
    library.index()
    return library


def said(
    library: Library, text: str, *, session: str = "now", role: EventRole = EventRole.USER, age: timedelta
) -> None:
    turn = Turn(text, role=role)
    library.raw_turn(session, turn, CaptureOutcome.PENDING, when=datetime.now(UTC) - age)


@pytest.mark.parametrize(("text", "query"), JUST_SAID)
async def test_it_takes_the_last_place_and_leaves_the_others_theirs(
    bench: Bench, filled: Library, text: str, query: str
) -> None:
    before = await bench.ask(query, filled.scope, top_k=6)
    said(filled, text, age=timedelta(seconds=1))
    after = await bench.ask(query, filled.scope, top_k=6)
    assert after.hits[-1].memory is None
    assert after.hits[-1].highlights[0].event.content == text
    assert after.hits[-1].routes == {Route.RAW_TURNS}
    assert event_ids(after)[:-1] == event_ids(before)[: len(after.hits) - 1]
    assert [hit.score.fusion_terms for hit in after.hits[:-1]] == [
        hit.score.fusion_terms for hit in before.hits[: len(after.hits) - 1]
    ]
    assert text in after.context
    short = await bench.ask(query, filled.scope, top_k=3)
    assert event_ids(short) == event_ids(before)[:3]
    await bench.recorder.settled()
    traced = await bench.traces.read(filled.scope.tenant_id, after.trace_id)
    assert traced is not None
    assert traced[2].candidates[-1].rank == len(after.hits)


async def test_which_turns_do_not(bench: Bench, filled: Library) -> None:
    moment = timedelta(seconds=1)
    said(filled, "assistant 说的一句闲话", session="a", role=EventRole.ASSISTANT, age=moment)
    said(filled, "a tool said this", session="b", role=EventRole.TOOL, age=moment)
    said(filled, "说过很久的旧话", session="c", age=NEWEST_SINCE + timedelta(minutes=1))
    filled.raw_turn("d", "小事一桩", CaptureOutcome.DROPPED, when=datetime.now(UTC))
    recalled = await bench.ask("Lisbon trip note", filled.scope, top_k=6)
    assert all(hit.memory is not None for hit in recalled.hits)
    said(filled, "小猫叫年糕", session="e", age=moment)
    for restricted in (
        {"disabled_routes": frozenset({Route.RAW_TURNS})},
        {"filter": MemoryFilter(labels={"a": "b"})},
        {"filter": MemoryFilter(session_id="old")},
        {"as_of": datetime.now(UTC)},
    ):
        recalled = await bench.ask("Lisbon trip note", filled.scope, top_k=6, **restricted)
        assert all(hit.memory is not None for hit in recalled.hits), restricted
    assert (await bench.ask("Lisbon trip note", filled.scope, top_k=6)).hits[-1].memory is None


async def test_there_are_few_of_them_and_an_empty_namespace_has_them_too(bench: Bench, library: Library) -> None:
    for at in range(NEWEST_TURNS + 2):
        said(library, f"第{at}句 quick fact", session=f"s{at}", age=timedelta(seconds=60 - at))
    recalled = await bench.ask("完全无关的问题", library.scope)
    assert len(recalled.hits) == NEWEST_TURNS
    assert {hit.highlights[0].event.content for hit in recalled.hits} == {
        f"第{at}句 quick fact" for at in range(2, NEWEST_TURNS + 2)
    }


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("My landlord took a note of it", "Lisbon trip note 3: what to call"),
        ("房东姓名我再说一遍", "上海的姓名与负责人见附件 2"),
        ("那个 note 我发给房东了", "北京 trip note 4: 姓名与负责人"),
    ],
)
async def test_a_word_in_common_and_the_session_itself_do_not_cost_it_its_place(
    bench: Bench, filled: Library, text: str, query: str
) -> None:
    said_at = datetime.now(UTC) - timedelta(seconds=1)
    [event_id] = filled.events("now", [Turn(text)], [said_at], CaptureOutcome.PENDING)
    said_now = WorkingTurn(Event(event_id, EventRole.USER, text, said_at, sequence=1, created_at=said_at), 0.1)
    key = SessionKey(filled.scope.tenant_id, filled.scope.namespace_id, "now")
    await bench.working_memory.append(key, [said_now])
    for session in ("", "now"):
        recalled = await bench.ask(query, filled.scope, session_id=session, top_k=4)
        assert [hit.highlights[0].event.content for hit in recalled.hits].count(text) == 1, session
        assert len(recalled.hits) == 4
