"""What recall must not return: what the filter excludes, what was forgotten, what belongs to others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from rearview.domain.event import CaptureOutcome, Event, EventRole, WorkingTurn
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryState, MemoryType, Origin
from rearview.domain.principal import Scope
from rearview.domain.recall import EmptyReason, MemoryFilter, Recalled, Route
from rearview.ports.working_memory import SessionKey
from tests.integration.retriever.conftest import NOW, Bench, event_ids, memory_ids, only
from tests.support.indexed_library import BASE, MAIN, Library, Turn, open_library
from tests.support.stack import DatabaseUrls


@pytest.fixture
async def shelf(library: Library) -> dict[str, Any]:
    """The same statement, kept in many ways, so that only a filter can tell them apart."""
    text = "预算是{}元 the budget is {}"
    made: dict[str, UUID] = {}
    for at, name in enumerate(("fact", "explicit", "labelled", "entity", "session", "old", "tool")):
        said = text.format(at * 1000 + 1000, at * 1000 + 1000)
        match name:
            case "fact":
                made[name] = await library.memory(said, MemoryType.FACT)
            case "labelled":
                made[name] = await library.memory(said, labels={"team": "红队", "tier": "a"})
            case "entity":
                made[name] = await library.memory(said, entities=["预算", "李雷"])
            case "session":
                made[name], _ = await library.episode("session-7", [said])
            case "old":
                made[name] = await library.memory(said, occurred_at=datetime(2020, 5, 1, tzinfo=UTC))
            case "tool":
                made[name], _ = await library.episode("tools", [Turn(said, EventRole.TOOL)])
            case _:
                made[name] = await library.memory(said)
    # Drowned in units that match as well, so that a filter applied after the routes would find nothing.
    for at in range(130):
        await library.memory(f"the budget 预算 of project {at} is {at} 元")
    library.index(table=MAIN)
    return {"scope": library.scope, **made}


@pytest.mark.parametrize(
    ("memory_filter", "expected"),
    [
        (MemoryFilter(types=frozenset({MemoryType.FACT})), ["fact"]),
        (MemoryFilter(types=frozenset({MemoryType.FACT, MemoryType.EPISODE})), ["fact", "session", "tool"]),
        (MemoryFilter(labels={"team": "红队"}), ["labelled"]),
        (MemoryFilter(labels={"team": "红队", "tier": "b"}), []),
        (MemoryFilter(entities=("budget", "李雷")), ["entity"]),
        (MemoryFilter(entities=("budget", "韩梅梅")), []),
        (MemoryFilter(session_id="session-7"), ["session"]),
        (MemoryFilter(end=datetime(2021, 1, 1, tzinfo=UTC)), ["old"]),
        (MemoryFilter(start=BASE + timedelta(days=1)), []),
        (MemoryFilter(origins=frozenset({Origin.TOOL})), ["tool"]),
        (MemoryFilter(types=frozenset({MemoryType.EPISODE}), origins=frozenset({Origin.USER})), ["session"]),
    ],
)
async def test_filters_hold_and_never_starve(
    bench: Bench, shelf: dict[str, Any], memory_filter: MemoryFilter, expected: list[str]
) -> None:
    recalled = await bench.ask("预算 budget 是多少", shelf["scope"], filter=memory_filter)
    assert set(memory_ids(recalled)) == {shelf[name] for name in expected}
    assert recalled.empty_reason is (EmptyReason.NOT_EMPTY if expected else EmptyReason.FILTERED_OUT)


async def test_a_forgotten_memory_is_never_returned(bench: Bench, library: Library) -> None:
    explicit = await library.memory("保险箱密码写在蓝色笔记本里", entities=["保险箱"])
    episode, _ = await library.episode("s1", ["保险箱在地下室", "好的，地下室的保险箱"], entities=["保险箱"])
    raw = library.raw_turn("s1", "保险箱的钥匙在抽屉", CaptureOutcome.PENDING, sequence=3)
    library.index()
    key = SessionKey(library.scope.tenant_id, library.scope.namespace_id, "s1")
    turn = Event(raw, EventRole.USER, "保险箱的钥匙在抽屉", NOW, sequence=3, created_at=NOW)
    await bench.working_memory.append(key, [WorkingTurn(turn, 1.0)])

    async def found(**options: Any) -> Recalled:
        return await bench.ask("三月一日 保险箱在哪里", library.scope, session_id="s1", top_k=100, **options)

    before = await found()
    assert {explicit, episode} <= set(memory_ids(before))
    assert raw in event_ids(before)
    library.tombstone(explicit)
    library.tombstone(episode)
    library.connection.execute("UPDATE event SET tombstoned = true WHERE event_id = %s", [raw])
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"as_of": NOW},
        {"filter": MemoryFilter(start=BASE - timedelta(days=1))},
        {"vector": False},
    )
    for options in cases:
        after = await found(**options)
        assert after.hits == (), options
        assert after.context == ""


async def test_what_is_forgotten_between_search_and_load_is_not_returned(bench: Bench, library: Library) -> None:
    gone = await library.memory("保险箱密码写在蓝色笔记本里")
    kept = await library.memory("保险箱是灰色的")
    library.index()

    class ForgettingStore(type(bench.store)):  # type: ignore[misc]
        async def load(self, *args: object, **options: object) -> object:
            library.tombstone(gone)
            return await super().load(*args, **options)

    recalled = await bench.with_parts(store=ForgettingStore(bench.database)).ask("保险箱", library.scope)
    assert memory_ids(recalled) == [kept]
    await bench.recorder.settled()
    stored = await bench.traces.read(library.scope.tenant_id, recalled.trace_id)
    assert stored is not None
    assert {c.dropped_because for c in stored[2].candidates} == {"", "gone"}


@pytest.mark.parametrize(("indexed", "is_found"), [("now()", True), ("now() - interval '1 hour'", False)])
async def test_a_turn_that_is_indexed_between_search_and_load_is_returned(
    bench: Bench, library: Library, indexed: str, is_found: bool
) -> None:
    library.raw_turn("s1", "保险箱密码写在蓝色笔记本里", CaptureOutcome.PENDING)
    library.index()

    class IndexingStore(type(bench.store)):  # type: ignore[misc]
        async def load(self, *args: object, **options: object) -> object:
            library.connection.execute(f"UPDATE event SET outcome = 2, indexed_at = {indexed}")
            return await super().load(*args, **options)

    recalled = await bench.with_parts(store=IndexingStore(bench.database)).ask("保险箱", library.scope)
    assert [hit.highlights[0].event.content for hit in recalled.hits] == ["保险箱密码写在蓝色笔记本里"] * is_found


async def test_another_tenant_and_another_namespace_see_nothing(
    bench: Bench, library: Library, database: DatabaseUrls
) -> None:
    secret = await library.memory("我们的收购目标是星辰公司", entities=["星辰公司"])
    library.raw_turn("s1", "收购星辰公司的会议在周五", CaptureOutcome.PENDING)
    library.index()
    stranger = open_library(database.superuser, library.embedder)
    sibling = open_library(database.superuser, library.embedder, tenant=library.scope.tenant_id, name="other")
    for other in (stranger, sibling):
        await other.memory("无关的内容")
        other.index()
    query = "收购星辰公司"
    assert secret in memory_ids(await bench.ask(query, library.scope))
    assert secret not in memory_ids(await bench.ask(query, stranger.scope))
    assert secret not in memory_ids(await bench.ask(query, sibling.scope))
    # A scope that mixes one tenant with another's namespace reaches neither.
    mixed = replace(stranger.scope, namespace_id=library.scope.namespace_id)
    recalled = await bench.ask(query, mixed)
    assert recalled.hits == ()
    assert recalled.empty_reason is EmptyReason.NOTHING_STORED
    stranger.connection.close()
    sibling.connection.close()


async def test_the_services_role_cannot_reach_another_tenant_by_sql(library: Library, database: DatabaseUrls) -> None:
    await library.memory("我们的收购目标是星辰公司", entities=["星辰公司"])
    library.raw_turn("s1", "收购星辰公司", CaptureOutcome.PENDING)
    library.index()
    tenant, namespace, n = library.scope.tenant_id, library.scope.namespace_id, library.ordinal
    vector = "[" + ",".join(["0.05"] * 384) + "]"
    nearest = f"'{tenant}', '{namespace}', '{vector}', '{{0}}', NULL, 10"
    terms = [row[0] for row in library.connection.execute("SELECT keyword FROM keyword_frequency").fetchall()]
    definers: dict[str, tuple[str, list[Any]]] = {
        "keyword": (
            f"SELECT * FROM rearview_keyword_route_{n}(%s, %s, '{{1:1}}/1000000000', %s, '{{0}}', NULL, 10)",
            [tenant, namespace, terms],
        ),
        "raw": (
            "SELECT * FROM rearview_ranked_raw_turns(%s, %s, %s, %s, NULL, NULL, NULL, NULL, NULL, 10)",
            [tenant, namespace, terms, [1.0] * len(terms)],
        ),
        "entity": (
            "SELECT * FROM rearview_memories_by_entity(%s, %s, '{星辰公司}', '{1}', 10)",
            [tenant, namespace],
        ),
    }
    with psycopg.connect(database.service, autocommit=True) as connection:
        for stranger in ("", str(new_id())):
            connection.execute("SELECT set_config('app.tenant', %s, false)", [stranger])
            for statement, parameters in definers.values():
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement, parameters)
            for statement in (
                f"SELECT * FROM rearview_vector_route_{n}({nearest})",
                f"SELECT * FROM rearview_vector_route_{n}({nearest}, true)",
                f"SELECT * FROM rearview_nearest_zh_{n}({nearest}, true)",
                f"SELECT unit_id FROM search_unit_fresh_{n}",
                "SELECT memory_id FROM memory",
                "SELECT event_id FROM event",
                f"SELECT * FROM rearview_query_terms('{tenant}', '{namespace}', '{{1}}', '{{1}}') WHERE units > 0",
            ):
                assert connection.execute(statement).fetchall() == []
        connection.execute("SELECT set_config('app.tenant', %s, false)", [str(tenant)])
        for statement, parameters in definers.values():
            assert connection.execute(statement, parameters).fetchall() != []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT rearview_create_search_functions(1::smallint)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT rearview_index_by_language(1::smallint)")


async def test_as_of(bench: Bench, library: Library) -> None:
    january, march = datetime(2024, 1, 10, tzinfo=UTC), datetime(2024, 3, 5, tzinfo=UTC)
    new = await library.memory("预算是12000元", MemoryType.FACT, occurred_at=march, valid_from=march)
    old = await library.memory(
        "预算是8000元",
        MemoryType.FACT,
        occurred_at=january,
        valid_from=january,
        valid_to=march,
        state=MemoryState.SUPERSEDED,
        superseded_by=new,
    )
    replaced = await library.memory(
        "预算大约一万元", occurred_at=january, state=MemoryState.SUPERSEDED, superseded_by=new
    )
    # Said in January, stored long after: a history that was imported.
    library.connection.execute("UPDATE memory SET created_at = now()")
    library.index()

    async def believed(as_of: datetime | None) -> set[object]:
        return set(memory_ids(await bench.ask("预算是多少", library.scope, as_of=as_of)))

    assert await believed(None) == {new}
    assert await believed(datetime(2024, 2, 1, tzinfo=UTC)) == {old, replaced}
    assert await believed(march + timedelta(days=1)) == {new}
    assert await believed(datetime(2023, 12, 1, tzinfo=UTC)) == set()


async def test_expired_memories_are_not_returned(bench: Bench, library: Library) -> None:
    await library.memory("停车码是4711", expires_at=datetime.now(UTC) - timedelta(minutes=1))
    valid = await library.memory("停车码是4712", expires_at=datetime.now(UTC) + timedelta(days=1))
    library.index()
    assert memory_ids(await bench.ask("停车码", library.scope)) == [valid]


async def test_several_namespaces_are_merged_by_score(bench: Bench, library: Library, database: DatabaseUrls) -> None:
    other = open_library(database.superuser, library.embedder, tenant=library.scope.tenant_id, name="other")
    here = await library.memory("会议室在三楼")
    for at in range(8):
        await library.memory(f"第{at}件闲事：今天吃了面条")
        await other.memory(f"第{at}件别的事：路上堵车")
    there = await other.memory("会议室的预订系统要用工号登录")
    library.index()
    other.index()
    recalled = await bench.ask("会议室怎么预订", library.scope, other.scope)
    assert set(memory_ids(recalled)[:2]) == {here, there}
    assert {hit.namespace for hit in recalled.hits} == {"notes", "other"}
    other.connection.close()


async def test_floor(bench: Bench, library: Library) -> None:
    await library.memory("The violin concert starts at eight")
    library.index()
    recalled = await bench.ask("数据库迁移方案", library.scope, vector=False)
    assert recalled.hits == ()
    assert recalled.empty_reason is EmptyReason.BELOW_FLOOR


async def test_literally_equal_texts_are_returned_once(bench: Bench, library: Library) -> None:
    first = await library.memory("会议改到周三下午")
    second = await library.memory("会议改到周三下午  ")
    other = await library.memory("会议改到周四下午")
    library.index()
    found = memory_ids(await bench.ask("会议改到什么时候", library.scope))
    assert len(found) == 2
    assert other in found
    assert len({first, second} & set(found)) == 1


async def test_top_k_and_grouping(bench: Bench, library: Library) -> None:
    episode, events = await library.episode("s1", [f"关于椅子的第{at}条意见：颜色{at}" for at in range(6)])
    single = await library.memory("椅子要带扶手")
    library.index()
    plain = await bench.ask("椅子", library.scope, top_k=3)
    assert len(plain.hits) == 3
    grouped = await bench.ask("椅子", library.scope, top_k=3, group_by_memory=True)
    assert sorted(memory_ids(grouped)) == sorted([episode, single])
    hit = next(hit for hit in grouped.hits if hit.memory and hit.memory.memory_id == episode)
    assert len(hit.highlights) == 3
    assert {highlight.event.event_id for highlight in hit.highlights} <= set(events)
    best = next(h for h in plain.hits if h.memory and h.memory.memory_id == episode)
    assert hit.highlights[0].event.event_id == best.highlights[0].event.event_id


async def test_metadata_only_on_request(bench: Bench, library: Library) -> None:
    _, events = await library.episode("s1", ["带元数据的一条"])
    library.connection.execute('UPDATE memory SET metadata = \'{"source": "会议"}\'')
    library.index()
    bare = (await bench.ask("元数据", library.scope)).hits[0].memory
    full = (await bench.ask("元数据", library.scope, include_metadata=True)).hits[0].memory
    assert bare is not None
    assert full is not None
    assert (bare.metadata, bare.event_ids) == ({}, ())
    assert full.metadata == {"source": "会议"}
    assert full.event_ids == (("s1", events[0]),)


async def test_a_fact_names_its_sources(bench: Bench, library: Library) -> None:
    events = library.events("s1", [Turn("预算嘛，一万二吧")], [BASE], CaptureOutcome.KEPT)
    fact = await library.memory("用户的预算是12000元", MemoryType.FACT)
    library.link(fact, "s1", events)
    library.index()
    hit = (await bench.ask("预算", library.scope, disabled_routes=only(Route.KEYWORD))).hits[0]
    assert hit.memory is not None
    assert hit.memory.memory_id == fact
    assert [highlight.event.event_id for highlight in hit.highlights] == events


def scope_without_tenant(scope: Scope) -> Scope:
    """A scope whose tenant is nobody."""
    return replace(scope, tenant_id=new_id())


async def test_an_unknown_tenant_sees_nothing(bench: Bench, library: Library) -> None:
    await library.memory("秘密")
    library.index()
    assert (await bench.ask("秘密", scope_without_tenant(library.scope))).hits == ()


async def test_only_a_full_answer_tells_what_cannot_change_it(bench: Bench, library: Library) -> None:
    """Of one that is not full, any text without a shared word may be the next, once others have joined the pool."""
    for at in range(25):
        await library.memory(f"第{at}箱里是旧书", MemoryType.EXPLICIT)
    for text in ("牙医的电话在冰箱上", "The dentist's card is in the drawer", "牙医说下周再来"):
        await library.memory(text, MemoryType.EXPLICIT)
    library.index()
    full = await bench.ask("牙医的电话放在哪里", library.scope, top_k=1)
    assert len(full.hits) == 1
    assert full.noise_cosines
    rest = await bench.ask("牙医的电话放在哪里", library.scope, top_k=50)
    assert 1 < len(rest.hits) < 50
    assert not rest.noise_cosines
