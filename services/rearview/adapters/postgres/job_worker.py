"""procrastinate's worker, woken and watched in our own way."""

import asyncio
import logging
from typing import NoReturn

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import DeleteJobCondition
from procrastinate.worker import Worker

from rearview.adapters.postgres.bounded_connection import BoundedConnection
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.queries import load_queries

_LOG = logging.getLogger(__name__)
APPLICATION_NAME = "rearview-jobs"
_CHANNEL = "rearview_jobs"
_SETTLE_SECONDS = 0.02
_KEEP_ALIVE_SECONDS = 30.0


class JobWorker(Worker):
    """Fetches jobs one by one as it can run them, listens for new ones, and takes over those of dead workers."""

    def __init__(
        self,
        app: App,
        connector: PsycopgConnector,
        database_url: str,
        policy: JobPolicy,
        tasks: frozenset[str],
        concurrency: int,
    ) -> None:
        super().__init__(
            app,
            queues=sorted(tasks),  # a queue is named for its task
            concurrency=concurrency,
            listen_notify=False,
            fetch_job_polling_interval=policy.poll_seconds,
            abort_job_polling_interval=3600.0,  # nobody aborts jobs from outside
            shutdown_graceful_timeout=policy.drain_seconds,
            delete_jobs=DeleteJobCondition.SUCCESSFUL,
            install_signal_handlers=False,
            update_heartbeat_interval=policy.heartbeat_seconds,
            stalled_worker_timeout=policy.silent_seconds,
        )
        self._connector = connector
        self._database_url = database_url
        self._policy = policy
        self._tasks = tasks

    async def _periodic_deferrer(self) -> None:
        """Listen and take over, in the place of the schedule of periodic tasks, of which there are none.

        It must not end: procrastinate watches its side tasks (the heartbeat above all) only until the first of them
        ends. When it fails, the worker stops, and whoever runs it starts another.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._keep_order())

    async def _listen(self) -> NoReturn:
        """Wake up for notifications of our tasks, at most once in `_SETTLE_SECONDS`, however many come."""
        async with await BoundedConnection.connect(
            self._database_url, autocommit=True, connect_timeout=5, application_name=APPLICATION_NAME
        ) as connection:
            await connection.execute(f"LISTEN {_CHANNEL}".encode())
            while True:
                received = {
                    notification.payload
                    async for notification in connection.notifies(timeout=_KEEP_ALIVE_SECONDS, stop_after=1)
                }
                if received & self._tasks:
                    self._new_job_event.set()
                    # A fetch under way while the job was committed has not seen it, and clears the event when it
                    # returns: so ring twice.
                    await asyncio.sleep(_SETTLE_SECONDS)
                    self._new_job_event.set()
                elif not received:
                    await connection.execute("SELECT 1")  # fails when the connection is dead

    async def _keep_order(self) -> NoReturn:
        """Take over what dead workers left, and give what is due by now its turn among the jobs that wait."""
        statements = load_queries("jobs")
        while True:
            orphans = await self._connector.execute_query_all_async(
                statements["take_over"],
                queues=sorted(self._tasks),
                silent_seconds=self._policy.silent_seconds,
                max_attempts=self._policy.max_attempts,
            )
            for orphan in orphans:
                _LOG.warning("job %s[%s] was left by a worker that died", orphan["task_name"], orphan["id"])
                if orphan["dead"]:
                    await note_failure(self._connector, orphan["id"], "the worker died during the last attempt")
            if orphans:
                self._new_job_event.set()
            await self._connector.execute_query_async(statements["admit_due"], queues=sorted(self._tasks))
            await self._connector.execute_query_async(
                statements["forget_silent_workers"], silent_seconds=self._policy.silent_seconds * 3
            )
            await asyncio.sleep(self._policy.heartbeat_seconds)


async def note_failure(connector: PsycopgConnector, job: int, error: str | None) -> None:
    """Keep why a job failed for the list of dead letters; None when it went well after all."""
    await connector.execute_query_async(load_queries("jobs")["note_failure"], job=job, error=error)
