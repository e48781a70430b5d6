"""Memories by request: remember, read, list, update; in Chinese, English and both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.json_format import MessageToDict

from rearview.client import Client, memory_filter
from rearview.client.memory_calls import NewMemory
from rearview.domain.errors import EtagMismatch, InvalidFields, NotFound, RequestIdReused
from rearview.domain.ids import new_id
from rearview.v1 import memory_pb2
from rearview.v1 import memory_service_pb2 as messages
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.client_steps import namespace_of, refused, text_of, texts_of

TEXTS = {
    "zh": ("记住：阳台门锁坏了，晚上要用椅子顶住。", "阳台的门怎么关不上？", "椅子顶住"),
    "en": ("The boiler trips when the oven and the dryer run together.", "Why does the boiler go off?", "dryer"),
    "mixed": ("deploy 之前要先在 staging 跑一遍 smoke test。", "What has to run before a deploy?", "smoke test"),
}


@pytest.mark.parametrize("language", TEXTS)
def test_what_is_remembered_is_found_at_once(client: Client, language: str) -> None:
    text, question, expected = TEXTS[language]
    remembered = client.remember(text)
    assert remembered.outcome == messages.REMEMBER_OUTCOME_CREATED
    assert remembered.memory.content == text
    assert remembered.memory.type == memory_pb2.MEMORY_TYPE_EXPLICIT
    assert remembered.memory.trust == memory_pb2.TRUST_TRUSTED
    answer = client.recall(question)
    assert answer.hits[0].memory.name == remembered.memory.name
    assert expected in text_of(answer.hits[0])
    # Explicitly remembered text is never cut in the context.
    assert text in answer.context


@pytest.mark.parametrize("language", TEXTS)
def test_the_same_words_again_are_redundant(client: Client, language: str) -> None:
    text = TEXTS[language][0]
    first = client.remember(text)
    again = client.remember(f"  {text} ")
    assert again.outcome == messages.REMEMBER_OUTCOME_REDUNDANT
    assert again.memory.name == first.memory.name
    assert list(again.related) == [first.memory.name]
    assert len(list(client.list_memories())) == 1


@pytest.mark.parametrize("language", TEXTS)
def test_the_same_remembered_by_many_at_once_is_one_memory(client: Client, language: str) -> None:
    text = TEXTS[language][0]
    alike = [text, f"{text}!", f" {text}", text.upper()]

    with ThreadPoolExecutor(len(alike)) as callers:
        answers = list(callers.map(client.remember, alike))

    assert len({answer.memory.name for answer in answers}) == 1
    assert [answer.outcome for answer in answers].count(messages.REMEMBER_OUTCOME_CREATED) == 1
    assert len(list(client.list_memories(filter=memory_filter(types=["explicit"])))) == 1


def test_a_repeated_request_id_changes_nothing(client: Client) -> None:
    request_id = new_id()
    first = client.remember("The spare tyre is flat.", request_id=request_id)
    again = client.remember("The spare tyre is flat.", request_id=request_id)
    assert again == first
    with refused(RequestIdReused) as caught:
        client.remember("The spare tyre is fine.", request_id=request_id)
    assert caught.value.metadata == {"request_id": str(request_id)}
    assert [memory.content for memory in client.list_memories()] == ["The spare tyre is flat."]


def test_everything_given_is_kept(client: Client) -> None:
    said = datetime(2026, 1, 5, 8, 30, tzinfo=UTC)
    expires = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)
    remembered = client.remember(
        "仓库的门禁卡在 Maja 那里，please ask her before noon。",
        type="constraint",
        priority=0.9,
        pinned=True,
        labels={"team": "物流", "area": "warehouse"},
        metadata={"floor": 2, "tags": ["门禁", "card"], "nested": {"ok": True, "none": None}},
        entities=["Maja", "仓库"],
        occurred_at=said,
        valid_from=said,
        expires_at=expires,
    ).memory
    read = client.get_memory(remembered.name)
    assert read == remembered
    assert read.type == memory_pb2.MEMORY_TYPE_CONSTRAINT
    assert read.pinned
    assert read.priority == pytest.approx(0.9)
    assert dict(read.labels) == {"team": "物流", "area": "warehouse"}
    assert MessageToDict(read.metadata) == {
        "floor": 2,
        "tags": ["门禁", "card"],
        "nested": {"ok": True, "none": None},
    }
    assert [entity.text for entity in read.entities][:2] == ["Maja", "仓库"]
    assert read.occurred_at.ToDatetime(UTC) == read.valid_from.ToDatetime(UTC) == said
    assert read.expire_time.ToDatetime(UTC) == expires
    assert set(read.languages) == {"zh", "en"}
    assert read.embedding_generation
    assert read.etag


def test_a_batch_fares_one_by_one(client: Client) -> None:
    good, bad, same = client.batch_remember(
        [NewMemory("一号电梯在检修。"), NewMemory(""), NewMemory("一号电梯在检修。")]
    )
    assert isinstance(good, messages.RememberResponse)
    assert good.outcome == messages.REMEMBER_OUTCOME_CREATED
    assert isinstance(bad, InvalidFields)
    assert isinstance(same, messages.RememberResponse)
    assert same.outcome == messages.REMEMBER_OUTCOME_REDUNDANT
    assert len(list(client.list_memories())) == 1


def test_a_memory_that_is_not_there(client: Client) -> None:
    missing = f"namespaces/{namespace_of(client)}/memories/{new_id()}"
    with refused(NotFound) as caught:
        client.get_memory(missing)
    assert caught.value.metadata == {"resource_name": missing}


@pytest.fixture(scope="module")
def shelf(admin: Client) -> Client:
    """A namespace with 23 memories of known properties, the n-th an hour after the one before."""
    client = in_fresh_namespace(admin)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    client.batch_remember(
        [
            NewMemory(
                f"第{number}号书架 holds the volume {number} of the catalogue.",
                type="constraint" if number % 2 else "explicit",
                labels={"row": str(number % 3)},
                entities=["目录" if number < 10 else "catalogue"],
                occurred_at=start + timedelta(hours=number),
                session=f"shelf-{number % 2}",
            )
            for number in range(23)
        ]
    )
    return client


@pytest.mark.parametrize("page_size", [0, 1, 5, 23, 1000])
def test_lists_come_in_pages_to_the_end_without_duplicates(shelf: Client, page_size: int) -> None:
    listed = [memory.name for memory in shelf.list_memories(page_size=page_size)]
    assert len(listed) == len(set(listed)) == 23
    assert listed == [memory.name for memory in shelf.list_memories()]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (memory_filter(types=["constraint"]), {n for n in range(23) if n % 2}),
        (memory_filter(labels={"row": "2"}), {n for n in range(23) if n % 3 == 2}),
        (memory_filter(types=["explicit"], labels={"row": "0"}), {n for n in range(23) if n % 6 == 0}),
        (memory_filter(start=datetime(2026, 1, 1, 20, tzinfo=UTC)), {20, 21, 22}),
        (memory_filter(end=datetime(2026, 1, 1, 2, tzinfo=UTC)), {0, 1}),
        (memory_filter(origins=["tool"]), set()),
        (memory_filter(labels={"row": "9"}), set()),
        (memory_filter(entities=["目录"]), set(range(10))),
    ],
    ids=["type", "label", "type and label", "from", "until", "another origin", "no such label", "entity"],
)
def test_lists_keep_to_their_filter(shelf: Client, chosen: object, expected: set[int]) -> None:
    listed = shelf.list_memories(filter=chosen, page_size=4)  # type: ignore[arg-type]
    numbers = [int(memory.content.split("volume ")[1].split(" ")[0]) for memory in listed]
    assert sorted(numbers) == sorted(expected)


def test_the_basic_view_leaves_the_content_out(shelf: Client) -> None:
    for memory in shelf.list_memories(full=False):
        assert (memory.content, len(memory.entities)) == ("", 0)
        assert memory.name
        assert memory.etag


def test_the_session_filter(shelf: Client) -> None:
    session = f"namespaces/{namespace_of(shelf)}/sessions/shelf-1"
    listed = list(shelf.list_memories(filter=memory_filter(session=session)))
    assert len(listed) == 11
    assert {memory.session for memory in listed} == {session}


def test_an_update_changes_what_the_mask_names(client: Client) -> None:
    before = client.remember("客厅的灯是暖光的。", labels={"room": "living"}, priority=0.4).memory
    after = client.update_memory(before.name, {"pinned": True, "labels": {"room": "kitchen"}}, etag=before.etag)
    assert (after.pinned, dict(after.labels)) == (True, {"room": "kitchen"})
    assert (after.content, after.priority) == (before.content, before.priority)
    assert after.etag != before.etag
    assert after == client.get_memory(before.name)


def test_an_updated_text_is_found_by_its_new_words_only(client: Client) -> None:
    client.remember("The gym closes at nine on Sundays.")
    memory = client.remember("The plumber is called Anton and comes on Mondays.").memory
    client.update_memory(memory.name, {"content": "水管工叫老赵，周四才有空。"})
    answer = client.recall("水管工什么时候有空？")
    assert answer.hits[0].memory.name == memory.name
    assert "老赵" in text_of(answer.hits[0])
    assert not any("Anton" in text for text in texts_of(client.recall("Anton")))
    assert set(client.get_memory(memory.name).languages) == {"zh"}


def test_a_stale_etag_is_refused(client: Client) -> None:
    before = client.remember("The bins go out on Tuesday.").memory
    client.update_memory(before.name, {"pinned": True}, etag=before.etag)
    with refused(EtagMismatch) as caught:
        client.update_memory(before.name, {"content": "The bins go out on Friday."}, etag=before.etag)
    assert caught.value.metadata == {"resource_name": before.name}
    assert client.get_memory(before.name).content == "The bins go out on Tuesday."


def test_times_are_cleared_by_none(client: Client) -> None:
    valid = datetime(2026, 5, 1, tzinfo=UTC)
    memory = client.remember("年票五月起有效。", valid_from=valid).memory
    assert memory.HasField("valid_from")
    assert not client.update_memory(memory.name, {"valid_from": None}).HasField("valid_from")
