"""Forgetting a turn whose words a fact carries: the fact goes on in the words of what states it still, or goes, too."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from rearview.domain.event import Event, EventRole
from rearview.domain.forget import Forget, ForgetReceipt, ForgetSubject
from rearview.domain.memory import MemoryState, MemoryType
from rearview.domain.writing import UpdateMemory
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.writer_fixtures import JOBS, START, WriterBench

PAIRS = [
    pytest.param("I live in Beijing", "我住在北京", "Beijing", "北京", id="en-zh"),
    pytest.param("我住在北京", "I live in Beijing", "北京", "Beijing", id="zh-en"),
    pytest.param("I live in 北京 now", "I live in Beijing", "北京", "Beijing", id="mixed-en"),
]


async def say(bench: WriterBench, session: str, *texts: str | tuple[EventRole, str], day: int) -> None:
    """Have a conversation on a day, and have it indexed."""
    turns = [one if isinstance(one, tuple) else (EventRole.USER, one) for one in texts]
    moment = START + timedelta(days=day)
    await bench.append(
        [
            Event(bench.turn(text).event_id, role, text, moment + timedelta(minutes=at))
            for at, (role, text) in enumerate(turns)
        ],
        session,
    )
    await bench.writer.ender.end(bench.scope, session)
    await bench.run_jobs()


async def facts(bench: WriterBench, attribute: str = "residence") -> list[dict[str, Any]]:
    return await bench.rows(
        "SELECT memory_id, state, content, session_id, fact_value AS value, fact_value_key AS key, fact_source_id,"
        " superseded_by, confidence, occurred_at, valid_to FROM memory WHERE fact_attribute = %s AND type <> 7"
        " AND state <> 4 ORDER BY fact_told_at",
        attribute,
    )


async def purge(lifecycle: LifecycleBench, receipt: ForgetReceipt) -> None:
    await lifecycle.own.run_jobs([*JOBS, "refresh_units"])
    assert await lifecycle.purge(receipt)


async def units(bench: WriterBench, memory_id: UUID) -> int:
    """Return by how many units a memory is found."""
    tables = ("search_unit_fresh_1", "search_unit_1")
    return sum([await bench.count(table, "memory_id = %s AND state = 0", memory_id) for table in tables])


@pytest.mark.parametrize(("first", "second", "gone", "left"), PAIRS)
async def test_a_fact_goes_on_in_the_words_of_the_turn_that_is_left(
    lifecycle: LifecycleBench, first: str, second: str, gone: str, left: str
) -> None:
    own = lifecycle.own
    await say(own, "first", first, day=0)
    await say(own, "second", second, day=3)
    (before,) = await facts(own)
    assert gone in before["content"]
    assert before["session_id"] == "first"

    receipt = await lifecycle.forget_session("first")

    (between,) = await facts(own)
    assert gone not in f"{between}"
    assert await units(own, before["memory_id"]) == 0
    await own.run_jobs()
    (after,) = await facts(own)
    assert (after["memory_id"], after["key"], after["state"]) == (before["memory_id"], "beijing", MemoryState.ACTIVE)
    assert (after["content"], after["session_id"]) == (second, "second")
    assert left in after["value"]
    assert after["occurred_at"] == START + timedelta(days=3)
    assert after["confidence"] < before["confidence"]
    assert await units(own, before["memory_id"]) == 1
    await purge(lifecycle, receipt)
    assert await lifecycle.tables_with(gone) == set()
    assert await own.count("memory", "fact_source_id = %s", before["fact_source_id"]) == 0
    stored = (await own.rows("SELECT sum(octet_length(content)) AS n FROM memory WHERE state <> 4"))[0]["n"]
    assert (await own.rows("SELECT bytes FROM namespace_statistics"))[0]["bytes"] == stored

    receipt = await lifecycle.forget_session("second")

    assert await facts(own) == []
    await purge(lifecycle, receipt)
    assert await lifecycle.tables_with(gone, left) == set()
    assert await own.count("memory") == 0


async def test_a_history_told_in_the_forgotten_words_is_told_anew(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await say(own, "first", "我住在北京", day=0)
    await say(own, "second", "I live in Beijing", day=1)
    await say(own, "third", "I moved to Berlin", day=2)
    await say(own, "fourth", "I moved to Oslo", day=3)
    (summary,) = await own.rows("SELECT content FROM memory WHERE type = 7 AND state = 1")
    assert "北京" in summary["content"]
    told = await facts(own)

    receipt = await lifecycle.forget_session("first")
    await own.run_jobs()

    again = await facts(own)
    kept = ("memory_id", "state", "superseded_by", "valid_to")
    assert [[row[name] for name in kept] for row in again] == [[row[name] for name in kept] for row in told]
    (summary,) = await own.rows("SELECT content FROM memory WHERE type = 7 AND state = 1")
    assert "Beijing" in summary["content"]
    await purge(lifecycle, receipt)
    assert await lifecycle.tables_with("北京") == set()


async def test_a_remembered_text_and_a_turn_stand_in_for_each_other(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    note = (await own.remember("我住在北京")).memory
    await say(own, "second", "I live in Beijing", day=1)

    receipt = await lifecycle.forget_memories(note.memory_id)
    await own.run_jobs()

    (fact,) = await facts(own)
    assert (fact["content"], fact["session_id"]) == ("I live in Beijing", "second")
    await purge(lifecycle, receipt)
    assert await lifecycle.tables_with("北京") == set()

    note = (await own.remember("我住在北京市")).memory
    receipt = await lifecycle.forget_session("second")
    await own.run_jobs()

    (fact,) = await facts(own)
    assert (fact["content"], fact["fact_source_id"]) == ("我住在北京市", note.memory_id)
    await purge(lifecycle, receipt)
    assert await lifecycle.tables_with("Beijing") == set()


async def test_a_note_that_was_rewritten_leaves_no_fact_in_its_old_words(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    note = (await own.remember("我住在北京")).memory
    update = UpdateMemory("notes", note.memory_id, frozenset({"content"}), content="The boiler trips at night")
    await own.writer.updater.update(own.scope, update)
    (ended,) = await facts(own)
    assert (ended["content"], ended["state"]) == ("我住在北京", MemoryState.INACTIVE)

    await purge(lifecycle, await lifecycle.forget_memories(note.memory_id))

    assert await lifecycle.tables_with("北京") == set()


async def test_an_answer_states_a_fact_as_long_as_its_question_is_there(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await say(own, "first", "I live in 北京 now", day=0)
    await say(own, "second", (EventRole.ASSISTANT, "Ottokar, where do you live?"), "Beijing", day=1)
    await say(own, "third", (EventRole.ASSISTANT, "Where do you live?"), "Beijing", day=2)
    await lifecycle.forget_session("first", at_once=False)
    await own.run_jobs()
    (fact,) = await facts(own)
    assert (fact["session_id"], fact["value"]) == ("second", "Beijing")

    # Neither question nor answer stands by itself; of the second session only the question goes.
    await lifecycle.forget_session("third", at_once=False)
    subject = Forget("notes", ForgetSubject("Ottokar"))
    await own.writer.forgetter.forget(own.scope, subject)
    await own.writer.restater.restate(own.scope.tenant_id, own.scope.namespace_id, fact["memory_id"])

    assert await facts(own) == []
    assert await own.count("event", "NOT tombstoned AND content = 'Beijing'") == 1


@pytest.mark.parametrize("text", ["You must not deploy on Fridays", "永远不要在周五发布"])
async def test_a_constraint_that_was_said_again_outlives_its_first_turn(lifecycle: LifecycleBench, text: str) -> None:
    own = lifecycle.own
    await say(own, "first", text, day=0)
    await say(own, "second", text, day=1)
    kind = f"fact_attribute = 'constraint' AND state = 1 AND type = {int(MemoryType.CONSTRAINT)}"
    (before,) = await own.rows(f"SELECT memory_id, session_id FROM memory WHERE {kind}")

    await lifecycle.forget_session("second", at_once=False)
    assert await own.count("memory", kind) == 1, "what was only said again does not take what was said first"
    await say(own, "third", text, day=2)
    await lifecycle.forget_session("first")
    await own.run_jobs()

    (after,) = await own.rows(f"SELECT memory_id, session_id FROM memory WHERE {kind}")
    assert (before["session_id"], after["session_id"]) == ("first", "third")
