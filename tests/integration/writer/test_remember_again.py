"""Remembering what is known in other words, or in another language, adds nothing, unless something would be lost."""

from datetime import timedelta
from typing import Any

import pytest

from rearview.domain.forget import Forget, ForgetMemories, ForgetSession
from rearview.domain.memory import MemoryType
from rearview.domain.writing import RememberOutcome
from tests.integration.writer.test_novelty import SCHOOL
from tests.support.writer_fixtures import START, WriterBench, request_key

KEY = "The spare key is under the blue flower pot"
AGAIN = [
    pytest.param(KEY, "the spare key is under the blue flower-pot.", id="en"),
    pytest.param("备用钥匙在蓝色花盆下面", "备用钥匙就在蓝色的花盆下面", id="zh"),
    pytest.param("阳台的 spare key 在花盆下面", "阳台的 spare key 在花盆下面。", id="mixed"),
    # Capitals alone make names of words.
    pytest.param(
        "The boiler trips when the oven and the dryer run together!",
        "THE BOILER TRIPS WHEN THE OVEN AND THE DRYER RUN TOGETHER.",
        id="shouted",
    ),
]


@pytest.mark.parametrize(("text", "again"), AGAIN)
async def test_the_like_is_merged_and_strengthens(bench: WriterBench, text: str, again: str) -> None:
    first = await bench.remember(text)
    request = request_key("Remember", again)

    merged = await bench.remember(again, request=request)

    assert (merged.outcome, merged.related) == (RememberOutcome.MERGED, (first.memory.memory_id,))
    assert merged.memory.content == text
    assert await bench.count("memory", "NOT derived") == await bench.count("search_unit_fresh_1") == 1
    assert (await bench.rows("SELECT access_count FROM memory_stats"))[0]["access_count"] == 1
    # A repeated request is answered as before, and counts once.
    repeated = await bench.remember(again, request=request)
    assert (repeated.outcome, repeated.related) == (merged.outcome, merged.related)
    assert (await bench.rows("SELECT access_count FROM memory_stats"))[0]["access_count"] == 1


async def test_paraphrases_in_both_languages_stay_a_few_memories(bench: WriterBench) -> None:
    texts = [*SCHOOL["zh"], *SCHOOL["en"]]
    for _ in range(3):
        for text in texts:
            await bench.remember(text)
    assert await bench.count("memory", "NOT derived") <= 2
    assert await bench.count("memory", "derived") <= 2


async def test_what_is_only_alike_stays_apart(bench: WriterBench) -> None:
    alike = [
        ("订单 88213 已经发货", "订单 88214 已经发货"),
        ("Tom prefers the aisle seat", "Jim prefers the aisle seat"),
        ("The tap has been leaking", "The tap has not been leaking"),
        ("I like tea in the morning", "I like coffee in the morning"),
        ("明天交报告", "后天交报告"),
    ]
    for texts in alike:
        outcomes = [(await bench.remember(text)).outcome for text in texts]
        assert RememberOutcome.MERGED not in outcomes
    assert await bench.count("memory", "NOT derived") == 2 * len(alike)


ASKED_FOR: list[dict[str, Any]] = [
    {"labels": {"project": "b"}},
    {"metadata": {"page": 3}},
    {"pinned": True},
    {"priority": 0.9},
    {"type": MemoryType.CONSTRAINT},
    {"valid_from": START},
    {"expires_at": START + timedelta(days=10)},
]


async def test_what_asks_for_more_than_is_there_is_stored(bench: WriterBench) -> None:
    for room, fields in enumerate(ASKED_FOR):
        text = f"The key of room {room} is under the blue flower pot"
        await bench.remember(text, expires_at=START + timedelta(days=9), session_id="first")
        stored = await bench.remember(f"{text}.", session_id="first", **{"expires_at": START, **fields})
        assert stored.outcome is RememberOutcome.CREATED, fields

    longer = await bench.remember(KEY, expires_at=START + timedelta(days=9), session_id="first")
    lasting = await bench.remember(f"{KEY}!", session_id="second")
    again = await bench.remember(f"{KEY}.", session_id="third")
    # What ends sooner, or with another session, is passed over for what does not.
    assert [one.outcome for one in (longer, lasting, again)] == [RememberOutcome.CREATED] * 3
    free = await bench.remember(f"{KEY} .")
    assert free.outcome is RememberOutcome.CREATED
    assert (await bench.remember(f"{KEY} !", session_id="fourth")).related == (free.memory.memory_id,)


@pytest.mark.parametrize("text", ["You must not deploy on Fridays", "永远不要在周五发布"])
async def test_what_was_asked_to_be_remembered_outlives_the_talk_that_said_it(bench: WriterBench, text: str) -> None:
    await bench.append([text])
    await bench.run_jobs()

    stored = await bench.remember(text, type=MemoryType.CONSTRAINT)

    assert stored.outcome is RememberOutcome.CREATED
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    await bench.run_jobs()
    assert await bench.count("memory", "state = 1 AND memory_id = %s", stored.memory.memory_id) == 1


async def test_a_forgotten_memory_takes_no_more_in(bench: WriterBench) -> None:
    first = await bench.remember(KEY)
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories((first.memory.memory_id,))))
    assert (await bench.remember(f"{KEY}!")).outcome is RememberOutcome.CREATED


async def test_in_a_batch_the_second_finds_the_first(bench: WriterBench) -> None:
    commands = [bench.command(text) for text in (KEY, f"{KEY}.", "We meet at noon")]
    done = await bench.writer.keeper.remember_all(bench.scope, commands)
    outcomes = [getattr(one, "outcome", one) for one in done]
    assert outcomes == [RememberOutcome.CREATED, RememberOutcome.MERGED, RememberOutcome.CREATED]


LIKE_BUT_MORE = [
    pytest.param(
        "Lisa在绘画课上画了一幅大熊猫画，觉得很好看，并感到非常开心。", "Lisa在艺术课上学习画画，感到开心。", id="zh"
    ),
    pytest.param(
        "Lisa felt anxious before the painting competition as she had not finished her artwork, but she managed to"
        " complete it on time and won first place.",
        "Lisa was very hopeful about winning a painting competition, but she did not win any awards and felt very"
        " disappointed. Later, she practiced diligently and made significant progress in her painting skills.",
        id="en",
    ),
    pytest.param("周末和 Lisa 去看 panda，很开心", "周末和 Lisa 在 zoo 里玩，挺开心", id="mixed"),
]


@pytest.mark.parametrize(("text", "like"), LIKE_BUT_MORE)
async def test_what_adds_a_word_is_stored_however_alike_it_is(bench: WriterBench, text: str, like: str) -> None:
    await bench.remember(text)
    stored = await bench.remember(like)
    assert (stored.outcome, stored.memory.content) == (RememberOutcome.CREATED, like)


@pytest.mark.parametrize(("text", "again"), [*AGAIN, pytest.param(KEY, KEY, id="same words")])
async def test_the_same_on_another_day_is_another_thing(bench: WriterBench, text: str, again: str) -> None:
    first = await bench.remember(text, occurred_at=START - timedelta(days=40))
    other = await bench.remember(again, occurred_at=START - timedelta(days=30))
    assert other.outcome is RememberOutcome.CREATED
    of_that_day = await bench.remember(f"{again}!", occurred_at=START - timedelta(days=30))
    assert of_that_day.related == (other.memory.memory_id,)
    assert first.memory.memory_id != other.memory.memory_id
