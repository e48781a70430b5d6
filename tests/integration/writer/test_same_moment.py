"""What is said or remembered at the same moment is judged as if it had come one after the other."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import psycopg
import pytest

from rearview.domain.event import CaptureOutcome
from rearview.domain.writing import RememberOutcome
from tests.support.waiting import wait_until
from tests.support.writer_fixtures import WriterBench

ALIKE = [
    pytest.param("The spare key is under the blue flower pot", "The spare key is under the blue flower pot!", id="en"),
    pytest.param("备用钥匙在蓝色花盆下面", "备用钥匙在蓝色花盆下面。", id="zh"),
    pytest.param("阳台的 spare key 在 blue flower pot 下面", "阳台的 spare key 在 blue flower pot 下面哦", id="mixed"),
]
WAITING = (
    "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND pid <> pg_backend_pid()"
)


async def at_the_same_moment(bench: WriterBench, *writes: Awaitable[Any]) -> list[Any]:
    """Let writes meet: each has looked for what is known, and none has committed, when the first of them may."""

    async def wait_for_all() -> bool:
        return int((await bench.rows(WAITING))[0]["n"]) >= len(writes)

    async with await psycopg.AsyncConnection.connect(bench.superuser_url) as holder:
        await holder.execute("SELECT FROM namespace_statistics FOR UPDATE")
        tasks = [asyncio.ensure_future(write) for write in writes]
        await wait_until(wait_for_all, "all writes to meet")
        await holder.commit()
    return await asyncio.gather(*tasks)


@pytest.mark.parametrize(("first", "second"), ALIKE)
async def test_the_like_remembered_at_once_is_one_memory(bench: WriterBench, first: str, second: str) -> None:
    await bench.remember("We meet at noon")

    done = await at_the_same_moment(bench, bench.remember(first), bench.remember(second))

    assert sorted(one.outcome for one in done) == [RememberOutcome.CREATED, RememberOutcome.MERGED]
    assert len({one.memory.memory_id for one in done}) == 1
    assert await bench.count("memory", "NOT derived") == 2
    assert (await bench.rows("SELECT memories, units FROM namespace_statistics"))[0] == {"memories": 2, "units": 2}


@pytest.mark.parametrize(("first", "second"), ALIKE)
async def test_sessions_that_say_the_like_at_once_share_a_memory(bench: WriterBench, first: str, second: str) -> None:
    await bench.remember("We meet at noon")
    for session, text in (("one", first), ("two", second)):
        await bench.append([text], session)
    jobs = await bench.rows("DELETE FROM procrastinate_jobs WHERE task_name = 'index_session' RETURNING args")

    await at_the_same_moment(bench, *(bench.writer.handlers["index_session"](job["args"]) for job in jobs))

    outcomes = [CaptureOutcome(row["outcome"]) for row in await bench.rows("SELECT outcome FROM event")]
    assert sorted(outcomes) == [CaptureOutcome.KEPT, CaptureOutcome.MERGED]
    assert await bench.count("memory", "type = 1") == 1
    links = await bench.rows("SELECT memory_id, repeats FROM memory_event JOIN memory USING (memory_id) WHERE type = 1")
    assert len({row["memory_id"] for row in links}) == 1
    assert [row["repeats"] is None for row in links].count(True) == 1


async def test_others_do_not_hold_up_what_is_unlike(bench: WriterBench) -> None:
    await bench.remember("We meet at noon")
    texts = [
        "The kitchen tap has been leaking",
        "订单 88213 已经发货",
        "订单 88214 已经发货",
        "Tom lives near the harbour",
    ]

    done = await at_the_same_moment(bench, *(bench.remember(text) for text in texts))

    assert {one.outcome for one in done} == {RememberOutcome.CREATED}
    assert (await bench.rows("SELECT writes FROM namespace_statistics"))[0]["writes"] == 1 + len(texts)
