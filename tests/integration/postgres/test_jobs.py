"""The job queue on a real PostgreSQL: once committed, each job runs, in its lock's order, whoever dies."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import psycopg
import pytest

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue
from rearview.domain.errors import Unavailable
from rearview.lifecycle.jobs import job_handlers as lifecycle_handlers
from rearview.ports.job_queue import JobHandler
from rearview.writer.jobs import job_handlers as writer_handlers
from tests.support.job_worker import QUICK
from tests.support.stack import DatabaseUrls
from tests.support.waiting import wait_until

TENANT = uuid4()


class Jobs:
    """Enqueues and looks, as the services' role."""

    def __init__(self, urls: DatabaseUrls, database: Database) -> None:
        self.urls = urls
        self.database = database

    async def enqueue(
        self, n: object, *, lock: str | None = None, run_at: datetime | None = None, tenant: UUID = TENANT
    ) -> int:
        async with self.database.transaction(tenant) as connection:
            cursor = await connection.execute(
                "SELECT rearview_enqueue('count', %s, %s, %s)",
                [lock, json.dumps({"tenant_id": str(tenant), "n": str(n)}), run_at],
            )
            row = await cursor.fetchone()
        assert row is not None
        return int(row[0])

    async def enqueue_many(self, tenant: UUID, names: Sequence[str]) -> None:
        """Enqueue jobs without locks, in one transaction."""
        async with self.database.transaction(tenant) as connection:
            await connection.execute(
                "SELECT rearview_enqueue('count', NULL, jsonb_build_object('tenant_id', %s::text, 'n', n))"
                " FROM unnest(%s::text[]) AS n",
                [str(tenant), list(names)],
            )
            await connection.execute("SELECT pg_stat_force_next_flush()")

    async def rows(self, query: str) -> list[tuple[object, ...]]:
        async with await psycopg.AsyncConnection.connect(self.urls.superuser, autocommit=True) as connection:
            cursor = await connection.execute(query.encode())
            return await cursor.fetchall()

    async def counts(self) -> dict[object, object]:
        rows = await self.rows("SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY 1")
        return {row[0]: row[1] for row in rows}

    async def is_idle(self) -> bool:
        return not await self.rows("SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing')")

    @asynccontextmanager
    async def worker(
        self, handler: JobHandler, *, policy: JobPolicy = QUICK, concurrency: int = 1
    ) -> AsyncIterator[asyncio.Task[None]]:
        queue = ProcrastinateJobQueue(self.urls.service, policy=policy)
        task = asyncio.create_task(queue.work({"count": handler}, concurrency=concurrency))
        try:
            yield task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


@pytest.fixture
async def jobs(database: DatabaseUrls) -> AsyncIterator[Jobs]:
    async with Database(database.service) as pool:
        yield Jobs(database, pool)


