"""Each route alone finds what it is there for, in Chinese, English and mixed text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rearview.domain.event import CaptureOutcome, Event, EventRole, WorkingTurn
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType
from rearview.domain.recall import EmptyReason, QueryTurn, Route
from rearview.ports.working_memory import SessionKey
from tests.integration.retriever.conftest import NOW, Bench, event_ids, memory_ids, only
from tests.support.indexed_library import MAIN, Library, Turn

TALK = [
    "早上好，今天天气不错",
    "我想给新办公室买一批椅子",
    "这次采购的预算是一万二",
    "订单号是A2024-0815，麻烦你记一下",
    "另外我对花生过敏",
    "We should book flights to Lisbon for the offsite",
    "My sister Ana is a violinist in the city orchestra",
    "The quarterly report is due on Friday",
    "我每天早上都要喝一杯美式咖啡",
    "周末打算带孩子去爬山",
]


@pytest.fixture(params=["fresh", "main"])
async def talk(request: pytest.FixtureRequest, library: Library) -> dict[str, Any]:
    memory_id, events = await library.episode("s1", TALK)
    library.index(table="search_unit_fresh" if request.param == "fresh" else MAIN)
    return {"scope": library.scope, "memory": memory_id, **dict(zip(TALK, events, strict=True))}


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("过敏", TALK[4]),
        ("A2024-0815 到哪了", TALK[3]),
        ("0815", TALK[3]),
        ("violinists", TALK[6]),
        ("办公室椅子", TALK[1]),
        ("Lisbon 的航班", TALK[5]),
    ],
)
async def test_keyword_route(bench: Bench, talk: dict[str, Any], query: str, answer: str) -> None:
    recalled = await bench.ask(query, talk["scope"], disabled_routes=only(Route.KEYWORD))
    assert event_ids(recalled)[0] == talk[answer]
    assert recalled.hits[0].routes == {Route.KEYWORD}
    assert (recalled.hits[0].score.keyword_score or 0.0) > 0
    assert recalled.hits[0].score.vector_similarity is None


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("他吃什么会不舒服？", TALK[4]),
        ("Which instrument does her sibling play?", TALK[6]),
        ("他平时喝什么饮料提神", TALK[8]),
        ("When is the deadline for the financial summary?", TALK[7]),
    ],
)
async def test_vector_route_finds_paraphrases(bench: Bench, talk: dict[str, Any], query: str, answer: str) -> None:
    recalled = await bench.ask(query, talk["scope"], disabled_routes=only(Route.VECTOR))
    assert talk[answer] in event_ids(recalled)[:3]
    assert all(hit.routes == {Route.VECTOR} for hit in recalled.hits)


async def test_vector_route_across_languages(bench: Bench, library: Library) -> None:
    chinese = ["我对花生过敏", "预算是一万二", "我每天喝美式咖啡", "我住在杭州", "我养了一只猫", "下周要去出差"]
    english = [
        "My sister is a violinist",
        "The report is due on Friday",
        "I go running every morning",
        "We moved to Lisbon last year",
        "My car broke down",
        "I am learning to paint",
    ]
    ids = {text: await library.memory(text) for text in chinese + english}
    library.index()
    to_english = await bench.ask("我姐姐演奏什么乐器", library.scope, disabled_routes=only(Route.VECTOR), top_k=3)
    assert ids["My sister is a violinist"] in memory_ids(to_english)
    to_chinese = await bench.ask(
        "Am I allergic to any food?", library.scope, disabled_routes=only(Route.VECTOR), top_k=3
    )
    assert ids["我对花生过敏"] in memory_ids(to_chinese)


@pytest.mark.parametrize("query", ["预算是多少", "What is the budget?"])
async def test_entity_route_knows_aliases(bench: Bench, library: Library, query: str) -> None:
    fact = await library.memory("采购可以花一万二", MemoryType.FACT, entities=["预算"])
    await library.memory("猫喜欢睡觉")
    library.index()
    recalled = await bench.ask(query, library.scope, disabled_routes=only(Route.ENTITY))
    assert memory_ids(recalled) == [fact]
    assert recalled.hits[0].score.fusion_terms["entity"] > 0


@pytest.mark.parametrize("query", ["上周我们聊了什么", "What did we talk about last week?"])
async def test_time_route(bench: Bench, library: Library, query: str) -> None:
    # Asked on Wednesday, 20 March 2024: last week is the 11th to the 17th.
    _, last_week = await library.episode("s1", ["我们讨论了新的数据库"], start=datetime(2024, 3, 13, 9, tzinfo=UTC))
    await library.episode("s2", ["很久以前的一次谈话"], start=datetime(2023, 11, 2, 9, tzinfo=UTC))
    library.index()
    recalled = await bench.ask(query, library.scope, disabled_routes=only(Route.TIME))
    assert event_ids(recalled) == last_week
    assert recalled.hits[0].routes == {Route.TIME}


async def test_time_is_meant_in_the_callers_zone(bench: Bench, library: Library) -> None:
    await library.memory("a memory")
    library.index()
    recalled = await bench.ask(
        "昨天说了什么", library.scope, time_zone="Asia/Shanghai", reference_time=datetime(2024, 3, 19, 17, tzinfo=UTC)
    )
    await bench.recorder.settled()
    stored = await bench.traces.read(library.scope.tenant_id, recalled.trace_id)
    assert stored is not None
    # It is the 20th in Shanghai already, so yesterday is the 19th there.
    assert stored[2].understanding["time_ranges"] == "2024-03-18T16:00:00+00:00/2024-03-19T16:00:00+00:00"


async def test_working_memory_route(bench: Bench, library: Library) -> None:
    event_id = library.raw_turn("s1", "我的快递放在门口", CaptureOutcome.PENDING, when=NOW)
    library.index()
    event = Event(event_id, EventRole.USER, "我的快递放在门口", NOW, sequence=1, created_at=NOW)
    await bench.working_memory.append(
        SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1"), [WorkingTurn(event, 0.5)]
    )
    recalled = await bench.ask("包裹在哪", library.scope, session_id="s1", disabled_routes=only(Route.WORKING_MEMORY))
    assert event_ids(recalled) == [event_id]
    hit = recalled.hits[0]
    assert hit.memory is None
    assert hit.routes == {Route.WORKING_MEMORY}
    assert "我的快递放在门口" in recalled.context
    elsewhere = await bench.ask("包裹在哪", library.scope, session_id="s2", disabled_routes=only(Route.WORKING_MEMORY))
    assert elsewhere.hits == ()


@pytest.mark.parametrize("outcome", [CaptureOutcome.PENDING, CaptureOutcome.DROPPED])
@pytest.mark.parametrize(
    ("text", "query"), [("嗯，门锁密码的事明天再说", "门锁"), ("ok, the plumber comes at noon", "plumber")]
)
async def test_raw_turn_route(bench: Bench, library: Library, outcome: CaptureOutcome, text: str, query: str) -> None:
    event_id = library.raw_turn("s1", text, outcome)
    library.index()
    recalled = await bench.ask(query, library.scope, disabled_routes=only(Route.RAW_TURNS))
    assert event_ids(recalled) == [event_id]
    assert recalled.hits[0].memory is None
    assert (recalled.hits[0].score.keyword_score or 0.0) > 0


async def test_a_turn_is_found_once_whatever_finds_it(bench: Bench, library: Library) -> None:
    _, (indexed, *_) = await library.episode("s1", ["我对花生过敏", "记下来了"])
    pending = library.raw_turn("s1", "我对牛奶也过敏", CaptureOutcome.PENDING, sequence=3)
    library.index()
    key = SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1")
    for sequence, (event_id, text) in enumerate([(indexed, "我对花生过敏"), (pending, "我对牛奶也过敏")], 1):
        event = Event(event_id, EventRole.USER, text, NOW, sequence=sequence, created_at=NOW)
        await bench.working_memory.append(key, [WorkingTurn(event, 0.5)])
    recalled = await bench.ask("我对什么过敏", library.scope, session_id="s1")
    found = event_ids(recalled)
    assert sorted(found) == sorted(set(found))
    assert {indexed, pending} <= set(found)
    routes = {hit.highlights[0].event.event_id: hit.routes for hit in recalled.hits}
    assert {Route.VECTOR, Route.KEYWORD, Route.WORKING_MEMORY} <= routes[indexed]
    assert routes[pending] == {Route.WORKING_MEMORY, Route.RAW_TURNS}


async def test_a_named_speaker_is_preferred(bench: Bench, library: Library) -> None:
    turns = [
        Turn("I adopted a dog from the shelter", EventRole.USER, "Melanie"),
        Turn("I adopted a dog from the shelter too, actually", EventRole.ASSISTANT, "Caroline"),
        *[Turn(f"Nothing special happened on day {day}", EventRole.USER, "Melanie") for day in range(6)],
    ]
    _, events = await library.episode("s1", turns)
    library.index()
    recalled = await bench.ask("What did Caroline adopt?", library.scope)
    assert event_ids(recalled)[0] == events[1]
    assert recalled.hits[0].score.fusion_terms["speaker"] > 0
    assert recalled.hits[0].score.fusion_terms["role"] == 0


async def test_parts_add_up(bench: Bench, talk: dict[str, Any]) -> None:
    recalled = await bench.ask("采购的预算是多少", talk["scope"])
    assert recalled.ranker == "features"
    assert recalled.degraded == ()
    for hit in recalled.hits:
        score = hit.score
        logit = sum(score.fusion_terms.values())
        assert score.relevance == pytest.approx(1 / (1 + 2.718281828459045**-logit), abs=1e-6)
        assert score.total == pytest.approx(
            score.relevance_weight * score.relevance
            + score.recency_weight * score.recency
            + score.frequency_weight * score.frequency
            + score.emotion_weight * score.emotion
        )
    totals = [hit.score.total for hit in recalled.hits]
    assert totals == sorted(totals, reverse=True)
    assert event_ids(recalled)[0] == talk[TALK[2]]


async def test_nothing_stored(bench: Bench, library: Library) -> None:
    library.index()
    recalled = await bench.ask("有什么吗", library.scope)
    assert recalled.hits == ()
    assert recalled.empty_reason is EmptyReason.NOTHING_STORED
    assert recalled.context == ""


async def test_without_a_single_generation_turns_are_still_found(bench: Bench, library: Library) -> None:
    library.connection.execute("UPDATE model_generation SET current = false")
    event_id = library.raw_turn("s1", "第一句话说的是椅子", CaptureOutcome.PENDING, when=NOW - timedelta(minutes=1))
    recalled = await bench.ask("椅子", library.scope)
    assert event_ids(recalled) == [event_id]


async def test_a_dialogue_as_the_query(bench: Bench, talk: dict[str, Any]) -> None:
    recalled = await bench.ask(
        "花生",
        talk["scope"],
        text="",
        dialogue=(
            QueryTurn(EventRole.USER, "我想点外卖"),
            QueryTurn(EventRole.ASSISTANT, "好的，有什么忌口吗？"),
            QueryTurn(EventRole.USER, "我对什么过敏来着"),
        ),
    )
    assert event_ids(recalled)[0] == talk[TALK[4]]


async def test_unknown_events_of_working_memory_are_not_shown(bench: Bench, library: Library) -> None:
    library.index()
    ghost = Event(new_id(), EventRole.USER, "从未入库的话", NOW, sequence=1, created_at=NOW)
    await bench.working_memory.append(
        SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1"), [WorkingTurn(ghost, 0.5)]
    )
    recalled = await bench.ask("从未入库", library.scope, session_id="s1")
    assert recalled.hits == ()


@pytest.mark.parametrize(
    ("units", "chinese", "english"), [(60_000, 0, 60_000), (60_000, 30_000, 30_000), (40_000, 500, 39_500)]
)
async def test_the_vector_index_finds_the_same_in_a_large_namespace(
    bench: Bench, talk: dict[str, Any], library: Library, units: int, chinese: int, english: int
) -> None:
    query = "Which instrument does her sibling play?"
    exact = await bench.ask(query, talk["scope"], disabled_routes=only(Route.VECTOR))
    # The size decides how vectors are searched; that it is made up here matters to nothing else.
    library.connection.execute(
        "UPDATE namespace_statistics SET units = %s, chinese_units = %s, english_units = %s", [units, chinese, english]
    )
    by_index = await bench.ask(query, talk["scope"], disabled_routes=only(Route.VECTOR))
    assert set(event_ids(by_index)) == set(event_ids(exact))
    await bench.recorder.settled()
    scans = []
    for recalled in (exact, by_index):
        stored = await bench.traces.read(library.scope.tenant_id, recalled.trace_id)
        assert stored is not None
        scans.append(stored[2].understanding["vector_scan"])
    assert scans == ["exact", "index"]
