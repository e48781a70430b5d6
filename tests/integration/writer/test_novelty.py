"""What a namespace knows already is not stored again, what is only like it is, and both survive forgetting."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.handed_out import RedisHandedOut
from rearview.domain.echo import sentence_hashes
from rearview.domain.event import CaptureOutcome, Event, EventRole, ToolCall
from rearview.domain.forget import Forget, ForgetMemories, ForgetSession
from rearview.domain.memory import MemoryType
from rearview.writer.novelty import MOST_DAYS
from tests.support.writer_fixtures import WriterBench

SCHOOL = {
    "zh": ["我女儿今年六岁，九月份上小学。", "对了，我女儿今年六岁，九月份上小学！", "我女儿今年6岁，9月份上小学"],
    "en": [
        "My daughter is six and starts first grade in September.",
        "By the way, my daughter is six and starts first grade in September!",
        "my daughter is 6 and starts first grade in September",
    ],
}


async def said(bench: WriterBench, texts: Sequence[str | Event], session: str = "chat") -> list[dict[str, Any]]:
    """Append and index turns; return what became of them, in order."""
    events = await bench.append(texts, session)
    await bench.run_jobs()
    return await bench.rows(
        "SELECT e.event_id, e.outcome, e.capture->>'reason' AS reason, array(SELECT l.memory_id FROM memory_event l"
        " WHERE l.event_id = e.event_id) AS memory_ids FROM event e WHERE e.event_id = ANY (%s) ORDER BY e.sequence",
        [event.event_id for event in events],
    )


def outcomes(rows: Sequence[dict[str, Any]]) -> list[CaptureOutcome]:
    return [CaptureOutcome(row["outcome"]) for row in rows]


async def test_two_hundred_repetitions_in_both_languages_are_a_few_memories(bench: WriterBench) -> None:
    texts = [*SCHOOL["zh"], *SCHOOL["en"]]
    moment = bench.clock.moment
    first: list[dict[str, Any]] = []
    for session in range(2):
        turns = [
            replace(bench.turn(texts[at % 6]), occurred_at=moment + timedelta(hours=session, seconds=at))
            for at in range(100)
        ]
        rows = await said(bench, turns, f"session-{session}")
        first = first or rows
    # One turn in each language, and the facts they state.
    assert await bench.count("memory", "NOT derived") <= 2
    assert await bench.count("memory", "derived") <= 2
    assert await bench.count("search_unit_fresh_1") + await bench.count("search_unit_1") <= 4
    # Every event is tied to a memory, so each of them can be cited, and the memory has grown stronger.
    assert await bench.count("event", "outcome IN (2, 4, 5)") == 200
    assert await bench.count("memory_event JOIN memory USING (memory_id)", "NOT derived") == 200
    strength = (await bench.rows("SELECT sum(access_count) AS n FROM memory_stats"))[0]["n"]
    assert strength >= 197
    assert outcomes(first)[0] is CaptureOutcome.KEPT
    assert CaptureOutcome.MERGED in outcomes(first)
    assert all("六岁" not in row["reason"] and "daughter" not in row["reason"] for row in first)


@pytest.mark.parametrize(
    "texts",
    [
        ["订单 88213 已经发货，预计周六送到公司前台", "订单 88214 已经发货，预计周六送到公司前台"],
        ["Order 88213 has shipped, it should reach us soon", "Order 88214 has shipped, it should reach us soon"],
        [
            "My brother Tom lives in a flat near the harbour",
            "My brother Jim lives in a flat near the harbour",
        ],
        ["我早上常常喝一杯热红茶再去上班", "我早上常常喝一杯热绿茶再去上班"],
        ["我平时吃花生酱配面包当早饭", "我平时不吃花生酱配面包当早饭"],
        ["The kitchen tap has been leaking", "The kitchen tap has not been leaking"],
        ["昨天去体育馆游了很久的泳", "前天去体育馆游了很久的泳"],
        ["团队用 Redis 做会话缓存", "团队用 Memcached 做会话缓存"],
        [
            "小雨在动物园看到了喜欢的大熊猫，觉得非常可爱，感到非常开心。",
            "小雨在家里陪伴新领养的小猫玩耍，感到非常开心。",
        ],
        [
            "The invoice from the caterer is still missing the delivery date.",
            "The caterer's invoice still lacks the tax number.",
        ],
        ["I would rather get a phone call than a long email.", "I would rather get a long email than a phone call."],
    ],
)
async def test_what_is_only_alike_stays_apart(bench: WriterBench, texts: list[str]) -> None:
    rows = await said(bench, texts)
    assert outcomes(rows) == [CaptureOutcome.KEPT] * 2


async def test_a_chain_of_alike_statements_is_no_one_memory(bench: WriterBench) -> None:
    names = ["Anna", "Boris", "Clara", "David", "Edith", "Felix"]
    texts = [f"{name} from sales ordered {at + 3} standing desks for floor {at + 2}" for at, name in enumerate(names)]
    rows = await said(bench, texts)
    assert outcomes(rows) == [CaptureOutcome.KEPT] * len(names)
    again = await said(bench, texts, "later")
    assert outcomes(again) == [CaptureOutcome.MERGED] * len(names)
    units = await bench.rows("SELECT unit_id, memory_id FROM search_unit_fresh_1")
    assert len(units) == len(names)


async def test_the_same_words_of_another_speaker_are_another_statement(bench: WriterBench) -> None:
    text = "I grew up on a farm with two horses"
    rows = await said(
        bench,
        [
            bench.turn(text, 0, speaker="Caroline"),
            bench.turn(text, 1, speaker="Melanie"),
            bench.turn(text, 2, EventRole.ASSISTANT),
            bench.turn(text, 3, speaker="caroline"),
        ],
    )
    assert outcomes(rows) == [CaptureOutcome.KEPT] * 3 + [CaptureOutcome.MERGED]
    assert rows[3]["memory_ids"] == rows[0]["memory_ids"]


async def test_forced_kinds_are_kept_until_a_memory_of_their_kind_says_it(bench: WriterBench) -> None:
    await said(bench, ["我的工位在三楼靠窗的位置"])
    rows = await said(bench, ["请记住：我的工位在三楼靠窗的位置", "请记住，我的工位在三楼靠窗的位置！"], "later")
    assert outcomes(rows) == [CaptureOutcome.KEPT, CaptureOutcome.MERGED]
    assert await bench.count("memory", "type = %s", int(MemoryType.EXPLICIT)) == 1
    tool = [
        bench.turn("", at, EventRole.TOOL, tool_call=ToolCall("get_status", result=result))
        for at, result in enumerate(["writer: ready, queue 3", "writer: ready, queue 4", "writer: ready, queue 3"])
    ]
    assert outcomes(await said(bench, tool, "tools")) == [
        CaptureOutcome.KEPT,
        CaptureOutcome.KEPT,
        CaptureOutcome.MERGED,
    ]


async def test_a_user_repeating_a_remembered_note_strengthens_it(bench: WriterBench) -> None:
    remembered = await bench.remember("The spare key is under the blue flower pot.")
    rows = await said(bench, ["The spare key is under the blue flower pot"])
    assert rows[0]["memory_ids"] == [remembered.memory.memory_id]


async def test_forgetting_one_of_several_mentions_keeps_the_memory(bench: WriterBench) -> None:
    text = "我对青霉素过敏，医生说要写进病历"
    first = (await said(bench, [text], "first"))[0]
    second = (await said(bench, [text], "second"))[0]
    assert second["memory_ids"] == first["memory_ids"]
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("second")))
    await bench.run_jobs()
    assert await bench.count("memory", "state = 1 AND NOT derived") == 1
    assert await bench.count("event", "tombstoned") == 1


async def test_forgetting_the_first_mention_leaves_the_others_a_memory_of_their_own(bench: WriterBench) -> None:
    text = "I am allergic to penicillin, the doctor put it on file"
    first = (await said(bench, [text, "We talked about the weather in Norway"], "first"))[0]
    await said(bench, [text], "second")
    receipt = await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("first")))
    await bench.run_jobs()
    rows = await bench.rows("SELECT memory_id, session_id, content FROM memory WHERE state = 1 AND NOT derived")
    assert [(row["session_id"], text in row["content"]) for row in rows] == [("second", True)]
    assert rows[0]["memory_id"] not in first["memory_ids"]
    await bench.writer.forgetter.restore(bench.scope, receipt.receipt_id)
    assert await bench.count("memory", "state = 1 AND NOT derived AND position(%s in content) > 0", text) == 2


async def test_forgetting_the_memory_forgets_every_mention(bench: WriterBench) -> None:
    text = "我的银行客户经理姓赵，办公室在国贸"
    first = (await said(bench, [text], "first"))[0]
    await said(bench, [text], "second")
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories(tuple(first["memory_ids"]))))
    await bench.run_jobs()
    assert await bench.count("memory", "state = 1") == 0
    assert await bench.count("event", "NOT tombstoned") == 0
    # What was forgotten may be told again, and is news.
    assert outcomes(await said(bench, [text], "third")) == [CaptureOutcome.KEPT]


@pytest.mark.parametrize(
    ("memory", "more"),
    [
        ("我的预算是8000元，最好住在西湖边上。", "请推荐三家可以带狗的酒店。"),
        ("My budget is 8,000 yuan and I want to stay by the lake.", "Please suggest three hotels that allow dogs."),
    ],
)
async def test_recalled_text_is_not_stored_again_but_what_stands_beside_it_is(
    bench: WriterBench, redis_url: str, memory: str, more: str
) -> None:
    async with RedisConnection(redis_url, timeout_seconds=30) as redis:
        handed_out = RedisHandedOut(redis)
        await handed_out.record(
            bench.scope.tenant_id, [bench.scope.namespace_id], sentence_hashes(memory), bench.clock.now()
        )
        context = f"[相关记忆]\n- 2024-01-15: {memory} [1]"
        rows = await said(
            bench,
            [
                bench.turn(context, 1, EventRole.SYSTEM),
                bench.turn("", 2, EventRole.TOOL, tool_call=ToolCall("memory_search", result=context)),
                bench.turn(f"{memory}\n{more}", 3),
            ],
        )
        assert outcomes(rows) == [CaptureOutcome.ECHO, CaptureOutcome.ECHO, CaptureOutcome.KEPT]
        contents = [row["content"] for row in await bench.rows("SELECT content FROM memory")]
        assert [more in content and "8" not in content for content in contents] == [True]
        # Forgetting anything makes it news again: it might be what was forgotten.
        await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetMemories(tuple(rows[2]["memory_ids"]))))
        assert outcomes(await said(bench, [memory], "again"))[0] is CaptureOutcome.KEPT


async def test_what_was_handed_out_after_a_turn_is_no_reason_to_drop_the_turn(
    bench: WriterBench, redis_url: str
) -> None:
    text = "The marathon team meets at the old bridge."
    await bench.append([text])
    async with RedisConnection(redis_url, timeout_seconds=30) as redis:
        await RedisHandedOut(redis).record(
            bench.scope.tenant_id, [bench.scope.namespace_id], sentence_hashes(text), bench.clock.now()
        )
    await bench.run_jobs()
    assert await bench.count("event", "outcome = %s", int(CaptureOutcome.KEPT)) == 1


async def test_a_long_segment_is_split_with_overlap_and_no_turn_is_cut(bench: WriterBench) -> None:
    tail = "这段话很长，只为了把这一段撑满。" * 110
    texts = [f"关于婚礼流程的第{at}条，负责人编号{at}{at}。{tail}" for at in range(2, 8)]
    await said(bench, texts[:3])
    await said(bench, texts[3:])
    memories = await bench.rows("SELECT memory_id, content FROM memory ORDER BY occurred_at, memory_id")
    assert len(memories) >= 2
    lines = [memory["content"].splitlines() for memory in memories]
    assert [line for part in lines for line in part if line in {f"user: {text}" for text in texts}] == [
        line for part in lines for line in part
    ]
    assert await bench.count("search_unit_fresh_1") == len(texts)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["今天想喝拿铁"], id="zh"),
        pytest.param(["I feel like a latte today"], id="en"),
        pytest.param(["今天想喝 latte", "今天想喝 latte。"], id="mixed"),
    ],
)
async def test_what_is_said_of_every_day_is_kept_for_a_few(bench: WriterBench, texts: list[str]) -> None:
    for day in range(12):
        turn = replace(bench.turn(texts[day % len(texts)]), occurred_at=bench.clock.moment + timedelta(days=day))
        await said(bench, [turn], f"day-{day}")
    # Nothing of it is a fact, and each day that said it is tied to what stands for all.
    assert await bench.count("memory", "derived") == 0
    assert await bench.count("memory") == MOST_DAYS
    assert await bench.count("search_unit_fresh_1") + await bench.count("search_unit_1") == MOST_DAYS
    assert await bench.count("memory_event") == 12
