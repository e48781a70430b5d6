"""Rounds over all tenants: what is past its time goes, and work that was left behind gets its job again."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.domain.errors import Unavailable
from rearview.domain.ids import new_id
from rearview.lifecycle.round_schedule import Round, RoundSchedule
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.ports.clock import SystemClock
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.waiting import wait_until


def rounds(lifecycle: LifecycleBench, **rules: Any) -> UpkeepRounds:
    return UpkeepRounds(PostgresUpkeep(lifecycle.database, SystemClock()), UpkeepRules(**rules))


async def jobs(lifecycle: LifecycleBench, task: str) -> list[dict[str, Any]]:
    rows = await lifecycle.own.rows(
        "SELECT args FROM procrastinate_jobs WHERE task_name = %s AND status = 'todo' ORDER BY id", task
    )
    return [row["args"] for row in rows]


async def drop_jobs(lifecycle: LifecycleBench) -> None:
    await lifecycle.own.rows("DELETE FROM procrastinate_jobs")


async def test_old_requests_and_traces_of_all_tenants_expire_and_young_ones_stay(lifecycle: LifecycleBench) -> None:
    now = datetime.now(UTC)
    for bench in (lifecycle.own, lifecycle.other):
        for age in (timedelta(hours=25), timedelta(hours=23), timedelta(days=30)):
            await bench.rows(
                "INSERT INTO request (tenant_id, request_id, method, fingerprint, result, created_at)"
                " VALUES (%s, %s, 'Remember', '', '{}', %s)",
                bench.scope.tenant_id,
                new_id(),
                now - age,
            )
        for age in (timedelta(days=6, hours=23), timedelta(days=7, hours=1)):
            await bench.rows(
                "INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)"
                " VALUES (%s, %s, 'tester', '{}', '{}', %s)",
                bench.scope.tenant_id,
                new_id(),
                now - age,
            )

    assert await rounds(lifecycle, step=1).expire() == 2 * (2 + 1)

    assert await lifecycle.own.count("request") == 2
    assert await lifecycle.own.count("recall_trace") == 2
    assert await rounds(lifecycle).expire() == 0


async def test_a_silent_session_whose_job_was_lost_gets_one(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await own.append(["The train to Kyoto leaves at nine", "It takes two hours and costs 13000 yen"])
    await own.run_jobs()
    assert await own.count("session", "NOT window_closed") == 1
    assert await rounds(lifecycle).enqueue_left_behind() == 0, "its own job waits"

    await drop_jobs(lifecycle)
    assert await rounds(lifecycle, session_silent=timedelta(days=10_000)).enqueue_left_behind() == 0
    assert await rounds(lifecycle, units_unmerged=timedelta(days=10_000)).enqueue_left_behind() == 1
    assert await rounds(lifecycle, units_unmerged=timedelta(days=10_000)).enqueue_left_behind() == 0, "once"
    (job,) = await jobs(lifecycle, "close_session_windows")
    assert job["session_id"] == "chat"

    own.clock.moment += timedelta(hours=1)
    await own.run_jobs(["close_session_windows"], also_later=True)
    assert await own.count("session", "NOT window_closed") == 0


async def test_units_whose_merge_was_lost_are_merged(lifecycle: LifecycleBench) -> None:
    for bench in (lifecycle.own, lifecycle.other):
        await bench.remember("The cat is called Miu 猫叫咪呜")
    assert await rounds(lifecycle).enqueue_left_behind() == 0, "their own jobs wait"
    await drop_jobs(lifecycle)

    assert await rounds(lifecycle).enqueue_left_behind() == 2
    assert await rounds(lifecycle).enqueue_left_behind() == 0, "once"
    await lifecycle.own.run_jobs()
    assert await lifecycle.own.count("search_unit_1") == 2
    assert await rounds(lifecycle).enqueue_left_behind() == 0


async def test_an_overdue_purge_is_taken_up_again(lifecycle: LifecycleBench) -> None:
    own = lifecycle.own
    await own.append(["The code of the door is written on the back of the photo"])
    forgotten = await lifecycle.forget_session()
    assert await rounds(lifecycle).enqueue_left_behind() == 0, "its own job waits"
    await own.rows("UPDATE procrastinate_jobs SET status = 'failed' WHERE task_name = 'purge'")

    assert await rounds(lifecycle, purge_overdue=timedelta(days=10_000)).enqueue_left_behind() == 0
    assert await rounds(lifecycle).enqueue_left_behind() == 1
    assert await rounds(lifecycle).enqueue_left_behind() == 0, "once"
    assert await jobs(lifecycle, "purge") == [
        {"tenant_id": str(own.scope.tenant_id), "receipt_id": str(forgotten.receipt_id)}
    ]
    await drop_jobs(lifecycle)
    await lifecycle.purge(forgotten)
    assert await rounds(lifecycle).enqueue_left_behind() == 0


async def test_the_rounds_functions_give_away_ids_only_and_delete_nothing_young(lifecycle: LifecycleBench) -> None:
    """What the services' role can do through them, whatever it asks for."""
    await lifecycle.own.remember("Something new", request=None)
    async with await psycopg.AsyncConnection.connect(lifecycle.urls.service) as connection:
        for name, arguments, columns in (
            ("rearview_silent_sessions", "'-1 year', 10", {"tenant_id", "namespace_id", "session_id"}),
            ("rearview_unmerged_namespaces", "'-1 year', 10", {"tenant_id", "namespace_id"}),
            ("rearview_overdue_purges", "'-1 year', 10", {"tenant_id", "receipt_id"}),
        ):
            cursor = await connection.execute(f"SELECT * FROM {name}({arguments})".encode())
            assert {column.name for column in cursor.description or ()} == columns


async def test_a_round_that_fails_is_repeated_and_holds_up_no_other() -> None:
    failures, successes = 0, 0
    ended: list[tuple[str, bool]] = []

    async def fails() -> int:
        nonlocal failures
        failures += 1
        raise Unavailable("away") if failures % 2 else ValueError("a bug")

    async def works() -> int:
        nonlocal successes
        successes += 1
        return 1

    schedule = RoundSchedule(
        [Round("fails", 0.01, fails), Round("works", 0.01, works)],
        on_end=lambda name, well: ended.append((name, well)),
    )
    task = asyncio.create_task(schedule.run())
    await wait_until(lambda: failures >= 3 and successes >= 3, "several rounds of both")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ("fails", False) in ended
    assert ("works", True) in ended
    assert ("works", False) not in ended
