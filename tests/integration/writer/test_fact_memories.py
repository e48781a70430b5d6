"""Memories that are facts themselves: remembered as such, restated, kept when a session that said them again goes."""

from datetime import timedelta
from typing import Any

import pytest

from rearview.domain.event import Event, EventRole
from rearview.domain.forget import Forget, ForgetSession
from rearview.domain.memory import Memory, MemoryState, MemoryType
from rearview.domain.writing import RememberOutcome, UpdateMemory
from tests.support.writer_fixtures import START, WriterBench

COLUMNS = (
    "memory_id, state, content, fact_subject AS subject, fact_value_key AS value, superseded_by, derived, confidence"
)


async def facts(bench: WriterBench, attribute: str) -> list[dict[str, Any]]:
    """Return the facts about an attribute in the order in which they were told."""
    return await bench.rows(
        f"SELECT {COLUMNS} FROM memory WHERE fact_attribute = %s AND state <> 4 AND type <> 7 ORDER BY fact_told_at",
        attribute,
    )


async def restate(bench: WriterBench, memory_id: Any, text: str) -> Memory:
    """Give a memory a new text."""
    return await bench.writer.updater.update(
        bench.scope, UpdateMemory(bench.scope.namespace, memory_id, frozenset({"content"}), content=text)
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我的租金是每月3000元", "租金涨到了3500元"),
        ("My rent is 3000 yuan", "我的房租改成3500元"),
    ],
)
async def test_what_is_remembered_as_a_fact_is_superseded_and_undone_as_one(
    bench: WriterBench, old: str, new: str
) -> None:
    first = (await bench.remember(old, type=MemoryType.FACT)).memory
    second = await bench.remember(new, type=MemoryType.FACT, occurred_at=START + timedelta(days=1))

    assert first.fact is not None
    assert second.outcome is RememberOutcome.SUPERSEDED
    assert second.related == (first.memory_id,)
    told = await facts(bench, "rent")
    assert [(row["memory_id"], row["state"], row["derived"]) for row in told] == [
        (first.memory_id, MemoryState.SUPERSEDED, False),
        (second.memory.memory_id, MemoryState.ACTIVE, False),
    ]
    undone = await bench.writer.undoer.undo(bench.scope, first.memory_id, None)
    assert (undone.memory_id, undone.state) == (first.memory_id, MemoryState.ACTIVE)
    states = {row["memory_id"]: row["state"] for row in await facts(bench, "rent")}
    assert states[second.memory.memory_id] == MemoryState.SUPERSEDED


async def test_a_note_and_a_text_of_several_facts_keep_their_facts_beside_them(bench: WriterBench) -> None:
    note = (await bench.remember("My rent is 3000")).memory
    both = (await bench.remember("I live in Oslo and I speak Thai", type=MemoryType.FACT)).memory

    assert note.fact is None
    assert both.fact is None
    (rent,) = await facts(bench, "rent")
    (home,) = await facts(bench, "residence")
    assert rent["derived"]
    assert home["derived"]


async def test_the_same_words_again_and_a_turn_that_says_so_confirm_it(bench: WriterBench) -> None:
    memory = (await bench.remember("我的租金是3000元", type=MemoryType.FACT)).memory
    again = await bench.remember("我的租金是3000元", type=MemoryType.FACT, occurred_at=START + timedelta(hours=1))
    (before,) = await facts(bench, "rent")
    await bench.append([Event(bench.turn("x").event_id, EventRole.USER, "My rent is 3000", START + timedelta(days=1))])
    await bench.run_jobs()

    assert again.outcome is RememberOutcome.REDUNDANT
    (fact,) = await facts(bench, "rent")
    assert (fact["memory_id"], fact["state"]) == (memory.memory_id, MemoryState.ACTIVE)
    assert fact["confidence"] > before["confidence"]
    await bench.writer.forgetter.forget(bench.scope, Forget(bench.scope.namespace, ForgetSession("chat")))
    (left,) = await facts(bench, "rent")
    assert left["memory_id"] == memory.memory_id


async def test_a_fact_says_what_its_new_wording_says(bench: WriterBench) -> None:
    await bench.append([bench.turn("My rent is 3000 yuan", 1), bench.turn("我的身高是170厘米", 2)])
    await bench.run_jobs()
    (rent,) = await facts(bench, "rent")
    (height,) = await facts(bench, "height")

    changed = await restate(bench, rent["memory_id"], "我的租金是3200元")
    named = await restate(bench, height["memory_id"], "The user is 170 tall.")

    assert changed.fact is not None
    assert (changed.fact.value, changed.state) == ("3200", MemoryState.ACTIVE)
    assert named.fact is not None
    assert named.fact.value == "170"
    (told,) = await facts(bench, "rent")
    assert (told["memory_id"], told["value"], told["derived"]) == (rent["memory_id"], "3200", True)
    unread = await restate(bench, height["memory_id"], "Ask about the size of the desk.")
    assert unread.fact is None
    later = Event(bench.turn("x").event_id, EventRole.USER, "The rent is going up to 4000", START + timedelta(days=2))
    await bench.append([later])
    await bench.run_jobs()
    assert [(row["value"], row["state"]) for row in await facts(bench, "rent")] == [("3200", 2), ("4000", 1)]


async def test_history_stays_history_when_it_is_reworded(bench: WriterBench) -> None:
    first = (await bench.remember("My rent is 3000", type=MemoryType.FACT)).memory
    second = (
        await bench.remember("My rent is 3500", type=MemoryType.FACT, occurred_at=START + timedelta(days=1))
    ).memory

    reworded = await restate(bench, first.memory_id, "My rent is 2900")

    assert reworded.state is MemoryState.SUPERSEDED
    assert reworded.superseded_by == second.memory_id
    assert [row["value"] for row in await facts(bench, "rent")] == ["2900", "3500"]


async def test_turns_of_one_moment_count_in_their_order(bench: WriterBench) -> None:
    values = ["3000", "3100", "3200", "3300", "3400"]
    await bench.append([bench.turn(f"My rent is {value}", 1) for value in values])
    await bench.run_jobs()

    told = await facts(bench, "rent")
    assert [row["value"] for row in told] == values
    assert [row["state"] for row in told] == [2, 2, 2, 2, 1]


async def test_a_correction_and_a_retraction_reach_what_is_of_a_topic(bench: WriterBench) -> None:
    await bench.append(
        [
            bench.turn("The budget for our holiday is 2000 euros", 1),
            bench.turn("My budget for the desk is 300 dollars.", 2),
            bench.turn("OK, 300 dollars.", 60, role=EventRole.ASSISTANT),
            bench.turn("Actually, make it 350 dollars.", 120),
            bench.turn("旅行预算取消吧", 180),
        ]
    )
    await bench.run_jobs()

    told = await facts(bench, "budget")
    assert [(row["subject"], row["value"], row["state"]) for row in told] == [
        ("user/travel", "2000", MemoryState.INACTIVE),
        ("user/desk", "300", MemoryState.SUPERSEDED),
        ("user/desk", "350", MemoryState.ACTIVE),
    ]