class Recorder:
    """A handler that keeps what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, arguments: Mapping[str, str]) -> None:
        self.seen.append(arguments["n"])


async def test_a_committed_job_runs_and_leaves_nothing(jobs: Jobs) -> None:
    recorder = Recorder()
    await jobs.enqueue(1)
    async with jobs.worker(recorder):
        await jobs.enqueue(2)
        await wait_until(lambda: recorder.seen == ["1", "2"], "both jobs")
        await wait_until(jobs.is_idle, "the queue to be empty")
    assert await jobs.rows("SELECT FROM procrastinate_jobs") == []
    assert await jobs.rows("SELECT FROM procrastinate_events") == []
    assert await jobs.rows("SELECT FROM procrastinate_workers") == []


async def test_a_rolled_back_job_never_was(jobs: Jobs) -> None:
    with contextlib.suppress(RuntimeError):
        async with jobs.database.transaction(TENANT) as connection:
            await connection.execute(
                "SELECT rearview_enqueue('count', NULL, %s)", [json.dumps({"tenant_id": str(TENANT)})]
            )
            raise RuntimeError
    assert await jobs.counts() == {}


async def test_no_transaction_enqueues_for_another_tenant(jobs: Jobs) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with jobs.database.transaction(uuid4()) as connection:
            await connection.execute(
                "SELECT rearview_enqueue('count', NULL, %s)", [json.dumps({"tenant_id": str(TENANT)})]
            )
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        async with jobs.database.transaction(TENANT) as connection:
            await connection.execute("SELECT rearview_enqueue('count', NULL, '[1]')")


async def test_a_job_for_later_waits_and_holds_up_nobody(jobs: Jobs) -> None:
    recorder = Recorder()
    await jobs.enqueue("later", lock="one", run_at=datetime.now(UTC) + timedelta(hours=1))
    await jobs.enqueue("soon", run_at=datetime.now(UTC) + timedelta(seconds=0.3))
    await jobs.enqueue("now", lock="one")
    async with jobs.worker(recorder):
        await wait_until(lambda: recorder.seen == ["now", "soon"], "the jobs that are due")
        await jobs.rows("SELECT pg_sleep(.3)")
    assert recorder.seen == ["now", "soon"]
    assert await jobs.counts() == {"todo": 1}


async def test_tenants_take_turns_however_much_one_of_them_has_queued(jobs: Jobs) -> None:
    busy, other, third = uuid4(), uuid4(), uuid4()
    seen: list[str] = []

    async def handler(arguments: Mapping[str, str]) -> None:
        seen.append(arguments["n"])
        if arguments["n"] == "busy 150":  # far into the backlog
            await jobs.enqueue("late", tenant=third)
            await jobs.enqueue_many(other, [f"also late {n}" for n in range(20)])

    await jobs.enqueue_many(busy, [f"busy {n}" for n in range(300)])
    await jobs.enqueue_many(other, [f"other {n}" for n in range(5)])
    await jobs.enqueue("third", tenant=third)
    async with jobs.worker(handler):
        await wait_until(lambda: len(seen) == 327, "all jobs")
    assert seen[:11] == [
        "busy 0",
        "other 0",
        "third",
        *(f"{who} {n}" for n in range(1, 5) for who in ("busy", "other")),
    ]
    late = seen[seen.index("busy 150") + 1 :]
    assert late.index("late") <= 2
    # The one that was there before is not kept back either: they alternate.
    assert [name.startswith("also") for name in late if name != "late"][:40] == [False, True] * 20
    assert [name for name in seen if name.startswith("busy")] == [f"busy {n}" for n in range(300)]


async def test_a_backlog_is_not_read_to_enqueue_behind_it(jobs: Jobs) -> None:
    async def rows_read() -> int:
        await jobs.rows("SELECT pg_stat_clear_snapshot()")
        ((read,),) = await jobs.rows(
            "SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'procrastinate_jobs')"
            " + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'procrastinate_jobs')"
        )
        return int(str(read))

    other = uuid4()
    await jobs.enqueue_many(other, ["while the queue is empty"] * 10)  # what is planned then must do later, too
    await jobs.enqueue_many(TENANT, [str(n) for n in range(3_000)])
    before = await rows_read()
    await jobs.enqueue_many(other, [str(n) for n in range(50)])
    assert await rows_read() - before < 50 * 20


async def test_a_job_that_becomes_due_takes_its_turn_before_a_backlog(jobs: Jobs) -> None:
    busy, other = uuid4(), uuid4()
    seen: list[str] = []

    async def admitted() -> bool:
        return bool(await jobs.rows("SELECT FROM procrastinate_jobs WHERE args ->> 'n' = 'due' AND priority > -1000"))

    async def handler(arguments: Mapping[str, str]) -> None:
        seen.append(arguments["n"])
        if arguments["n"] == "busy 0":
            await wait_until(admitted, "the job that is due to stand among the others")

    await jobs.enqueue_many(busy, [f"busy {n}" for n in range(50)])
    await jobs.enqueue("due", tenant=other, run_at=datetime.now(UTC) + timedelta(seconds=0.3))
    async with jobs.worker(handler):
        await wait_until(lambda: len(seen) == 51, "all jobs")
    assert seen.index("due") <= 2


async def test_a_job_that_is_tried_again_keeps_its_lock_though_the_queue_has_begun_anew(jobs: Jobs) -> None:
    seen: list[str] = []

    async def handler(arguments: Mapping[str, str]) -> None:
        seen.append(arguments["n"])
        if arguments["n"] == "flaky" and seen.count("flaky") == 1:
            await jobs.enqueue("next", lock="one")
            raise Unavailable("the model does not answer", dependency="model")

    await jobs.enqueue_many(TENANT, [f"before {n}" for n in range(30)])
    await jobs.enqueue("flaky", lock="one")
    async with jobs.worker(handler, policy=replace(QUICK, first_retry_seconds=0.5)):
        await wait_until(lambda: "next" in seen, "the job behind")
    assert seen[30:] == ["flaky", "flaky", "next"]


async def test_each_services_jobs_are_a_queue_of_their_own(jobs: Jobs) -> None:
    handlers = {
        "lifecycle": lifecycle_handlers(*[cast("Any", None)] * 5),
        "writer": writer_handlers(*[cast("Any", None)] * 7),
    }
    for service, of_service in handlers.items():
        for task in of_service:
            assert await jobs.rows(f"SELECT rearview_job_service('{task}')") == [(service,)]


async def test_jobs_of_a_lock_run_one_at_a_time_in_order_under_many_workers(jobs: Jobs) -> None:
    order: dict[str, list[int]] = {}
    running: set[str] = set()
    overlaps: list[str] = []
    parallel: set[int] = set()

    async def handler(arguments: Mapping[str, str]) -> None:
        lock, number = arguments["n"].split("/")
        if lock in running:
            overlaps.append(lock)
        running.add(lock)
        parallel.add(len(running))
        await asyncio.sleep(0.002)
        order.setdefault(lock, []).append(int(number))
        running.discard(lock)

    for number in range(25):
        for lock in "abcde":
            await jobs.enqueue(f"{lock}/{number}", lock=lock)
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(jobs.worker(handler, concurrency=2))
        await wait_until(lambda: sum(map(len, order.values())) == 125, "all jobs")
    assert overlaps == []
    assert order == {lock: list(range(25)) for lock in "abcde"}
    assert max(parallel) > 1


async def test_a_failed_job_is_tried_again_before_later_ones_of_its_lock(jobs: Jobs) -> None:
    seen: list[str] = []

    async def handler(arguments: Mapping[str, str]) -> None:
        seen.append(arguments["n"])
        if seen.count("flaky") < 3 and arguments["n"] == "flaky":
            raise Unavailable("the model does not answer", dependency="model")

    await jobs.enqueue("flaky", lock="one")
    await jobs.enqueue("next", lock="one")
    async with jobs.worker(handler):
        await wait_until(lambda: "next" in seen, "the job behind")
        await wait_until(jobs.is_idle, "the queue to be empty")
    assert seen == ["flaky", "flaky", "flaky", "next"]
    assert await jobs.counts() == {}
    assert await jobs.rows("SELECT FROM job_failure") == []


async def test_after_the_last_attempt_a_job_is_a_dead_letter_without_content(
    jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "李雷的电话 13812345678"

    async def handler(arguments: Mapping[str, str]) -> None:
        raise ValueError(secret)

    with caplog.at_level(logging.DEBUG):
        job = await jobs.enqueue("bad", lock="one")
        await jobs.enqueue("next", lock="one")
        async with jobs.worker(handler):
            await wait_until(jobs.is_idle, "both to fail for good")
    assert await jobs.rows(f"SELECT status::text, attempts FROM procrastinate_jobs WHERE id = {job}") == [("failed", 3)]
    failures = await jobs.rows("SELECT tenant_id, job_id, error FROM job_failure ORDER BY job_id")
    assert [failure[:2] for failure in failures] == [(TENANT, job), (TENANT, job + 1)]
    assert str(failures[0][2]).startswith("ValueError at ")
    logged = "\n".join(caplog.handler.format(record) for record in caplog.records)
    assert "ValueError at " in logged
    for part in (secret, "13812345678", "李雷"):
        assert part not in logged
        assert part not in str(failures)


async def test_domain_errors_are_kept_with_their_reason(jobs: Jobs) -> None:
    async def handler(arguments: Mapping[str, str]) -> None:
        raise ExceptionGroup("several", [Unavailable("Redis does not answer"), KeyError("张伟")])

    await jobs.enqueue("bad")
    async with jobs.worker(handler):
        await wait_until(jobs.is_idle, "the job to fail for good")
    ((error,),) = await jobs.rows("SELECT error FROM job_failure")
    assert error == "DEPENDENCY_UNAVAILABLE: Redis does not answer; KeyError"


async def test_jobs_of_a_killed_worker_are_taken_over(jobs: Jobs) -> None:
    job = await jobs.enqueue("orphan", lock="one")
    await jobs.enqueue("next", lock="one")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.support.job_worker", jobs.urls.service, "count"),
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )
    assert process.stdout is not None
    started = await process.stdout.readline()
    process.kill()
    await process.wait()
    assert started == b"started orphan\n"
    assert await jobs.rows(f"SELECT status::text FROM procrastinate_jobs WHERE id = {job}") == [("doing",)]

    recorder = Recorder()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(jobs.worker(recorder))
        await wait_until(jobs.is_idle, "the jobs to be taken over")
    assert recorder.seen == ["orphan", "next"]


async def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(jobs: Jobs) -> None:
    job = await jobs.enqueue("poison")
    await jobs.rows(f"UPDATE procrastinate_jobs SET status = 'doing', attempts = 2 WHERE id = {job} RETURNING id")
    recorder = Recorder()
    async with jobs.worker(recorder):
        await wait_until(jobs.is_idle, "the job to be given up")
        await wait_until(lambda: _has_failure(jobs), "its failure to be noted")
    assert recorder.seen == []
    assert await jobs.rows("SELECT status::text, attempts FROM procrastinate_jobs") == [("failed", 3)]
    assert await jobs.rows("SELECT error FROM job_failure") == [("the worker died during the last attempt",)]


async def _has_failure(jobs: Jobs) -> bool:
    return bool(await jobs.rows("SELECT FROM job_failure"))


async def test_a_stopping_worker_finishes_what_is_under_way(jobs: Jobs) -> None:
    started, finished = asyncio.Event(), asyncio.Event()

    async def handler(arguments: Mapping[str, str]) -> None:
        started.set()
        await asyncio.sleep(0.5)
        finished.set()

    await jobs.enqueue(1)
    await jobs.enqueue(2)
    async with jobs.worker(handler) as task:
        await started.wait()
        for _ in range(3):  # who cancels again and again does not hurry it
            task.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await task
    assert finished.is_set()
    assert await jobs.rows("SELECT FROM procrastinate_workers") == []
    assert await jobs.counts() == {"todo": 1}


async def test_what_does_not_finish_in_time_goes_back_into_the_queue(jobs: Jobs) -> None:
    started = asyncio.Event()

    async def handler(arguments: Mapping[str, str]) -> None:
        started.set()
        await asyncio.Event().wait()

    await jobs.enqueue("long")
    async with jobs.worker(handler, policy=replace(QUICK, drain_seconds=0.1)):
        await started.wait()
    assert await jobs.counts() == {"todo": 1}

    recorder = Recorder()
    async with jobs.worker(recorder):
        await wait_until(jobs.is_idle, "the job to be done elsewhere")
    assert recorder.seen == ["long"]


async def test_work_goes_on_after_the_connections_were_lost(jobs: Jobs) -> None:
    recorder = Recorder()
    async with jobs.worker(recorder):
        await jobs.enqueue(1)
        await wait_until(lambda: recorder.seen == ["1"], "the first job")
        for _ in range(3):
            await jobs.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rearview-jobs'"
            )
        await jobs.enqueue(2)
        await wait_until(lambda: recorder.seen == ["1", "2"], "the job after the loss")


async def test_notifications_are_listened_to_again_after_their_connection_was_lost(jobs: Jobs) -> None:
    recorder = Recorder()
    async with jobs.worker(recorder, policy=replace(QUICK, poll_seconds=600.0, heartbeat_seconds=600.0)):
        await wait_until(lambda: _listens(jobs), "the listener")
        await jobs.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        await wait_until(lambda: _listens(jobs), "the listener to come back")
        await jobs.enqueue(1)
        await wait_until(lambda: recorder.seen == ["1"], "the job")


async def _listens(jobs: Jobs) -> bool:
    return bool(await jobs.rows("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'"))


async def test_a_worker_ends_though_its_database_hangs(jobs: Jobs) -> None:
    recorder = Recorder()
    async with jobs.worker(recorder, policy=replace(QUICK, drain_seconds=0.1)) as work:
        await jobs.enqueue(1)
        await wait_until(jobs.is_idle, "the first job")
        backends = await jobs.rows("SELECT pid FROM pg_stat_activity WHERE application_name = 'rearview-jobs'")
        assert backends
        for (pid,) in backends:
            os.kill(int(str(pid)), signal.SIGSTOP)
        try:
            await asyncio.sleep(3 * QUICK.poll_seconds)
            work.cancel()
            await asyncio.wait([work], timeout=20)
            assert work.done()
        finally:
            for (pid,) in backends:
                os.kill(int(str(pid)), signal.SIGCONT)
    await jobs.enqueue(2)
    async with jobs.worker(recorder):
        await wait_until(lambda: recorder.seen == ["1", "2"], "the other job")
