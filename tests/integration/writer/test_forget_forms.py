"""Forgetting by subject, filter, query and last turns: what goes, what stays, and that no trace of it is left."""

from typing import Any

import pytest

from rearview.domain.errors import InvalidConfirmationToken, InvalidFields, NotFound
from rearview.domain.event import EventRole
from rearview.domain.forget import (
    Forget,
    ForgetEvents,
    ForgetFilter,
    ForgetLastTurns,
    ForgetMemories,
    ForgetQuery,
    ForgetReceipt,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.ids import new_id
from rearview.domain.names import EventName
from rearview.domain.recall import MemoryFilter
from tests.support.writer_fixtures import WriterBench

TALK = [
    "We spend the spring holidays in Kyoto and look at temples",
    "去京都的机票已经订好了，四月三号出发",
    "The hotel in Kyoto is close to the station and has a garden",
    "My neighbour Ottokar Flieder keeps the zanzibar parrots in Kyoto",
    "The garden of the hotel in Kyoto has old trees",
    "京都的天气四月份比较凉，要带外套",
]
SECRET = 3


async def forget(bench: WriterBench, target: ForgetTarget, **fields: Any) -> ForgetReceipt:
    return await bench.writer.forgetter.forget(bench.scope, Forget("notes", target, **fields))


async def token_for(bench: WriterBench, target: ForgetTarget) -> str:
    return (await bench.writer.forgetter.preview(bench.scope, Forget("notes", target))).confirmation_token


async def told(bench: WriterBench, texts: list[str], *, ended: bool = True) -> None:
    await bench.append(texts)
    if ended:
        await bench.writer.ender.end(bench.scope, "chat")
    await bench.run_jobs(["index_session"])


async def contents(bench: WriterBench) -> str:
    return "\n".join(row["content"] for row in await bench.rows("SELECT content FROM memory WHERE state <> 4"))


async def units_by_text(bench: WriterBench) -> dict[str, tuple[str, str]]:
    rows = await bench.rows(
        "SELECT e.content, u.embedding::text AS embedding, u.sv::text AS sv FROM search_unit_fresh_1 u"
        " JOIN event e ON e.event_id = u.unit_id WHERE u.state = 0"
    )
    return {row["content"]: (row["embedding"], row["sv"]) for row in rows}


async def test_last_turns_go_with_the_replies_and_the_episode_is_written_without_them(bench: WriterBench) -> None:
    said = ["The trip to Kyoto is in April", "Kyoto is cold in April", "The hotel in Kyoto costs marzipan nine", "好的"]
    roles = [EventRole.USER, EventRole.ASSISTANT, EventRole.USER, EventRole.ASSISTANT]
    await bench.append([bench.turn(text, at, role) for at, (text, role) in enumerate(zip(said, roles, strict=True))])
    await bench.run_jobs(["index_session"])
    receipt = await forget(bench, ForgetLastTurns("chat", 1))
    assert receipt.event_count == 2
    left = [row["content"] for row in await bench.rows("SELECT content FROM event WHERE NOT tombstoned ORDER BY 1")]
    assert left == sorted(said[:2])
    assert "trip to Kyoto" in await contents(bench)
    assert "marzipan" not in await contents(bench)
    assert await bench.count("search_unit_fresh_1 u JOIN event e ON e.event_id = u.unit_id",
                             "e.tombstoned AND u.state <> 2") == 0  # fmt: skip
    linked = "memory_event l JOIN memory m USING (memory_id) JOIN event e USING (event_id)"
    assert await bench.count(linked, "m.state <> 4 AND e.tombstoned") == 0
    stored = (await bench.rows("SELECT sum(octet_length(content)) AS n FROM memory WHERE state <> 4"))[0]["n"]
    assert (await bench.rows("SELECT bytes FROM namespace_statistics"))[0]["bytes"] == stored
    # More than there are takes all that the user said, and then there is nothing more to forget.
    await forget(bench, ForgetLastTurns("chat", 5))
    with pytest.raises(NotFound):
        await forget(bench, ForgetLastTurns("chat", 1))


@pytest.mark.parametrize("ended", [True, False], ids=["windows closed", "windows open"])
async def test_named_events_go_and_the_episode_is_written_without_them(bench: WriterBench, ended: bool) -> None:
    await told(bench, TALK, ended=ended)
    rows = await bench.rows("SELECT event_id FROM event WHERE content = %s", TALK[SECRET])
    named = EventName("notes", "chat", rows[0]["event_id"])
    for wrong in (EventName("notes", "other", named.event), EventName("notes", "chat", new_id())):
        with pytest.raises(NotFound):
            await forget(bench, ForgetEvents((named, wrong)))
    assert "parrots" in await contents(bench)
    assert (await forget(bench, ForgetEvents((named,)))).event_count == 1
    assert "parrots" not in await contents(bench)
    assert TALK[0] in await contents(bench)
    with pytest.raises(NotFound):
        await forget(bench, ForgetEvents((named,)))
    await bench.run_jobs(["refresh_units"])
    assert set(await units_by_text(bench)) == {text for at, text in enumerate(TALK) if at != SECRET}


@pytest.mark.parametrize("ended", [True, False], ids=["windows closed", "windows open"])
async def test_neighbours_are_found_as_if_the_turn_had_never_been_said(bench: WriterBench, ended: bool) -> None:
    without = [text for at, text in enumerate(TALK) if at != SECRET]
    await told(bench, TALK, ended=ended)
    before = await units_by_text(bench)
    await forget(bench, ForgetSubject("Ottokar Flieder"))
    assert await bench.count("open_window") == 0
    await bench.run_jobs(["refresh_units"])
    after = await units_by_text(bench)
    assert set(after) == set(without)
    assert await bench.count("forget_receipt", "stale_units <> '{}'") == 0
    # Both sides changed, within the window only.
    changed = {text for text in without if before[text][1] != after[text][1]}
    assert changed >= {TALK[2], TALK[4]}
    own = set(
        bench.writer.refresher._windows._hasher.keywords(bench.scope.namespace_id, "Ottokar Flieder zanzibar parrots")
    )
    assert not any(str(term) in sv for term in own for _, sv in after.values())
    assert await bench.count("search_unit_fresh_1", "state = 0 AND NOT closed") == 0
    totals = (await bench.rows("SELECT units FROM namespace_statistics"))[0]["units"]
    assert totals >= len(without)


async def test_forgetting_by_name_leaves_no_trace_in_neighbours(bench: WriterBench) -> None:
    await told(bench, ["The trip to Kyoto in April", "必须在八千元以内", "The hotel in Kyoto is near the station"])
    constraint = (await bench.rows("SELECT memory_id FROM memory WHERE type = 5"))[0]["memory_id"]
    before = await units_by_text(bench)
    await forget(bench, ForgetMemories((constraint,)))
    await bench.run_jobs(["refresh_units"])
    after = await units_by_text(bench)
    assert len(after) == 2
    assert all(before[text] != after[text] for text in after)


async def test_a_subject_goes_from_memories_facts_and_turns_of_both_languages(bench: WriterBench) -> None:
    await bench.remember("我在上海有一套房子")
    await bench.remember("The Shanghai flat needs a boiler")
    stays = (await bench.remember("成都的房子租出去了")).memory.memory_id
    await bench.append(["还没有被索引的话：上海的钥匙在门垫下面", "The shangrila hotel is fine"], "pending")
    receipt = await forget(bench, ForgetSubject("Shanghai"))
    assert receipt.memory_count >= 2
    assert receipt.event_count == 1
    await bench.run_jobs()
    text = await contents(bench)
    assert "上海" not in text
    assert "Shanghai" not in text
    assert "shangrila" in text
    assert await bench.count("memory", "memory_id = %s AND state = 1", stays) == 1
    assert (await forget(bench, ForgetSubject("Shanghai"))).memory_count == 0


async def test_a_name_that_is_a_word_as_well_takes_only_what_names_the_thing(bench: WriterBench) -> None:
    await bench.remember("tell us where the bus leaves")
    await bench.remember("李子树下埋着钥匙")
    for subject in ("US", "李"):
        assert (await forget(bench, ForgetSubject(subject))).memory_count == 0
    assert await bench.count("memory", "state = 1") == 2


async def test_a_filter_takes_what_it_selects(bench: WriterBench) -> None:
    gone = (await bench.remember("the harbour tender", labels={"project": "harbour"})).memory.memory_id
    await bench.remember("the harbour cafe", labels={"project": "private"})
    target = ForgetFilter(MemoryFilter(labels={"project": "harbour"}))
    assert (await forget(bench, target)).memory_ids == (gone,)
    assert await bench.count("memory", "state = 1") == 1


async def test_too_large_a_selection_is_refused_and_nothing_goes(
    bench: WriterBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rearview.adapters.postgres.forget_selection.MAX_SELECTED", 1)
    for text in ("one thing", "another thing"):
        await bench.remember(text, labels={"a": "b"})
    with pytest.raises(InvalidFields) as refused:
        await forget(bench, ForgetFilter(MemoryFilter(labels={"a": "b"})))
    assert refused.value.violations[0].field == "filter"
    assert await bench.count("memory", "state = 1") == 2


async def test_a_token_holds_while_the_set_does(bench: WriterBench) -> None:
    await bench.remember("the harbour tender", labels={"a": "b"})
    target = ForgetFilter(MemoryFilter(labels={"a": "b"}))
    token = await token_for(bench, target)
    assert await bench.count("memory", "state = 4") == 0
    with pytest.raises(InvalidConfirmationToken):
        await forget(bench, ForgetFilter(MemoryFilter(labels={"a": "c"})), confirmation_token=token)
    await bench.remember("the harbour crane", labels={"a": "b"})
    with pytest.raises(InvalidConfirmationToken):
        await forget(bench, target, confirmation_token=token)
    assert await bench.count("memory", "state = 4") == 0
    assert (await forget(bench, target, confirmation_token=await token_for(bench, target))).memory_count == 2


async def test_a_query_needs_its_token_and_takes_what_it_showed(bench: WriterBench) -> None:
    shown = (await bench.remember("体检报告在抽屉里")).memory.memory_id
    target = ForgetQuery("体检报告")
    with pytest.raises(InvalidConfirmationToken) as refused:
        await forget(bench, target)
    assert "preview" in refused.value.message
    token = await token_for(bench, ForgetQuery("体检报告", (shown,)))
    await bench.remember("体检报告的复印件")
    with pytest.raises(InvalidConfirmationToken):
        await forget(bench, ForgetQuery("别的"), confirmation_token=token)
    assert (await forget(bench, target, confirmation_token=token)).memory_ids == (shown,)
    with pytest.raises(InvalidConfirmationToken):
        await forget(bench, target, confirmation_token=token)


async def test_a_restore_gives_an_episode_its_turns_back(bench: WriterBench) -> None:
    await told(bench, TALK)
    before = await bench.rows("SELECT memory_id, content, occurred_at FROM memory WHERE type = 1 ORDER BY memory_id")
    links = await bench.count("memory_event")
    receipt = await forget(bench, ForgetSubject("Ottokar Flieder"))
    await bench.run_jobs(["refresh_units"])
    assert await bench.count("memory_event") < links
    await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id)
    await bench.run_jobs(["refresh_units"])
    after = await bench.rows("SELECT memory_id, content, occurred_at FROM memory WHERE type = 1 ORDER BY memory_id")
    assert after == before
    assert await bench.count("memory_event") == links
    assert set(await units_by_text(bench)) == set(TALK)
