"""Work that goes on after the answer, in jobs that survive a crash.

Jobs are enqueued by the very transaction that makes them necessary (SQL function `rearview_enqueue`); this is the
consumer's side.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

JobHandler: TypeAlias = Callable[[Mapping[str, str]], Awaitable[None]]


class JobQueue(Protocol):
    """Runs jobs, at least once each; handlers are idempotent."""

    async def work(self, handlers: Mapping[str, JobHandler], *, concurrency: int) -> None:
        """Run jobs of the tasks named in `handlers` until cancelled; then finish those under way and return.

        A handler that raises is tried again with exponential back-off; after the last attempt the job is kept as a
        dead letter. Jobs with one lock run one at a time, in the order in which they were enqueued. Jobs of a worker
        that died are taken over.
        """
        ...
