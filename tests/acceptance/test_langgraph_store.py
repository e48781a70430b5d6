"""The LangGraph adapter does what LangGraph asks of a store, over the whole stack."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from rearview.client import Client, memory_filter
from rearview.client.langgraph import RearviewStore
from rearview.client.langgraph.items import session_of
from rearview.domain.errors import InvalidFields, NotFound
from rearview.v1 import memory_pb2
from tests.support.client_steps import eventually, refused

DOCS = ("docs", "u1")
EXACT: dict[str, Any] = {
    "zeta": 1,
    "alpha": {"b": [1.0, 2.5, -3, None, True, {"y": "", "x": []}], "a": 2**60},
    "中文": "买了两张去京都的票 🚄",
    "empty": {},
}


@pytest.fixture
def store(client: Client) -> RearviewStore:
    return RearviewStore(client)


def keys(items: list[SearchItem]) -> list[str]:
    return [item.key for item in items]


def memory_of(client: Client, key: str, namespace: tuple[str, ...] = DOCS) -> memory_pb2.Memory:
    session = f"{client.get_namespace().name}/sessions/{session_of(namespace, key)}"
    labelled = memory_filter(session=session, labels={"store": "langgraph"})
    (memory,) = client.list_memories(filter=labelled)
    return memory


def test_an_item_is_put_read_replaced_in_place_and_deleted(store: RearviewStore) -> None:
    assert store.get(DOCS, "d1") is None
    before = datetime.now(UTC) - timedelta(minutes=5)
    store.put(DOCS, "d1", {"title": "First", "n": 1})
    first = store.get(DOCS, "d1")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (DOCS, "d1", {"title": "First", "n": 1})
    assert before < first.created_at <= first.updated_at
    store.put(DOCS, "d1", {"title": "Second"})
    second = store.get(DOCS, "d1")
    assert second is not None
    assert second.value == {"title": "Second"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert [item.value for item in store.search(DOCS)] == [{"title": "Second"}]
    store.delete(DOCS, "d1")
    store.delete(DOCS, "d1")
    assert store.get(DOCS, "d1") is None
    assert store.search(DOCS, query="Second") == []
    assert store.list_namespaces() == []
    store.put(DOCS, "d1", {"title": "Third"})
    third = store.get(DOCS, "d1")
    assert third is not None
    assert third.created_at > second.created_at


@pytest.mark.parametrize("value", [{}, EXACT, {"text": ""}, {"text": "  "}, {"deep": {"a": {"b": {"c": [[["x"]]]}}}}])
def test_values_come_back_as_they_were(store: RearviewStore, value: dict[str, Any]) -> None:
    store.put(("值", "v"), "键 1/…", value)
    item = store.get(("值", "v"), "键 1/…")
    assert item is not None
    assert repr(item.value) == repr(value)
    assert store.list_namespaces() == [("值", "v")]


def test_equal_items_are_kept_apart_from_each_other_and_from_notes(client: Client, store: RearviewStore) -> None:
    text = "text: 我对花生过敏"
    note = client.remember(text).memory.name
    places = [(("users", "a"), "k1"), (("users", "a"), "k2"), (("users", "b"), "k1")]
    for namespace, key in places:
        store.put(namespace, key, {"text": "我对花生过敏"})
    assert len(store.search(("users",))) == 3
    other = client.remember("text: she is allergic to cats").memory.name
    store.put(("users", "a"), "k3", {"text": "she is allergic to cats"})
    for namespace, key in [*places, (("users", "a"), "k3")]:
        store.delete(namespace, key)
    assert store.search(("users",)) == []
    assert client.get_memory(note).content == text
    assert client.get_memory(other).content == "text: she is allergic to cats"
    # A note that comes after the item does not hang on it either.
    store.put(("users", "a"), "k4", {"text": "the pond froze over in January"})
    late = client.remember("text: the pond froze over in January").memory.name
    store.delete(("users", "a"), "k4")
    assert client.get_memory(late).content


def test_deletion_is_a_forget(client: Client, store: RearviewStore) -> None:
    store.put(DOCS, "d1", {"text": "The locker is number seventeen."})
    name = memory_of(client, "d1").name
    store.delete(DOCS, "d1")
    with pytest.raises(NotFound):
        client.get_memory(name)
    assert "seventeen" not in client.recall("locker number").context


def test_a_batch_reads_what_was_there_before_and_the_last_put_counts(store: RearviewStore) -> None:
    store.put(DOCS, "old", {"v": 0})
    results = store.batch(
        [
            PutOp(DOCS, "new", {"v": 1}),
            GetOp(DOCS, "new"),
            GetOp(DOCS, "old"),
            PutOp(DOCS, "new", {"v": 2}),
            PutOp(DOCS, "old", None),
            SearchOp(DOCS),
            PutOp(DOCS, "gone", {"v": 3}),
            PutOp(DOCS, "gone", None),
            ListNamespacesOp(),
            GetOp(DOCS, "old"),
        ]
    )
    assert [results[at] for at in (0, 1, 3, 4, 6, 7)] == [None] * 6
    old = results[2]
    assert results[9] == old
    assert getattr(old, "value", None) == {"v": 0}
    assert isinstance(results[5], list)
    assert [item.key for item in results[5] if isinstance(item, SearchItem)] == ["old"]
    assert results[8] == [DOCS]
    assert {item.key: item.value for item in store.search(DOCS)} == {"new": {"v": 2}}


async def test_everything_can_be_awaited(store: RearviewStore) -> None:
    await store.aput(DOCS, "d1", {"text": "她喜欢靠窗的座位"})
    await store.abatch([PutOp(DOCS, "d2", {"text": "The cat is called Minka"}), PutOp(DOCS, "d3", {"n": 3})])
    item = await store.aget(DOCS, "d2")
    assert item is not None
    assert item.value == {"text": "The cat is called Minka"}
    assert (await store.asearch(DOCS, query="Where does she like to sit?", limit=1))[0].key == "d1"
    assert await store.alist_namespaces(max_depth=1) == [("docs",)]
    await store.adelete(DOCS, "d1")
    assert await store.aget(DOCS, "d1") is None


def test_a_search_ranks_by_meaning_and_the_rest_follows(store: RearviewStore) -> None:
    store.put(DOCS, "seat", {"text": "她坐飞机喜欢靠窗"})
    store.put(DOCS, "soup", {"text": "The onion soup needs an hour on the stove"})
    store.put(("docs", "u2"), "cat", {"text": "Minka the cat sleeps on the radiator"})
    store.put(DOCS, "hidden", {"text": "window seat window seat"}, index=False)
    store.put(DOCS, "part", {"title": "pets", "body": {"lines": ["a window seat", "on the left"]}}, index=["title"])
    found = store.search(("docs",), query="window seat on a plane")
    assert found[0].key == "seat"
    assert set(keys(found)) == {"seat", "soup", "cat", "hidden", "part"}
    assert keys(found)[-1] == "hidden"
    scores = [item.score for item in found[:-1]]
    assert None not in scores
    assert found[-1].score is None
    # Only the title of it is searched.
    assert store.search(DOCS, query="pets", limit=1)[0].key == "part"
    store.put(
        DOCS, "part", {"title": "pets", "body": {"lines": ["the harbour opens", "at six"]}}, index=["body.lines[*]"]
    )
    assert store.search(DOCS, query="When does the harbour open?", limit=1)[0].key == "part"
    assert store.search(("nothing",), query="window seat") == []


def test_filters_limits_and_offsets_hold_with_and_without_a_query(store: RearviewStore) -> None:
    for number in range(6):
        kind = "report" if number % 2 else "note"
        store.put(
            ("f",),
            f"k{number}",
            {"n": number, "kind": kind, "tags": ["a", number], "by": {"name": f"p{number}"}, "price": number + 0.5},
        )
    store.put(("f",), "bare", {"text": "nothing to compare"})
    expected: list[tuple[dict[str, Any], set[str]]] = [
        ({"kind": "note"}, {"k0", "k2", "k4"}),
        ({"kind": {"$eq": "note"}, "n": {"$gt": 0}}, {"k2", "k4"}),
        ({"n": {"$gte": 2, "$lt": 4}}, {"k2", "k3"}),
        ({"n": {"$lte": 1}}, {"k0", "k1"}),
        ({"price": {"$gt": 4}}, {"k4", "k5"}),
        ({"kind": {"$ne": "note"}}, {"k1", "k3", "k5", "bare"}),
        ({"by": {"name": "p3"}}, {"k3"}),
        ({"tags": ["a", 5]}, {"k5"}),
        ({"kind": {"$gt": "note"}}, {"k1", "k3", "k5"}),
        ({"kind": "none"}, set()),
    ]
    for wanted, found in expected:
        assert set(keys(store.search(("f",), filter=wanted))) == found, wanted
        assert set(keys(store.search(("f",), query="report", filter=wanted))) == found, wanted
    every = keys(store.search(("f",)))
    assert every == ["bare", "k5", "k4", "k3", "k2", "k1", "k0"]
    assert keys(store.search(("f",), limit=3)) == every[:3]
    assert keys(store.search(("f",), limit=3, offset=3)) == every[3:6]
    assert keys(store.search(("f",), limit=3, offset=6)) == every[6:]
    assert store.search(("f",), offset=20) == []
    ranked = keys(store.search(("f",), query="note"))
    assert [
        key for at in range(0, 7, 2) for key in keys(store.search(("f",), query="note", limit=2, offset=at))
    ] == ranked
    with refused(InvalidFields, "filter"):
        store.search(("f",), filter={"n": {"$near": 1}})


def test_namespaces_are_listed_by_beginning_end_and_depth(store: RearviewStore) -> None:
    there = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "x", "c"),
        ("b", "b", "c"),
        ("users", "123"),
        ("users", "456", "s"),
    ]
    for number, namespace in enumerate(there):
        store.put(namespace, f"k{number}", {"n": number})
    store.put(there[0], "second", {"n": 9})
    assert store.list_namespaces() == sorted(there)
    assert store.list_namespaces(prefix=("a", "b")) == there[:2]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [there[0], there[2]]
    assert store.list_namespaces(suffix=("c",)) == [there[0], there[2], there[3]]
    assert store.list_namespaces(suffix=("*", "e")) == [there[1]]
    assert store.list_namespaces(prefix=("a",), suffix=("c",)) == [there[0], there[2]]
    assert store.list_namespaces(max_depth=1) == [("a",), ("b",), ("users",)]
    assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "b"), ("a", "x")]
    assert store.list_namespaces(limit=2, offset=1) == sorted(there)[1:3]
    assert store.list_namespaces(prefix=("zzz",)) == []
    assert store.list_namespaces(prefix=("a", "b", "c", "d", "e")) == []
    conditions = (MatchCondition("prefix", ("users",)), MatchCondition("suffix", ("*", "s")))
    assert store.batch([ListNamespacesOp(conditions)]) == [[there[5]]]
    # A prefix is one of parts, not of letters.
    store.put(("ab",), "k", {"n": 0})
    assert set(keys(store.search(("a",)))) == {"k0", "k1", "k2", "second"}


@pytest.mark.parametrize("bad", [(), ("",), ("a.b",), ("a", 1), ("langgraph", "x"), ("a\0",)])
def test_namespaces_that_are_none_are_refused(store: RearviewStore, bad: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(bad, "k", {"v": 1})
    assert store.search(()) == []


def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(store: RearviewStore) -> None:
    for value in ({"v": float("nan")}, {"v": object()}, {"v": {1: 2}}, {"v": "x" * 20_000}):
        with refused(InvalidFields, "value"):
            store.put(DOCS, "k", value)
    with refused(InvalidFields, "namespace"):
        store.put(("docs", "x" * 300), "k", {"v": 1})
    with refused(InvalidFields, "key"):
        store.put(DOCS, "call 13800138000", {"v": 1})
    with refused(InvalidFields, "namespace"):
        store.put(("docs", "13800138000"), "k", {"v": 1})
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("docs",), "k", {"v": 1}), GetOp(("a.b",), "k")])
    assert store.search(()) == []


def test_personal_data_in_values_is_redacted_and_the_value_stays_one(store: RearviewStore) -> None:
    store.put(DOCS, "k", {"z": "call me: 13800138000", "password": "hunter2", "phone": 13800138000, "a": 1})
    item = store.get(DOCS, "k")
    assert item is not None
    assert list(item.value) == ["z", "password", "phone", "a"]
    assert "13800138000" not in repr(item.value)
    assert "hunter2" not in repr(item.value)
    assert item.value["a"] == 1


def test_an_item_expires_and_reads_prolong_its_life(client: Client) -> None:
    store = RearviewStore(client, ttl=TTLConfig(default_ttl=60, refresh_on_read=True))
    now = datetime.now(UTC)
    store.put(DOCS, "k", {"text": "short-lived"})
    store.put(DOCS, "ever", {"text": "for good"}, ttl=None)
    assert not memory_of(client, "ever").HasField("expire_time")

    def left() -> timedelta:
        return memory_of(client, "k").expire_time.ToDatetime(UTC) - now

    assert left() >= timedelta(minutes=60)
    put_at = store.get(DOCS, "k")
    for read in (
        lambda **given: store.get(DOCS, "k", **given),
        lambda **given: store.search(DOCS, query="short", **given),
    ):
        client.update_memory(memory_of(client, "k").name, {"expire_time": now + timedelta(minutes=10)})
        read(refresh_ttl=False)
        assert left() == timedelta(minutes=10)
        read()
        assert left() >= timedelta(minutes=60)
    assert store.get(DOCS, "k") == put_at
    client.update_memory(memory_of(client, "k").name, {"expire_time": datetime.now(UTC) + timedelta(seconds=1)})
    eventually(lambda: store.get(DOCS, "k", refresh_ttl=False), lambda item: item is None, "the item to expire")
    assert keys(store.search(DOCS, query="short-lived")) == ["ever"]
    store.put(DOCS, "ever", {"text": "not so good"}, ttl=0.01)
    eventually(lambda: store.search(DOCS, refresh_ttl=False), lambda found: not found, "the replaced item to expire")


def test_puts_of_one_key_at_one_moment_leave_one_item(client: Client, store: RearviewStore) -> None:
    start = threading.Barrier(4)

    def put(number: int) -> None:
        start.wait()
        store.put(DOCS, "k", {"n": number})

    threads = [threading.Thread(target=put, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (item,) = store.search(DOCS)
    assert item.value["n"] in range(4)
    assert memory_of(client, "k")


def test_clients_of_other_namespaces_see_nothing_of_it(admin: Client, store: RearviewStore) -> None:
    store.put(DOCS, "k", {"v": 1})
    elsewhere: Iterator[memory_pb2.Memory] = admin.list_memories(filter=memory_filter(labels={"store": "langgraph"}))
    assert list(elsewhere) == []
