"""Remembering and changing memories by request."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rearview.adapters.postgres.memory_store import PostgresMemoryStore
from rearview.domain.errors import EtagMismatch, NotFound, RearviewError, RequestIdReused
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.memory import Memory, MemoryType, Trust
from rearview.domain.text import Language
from rearview.domain.writing import Remember, RememberOutcome, UpdateMemory
from tests.support.writer_fixtures import START, WriterBench, request_key


async def test_a_memory_is_stored_whole_and_found_at_once(bench: WriterBench) -> None:
    remembered = await bench.remember(
        "李雷的 report 有 8000 字, by Friday",
        type=MemoryType.CONSTRAINT,
        labels={"project": "trip"},
        metadata={"source": {"page": 3}},
        entities=("Project Aurora",),
        pinned=True,
        session_id="chat",
    )
    memory = remembered.memory
    assert remembered.outcome is RememberOutcome.CREATED
    assert memory.trust is Trust.TRUSTED
    assert memory.languages == {Language.ZH, Language.EN}
    assert memory.entities[0].canonical == "project aurora"
    row = (await bench.rows("SELECT * FROM memory"))[0]
    assert row["memory_id"] == memory.memory_id
    assert row["metadata"] == {"source": {"page": 3}}
    assert "project aurora" in row["entity_keys"]
    unit = (await bench.rows("SELECT * FROM search_unit_fresh_1"))[0]
    assert (unit["unit_id"], unit["memory_id"], unit["closed"]) == (memory.memory_id, memory.memory_id, True)
    assert unit["flags"] & 12 == 12
    counts = (await bench.rows("SELECT units, memories, bytes FROM namespace_statistics"))[0]
    assert counts == {"units": 1, "memories": 1, "bytes": len(memory.content.encode())}


@pytest.mark.parametrize("text", ["我对花生过敏", "I am allergic to peanuts", "我 allergic 花生"])
async def test_the_same_words_again_are_redundant(bench: WriterBench, text: str) -> None:
    first = await bench.remember(text)
    again = await bench.remember(f"  {text.upper()} ")
    assert again.outcome is RememberOutcome.REDUNDANT
    assert again.related == (first.memory.memory_id,)
    assert again.memory.content == text
    other = await bench.remember(text + "!")
    assert other.outcome is RememberOutcome.MERGED, "not word for word"


async def test_the_same_words_under_another_label_are_another_memory(bench: WriterBench) -> None:
    bare = await bench.remember("我对花生过敏")
    labelled = [await bench.remember("我对花生过敏", labels={"item": name}) for name in ("a", "b", "a")]
    assert [result.outcome.name for result in labelled] == ["CREATED", "CREATED", "REDUNDANT"]
    assert labelled[2].related == (labelled[0].memory.memory_id,)
    assert (await bench.remember("我对花生过敏")).related == (bare.memory.memory_id,)


async def test_the_same_words_remembered_at_once_make_one_memory(bench: WriterBench) -> None:
    store = bench.writer.keeper._store
    assert isinstance(store, PostgresMemoryStore)
    await bench.open_connections(store._database)
    outcomes = await asyncio.gather(*(bench.remember("下周三去上海 by train") for _ in range(6)))
    assert sorted(result.outcome.name for result in outcomes) == ["CREATED", *["REDUNDANT"] * 5]
    assert len({result.memory.memory_id for result in outcomes}) == 1
    assert await bench.count("memory") == 1


async def test_a_forgotten_memory_is_not_what_a_new_one_is_redundant_with(bench: WriterBench) -> None:
    first = await bench.remember("The code word is heron")
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories((first.memory.memory_id,))))
    again = await bench.remember("The code word is heron")
    assert again.outcome is RememberOutcome.CREATED
    assert again.memory.memory_id != first.memory.memory_id


async def test_a_repeated_request_answers_alike_and_another_under_its_id_is_refused(bench: WriterBench) -> None:
    key = request_key("Remember", "heron")
    first = await bench.remember("The code word is heron", request=key)
    assert await bench.remember("The code word is heron", request=key) == replace(first, memory=first.memory)
    with pytest.raises(RequestIdReused):
        await bench.remember("Other", request=replace(key, fingerprint=b"y" * 32))
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories((first.memory.memory_id,))))
    with pytest.raises(NotFound):
        await bench.remember("The code word is heron", request=key)


async def test_in_a_batch_each_succeeds_or_fails_by_itself(bench: WriterBench) -> None:
    nested: dict[str, Any] = {}
    for _ in range(100):
        nested = {"deeper": nested}
    commands = [
        Remember("notes", "第一条", START),
        Remember("notes", "second", START, metadata=nested),
        Remember("notes", "第一条", START),
    ]
    results = await bench.writer.keeper.remember_all(bench.scope, commands)
    assert [r.reason if isinstance(r, RearviewError) else r.outcome.name for r in results] == [
        "CREATED",
        "INVALID_FIELD",
        "REDUNDANT",
    ]


async def change(bench: WriterBench, memory: Memory, **fields: Any) -> Memory:
    etag, request = fields.pop("etag", ""), fields.pop("request", None)
    mask = frozenset("expire_time" if name == "expires_at" else name for name in fields)
    command = UpdateMemory("notes", memory.memory_id, mask, etag=etag, request=request, **fields)
    return await bench.writer.updater.update(bench.scope, command)


async def test_only_the_fields_of_the_mask_change(bench: WriterBench) -> None:
    before = (await bench.remember("预算 8000 元", labels={"a": "b"})).memory
    after = await change(bench, before, priority=0.9, pinned=True)
    assert (after.priority, after.pinned, after.labels, after.content) == (0.9, True, {"a": "b"}, before.content)
    assert after.version == before.version + 1
    stored = await bench.writer.updater._store.get(bench.scope, before.memory_id)
    assert replace(stored, priority=0.9) == after
    assert await bench.count("namespace_epoch", "breaking = 1") == 1


async def test_what_has_ended_is_given_more_time_and_not_changed_otherwise(bench: WriterBench) -> None:
    ended = (await bench.remember("取餐码 is 梧桐七", expires_at=START)).memory
    with pytest.raises(NotFound, match="run out"):
        await change(bench, ended, content="取餐码 is 白杨九")
    with pytest.raises(NotFound, match="run out"):
        await change(bench, ended, etag=ended.etag, pinned=True)
    prolonged = await change(bench, ended, expires_at=datetime.now(UTC) + timedelta(days=1))
    assert (prolonged.content, prolonged.pinned) == (ended.content, False)
    assert (await change(bench, prolonged, content="取餐码 is 白杨九")).content == "取餐码 is 白杨九"


async def test_new_words_are_redacted_and_are_what_it_is_found_by(bench: WriterBench) -> None:
    before = (await bench.remember("The report has 8000 words")).memory
    old = (await bench.rows("SELECT embedding::text AS e, sv::text AS s FROM search_unit_fresh_1"))[0]
    await bench.run_jobs(["merge_fresh_units"], also_later=True)
    after = await change(bench, before, content="报告有 12000 字，电话 13812345678")
    assert after.content == "报告有 12000 字，电话 [PHONE]"
    assert after.redactions == ("PHONE",)
    assert await bench.count("search_unit_1") == 0
    new = (await bench.rows("SELECT embedding::text AS e, sv::text AS s FROM search_unit_fresh_1"))[0]
    assert new["e"] != old["e"]
    assert new["s"] != old["s"]
    assert "13812345678" not in await bench.every_text()


async def test_a_stale_etag_is_refused_and_the_present_one_is_not(bench: WriterBench) -> None:
    memory = (await bench.remember("first")).memory
    changed = await change(bench, memory, priority=0.1, etag=memory.etag)
    with pytest.raises(EtagMismatch):
        await change(bench, memory, priority=0.2, etag=memory.etag)
    assert (await change(bench, memory, priority=0.3, etag=changed.etag)).priority == 0.3


async def test_changes_at_once_all_come_through_without_an_etag(bench: WriterBench) -> None:
    memory = (await bench.remember("counted")).memory
    await asyncio.gather(*(change(bench, memory, priority=number / 10) for number in range(4)))
    assert await bench.count("memory", "version = 5") == 1


async def test_a_repeated_change_is_made_once(bench: WriterBench) -> None:
    memory = (await bench.remember("first")).memory
    key = request_key("UpdateMemory", "p")
    once = await change(bench, memory, priority=0.1, request=key)
    again = await change(bench, memory, priority=0.1, request=key)
    assert again.version == once.version == 2


async def test_a_memory_that_is_not_there_or_forgotten_cannot_be_changed(bench: WriterBench) -> None:
    memory = (await bench.remember("gone soon")).memory
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories((memory.memory_id,))))
    with pytest.raises(NotFound):
        await change(bench, memory, content="back again")


async def test_a_changed_episode_takes_no_more_turns_and_its_old_words_find_nothing(bench: WriterBench) -> None:
    await bench.append(["The trip to Kyoto in April is taking shape", "The hotel in Kyoto is near the station"])
    await bench.run_jobs(["index_session"])
    row = (await bench.rows("SELECT memory_id FROM memory"))[0]
    episode = await bench.writer.updater._store.get(bench.scope, row["memory_id"])
    await change(bench, episode, content="The trip to Kyoto is cancelled")
    await bench.append(["The station in Kyoto has a good ramen place"])
    await bench.writer.ender.end(bench.scope, "chat")
    await bench.run_jobs(["index_session"])
    contents = await bench.rows("SELECT content FROM memory ORDER BY created_at")
    assert [content["content"] for content in contents] == [
        "The trip to Kyoto is cancelled",
        "user: The station in Kyoto has a good ramen place",
    ]
    units = await bench.rows("SELECT unit_id FROM search_unit_fresh_1 WHERE memory_id = %s", episode.memory_id)
    assert [unit["unit_id"] for unit in units] == [episode.memory_id]
