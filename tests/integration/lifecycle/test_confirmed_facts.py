"""A fact that is stated again although it was put away is in use again: it comes back hot, and there is one of it."""

from typing import Any

import pytest

from rearview.domain.memory import Tier
from rearview.domain.writing import RememberOutcome
from tests.support.tier_bench import TierBench

JOBS = ("index_session", "rehydrate_memory")
SAID = [
    pytest.param("I love jazz", "I really love jazz", 100, Tier.COLD, id="en"),
    pytest.param("我喜欢爵士乐", "我很喜欢爵士乐", 40, Tier.WARM, id="zh"),
    pytest.param("我喜欢 jazz", "I love jazz", 100, Tier.COLD, id="mixed"),
]


async def facts(tiers: TierBench) -> list[dict[str, Any]]:
    return await tiers.writing.rows(
        "SELECT m.memory_id, tier, confidence, content, coalesce(access_count, 0) AS uses FROM memory m"
        " LEFT JOIN memory_stats USING (memory_id) WHERE derived"
    )


async def say(tiers: TierBench, text: str, session: str) -> None:
    await tiers.writing.append([text], session)
    await tiers.writing.writer.ender.end(tiers.writing.scope, session)
    await tiers.writing.run_jobs(["index_session", "merge_fresh_units"])


@pytest.mark.parametrize(("first", "again", "days", "tier"), SAID)
async def test_a_fact_stated_again_comes_back_hot(
    tiers: TierBench, first: str, again: str, days: float, tier: Tier
) -> None:
    await say(tiers, first, "first")
    await tiers.age(days)
    await tiers.sweep()
    (before,) = await facts(tiers)
    assert before["tier"] == tier

    await say(tiers, again, "second")
    await tiers.writing.run_jobs(JOBS)

    (after,) = await facts(tiers)
    assert (after["memory_id"], after["tier"], after["uses"]) == (before["memory_id"], Tier.HOT, 1)
    assert after["confidence"] > before["confidence"]
    assert after["content"] == first
    assert await tiers.contents([after["memory_id"]]) == [first]
    # Used now, it is not put away by the next sweep either.
    await tiers.sweep()
    assert [fact["tier"] for fact in await facts(tiers)] == [Tier.HOT]


async def test_a_warm_text_remembered_again_comes_back_hot(tiers: TierBench) -> None:
    (memory_id,) = await tiers.write(["The spare key is under the blue flower pot"])
    await tiers.age(40)
    await tiers.sweep()

    again = await tiers.writing.remember("The spare key is under the blue flower pot")
    await tiers.writing.run_jobs(JOBS)

    assert (again.outcome, again.memory.memory_id) == (RememberOutcome.REDUNDANT, memory_id)
    assert await tiers.tier_counts() == {Tier.HOT: 1}
