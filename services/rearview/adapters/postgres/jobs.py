"""The job queue on procrastinate: jobs that are rows of PostgreSQL."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.jobs import Job
from psycopg_pool import AsyncConnectionPool

from rearview.adapters.postgres.bounded_connection import BoundedConnection
from rearview.adapters.postgres.job_failures import JobFailed, describe
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.job_worker import APPLICATION_NAME, JobWorker, note_failure
from rearview.ports.job_queue import JobHandler

_LOG = logging.getLogger(__name__)

_STOP_SECONDS = 2.0
"""How long a worker whose jobs have ended may take to say so to the database."""

# What a worker says of a job may get lost in a crash of the server: the job then runs once more. And the queue's table
# is empty at one moment and full at the next, so a plan is made anew each time (one made when it was empty reads all of
# 100,000 jobs for every one it fetches), and walks the indexes in order, whatever the statistics say.
_SETTINGS = " -c ".join(
    (
        "-c synchronous_commit=off",
        "plan_cache_mode=force_custom_plan",
        "enable_seqscan=off",
        "enable_bitmapscan=off",
        "enable_sort=off",
        "enable_hashjoin=off",
        "enable_mergejoin=off",
        "jit=off",
    )
)


class ProcrastinateJobQueue:
    """Implements `JobQueue`. One instance serves one `work` at a time; memory does not grow with the queue."""

    def __init__(self, database_url: str, *, policy: JobPolicy | None = None) -> None:
        self._database_url = database_url
        self._policy = policy or JobPolicy()

    async def work(self, handlers: Mapping[str, JobHandler], *, concurrency: int) -> None:
        """Run jobs until cancelled; then finish those under way (`drain_seconds` at most; what is not done by then
        goes back into the queue) and raise CancelledError. Outages of PostgreSQL are waited out."""
        logging.getLogger("procrastinate").setLevel(logging.WARNING)  # it has two lines to say of each job
        stopping = asyncio.Event()
        working = asyncio.create_task(self._work(handlers, concurrency, stopping))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            # The worker is told, not cancelled: a cancellation gets lost while its connections open, and a second one
            # would cut short the jobs under way. It is cancelled, again and again, when it has not ended after all: it
            # then waits for a database that hangs.
            stopping.set()
            loop = asyncio.get_running_loop()
            overdue_at = loop.time() + self._policy.drain_seconds + _STOP_SECONDS
            while not working.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([working], timeout=max(overdue_at - loop.time(), _STOP_SECONDS))
                if not working.done() and loop.time() >= overdue_at:
                    working.cancel()
            raise

    async def _work(self, handlers: Mapping[str, JobHandler], concurrency: int, stopping: asyncio.Event) -> None:
        restarts = 0
        while not stopping.is_set():
            started = asyncio.get_running_loop().time()
            try:
                await self._run(handlers, concurrency, stopping)
                problem = "lost its connection"
            except Exception as error:  # noqa: BLE001 -- whatever happened to one worker, jobs must go on
                problem = describe(error)
            if stopping.is_set():
                return
            if asyncio.get_running_loop().time() - started > self._policy.longest_restart_seconds:
                restarts = 0
            pause = min(self._policy.longest_restart_seconds, 0.25 * 2.0**restarts)
            restarts = min(restarts + 1, 10)
            _LOG.warning("job worker for %s: %s; starts again in %.1f s", ", ".join(handlers), problem, pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), pause)

    async def _run(self, handlers: Mapping[str, JobHandler], concurrency: int, stopping: asyncio.Event) -> None:
        # A pool of our own, because procrastinate leaves its open when it fails while opening.
        async with AsyncConnectionPool(
            self._database_url,
            connection_class=BoundedConnection,
            min_size=1,
            max_size=min(concurrency, 4) + 1,
            timeout=5.0,
            kwargs={
                "application_name": APPLICATION_NAME,
                "connect_timeout": 5,
                "options": _SETTINGS,
            },
            check=AsyncConnectionPool.check_connection,
            open=False,
        ) as pool:
            connector = PsycopgConnector()
            app = App(connector=connector)
            for task, handler in handlers.items():
                register = app.task(name=task, queue=task, pass_context=True, retry=_Retry(self._policy))
                register(_runner(connector, handler))
            async with app.open_async(pool):
                worker = JobWorker(app, connector, self._database_url, self._policy, frozenset(handlers), concurrency)
                watcher = asyncio.create_task(_stop_when(stopping, worker))
                try:
                    await worker.run()  # type: ignore[no-untyped-call]
                finally:
                    watcher.cancel()


async def _stop_when(stopping: asyncio.Event, worker: JobWorker) -> None:
    await stopping.wait()
    worker.stop()  # type: ignore[no-untyped-call]


class _Retry(BaseRetryStrategy):
    def __init__(self, policy: JobPolicy) -> None:
        self._policy = policy

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):  # this worker stops; another one goes on at once
            return RetryDecision(retry_at=datetime.now(UTC))
        attempts = job.attempts + 1
        if attempts >= self._policy.max_attempts:
            return None
        wait = self._policy.retry_delay_seconds(attempts)
        if isinstance(exception, JobFailed) and exception.retry_after_seconds is not None:
            wait = max(wait, exception.retry_after_seconds)
        return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=wait))


def _runner(connector: PsycopgConnector, handler: JobHandler) -> Any:
    async def run(context: JobContext, **arguments: str) -> None:
        job = context.job
        assert job.id is not None  # noqa: S101 -- a fetched job has one
        try:
            await handler(arguments)
        except Exception as error:  # noqa: BLE001 -- handlers may fail in any way
            # The error's own text may quote content, and what is raised here gets into logs.
            failure = JobFailed(describe(error), getattr(error, "retry_after_seconds", None))
            _LOG.warning("job %s[%s], attempt %s: %s", job.task_name, job.id, job.attempts + 1, failure)
            await note_failure(connector, job.id, str(failure))
            raise failure from None
        if job.attempts:
            await note_failure(connector, job.id, None)

    return run
