"""A job worker in a process of its own, to be killed: `-m tests.support.job_worker URL TASK`.

It says `started <id>` on its output for every job and then never ends.
"""

import asyncio
import sys
from collections.abc import Mapping

from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue

QUICK = JobPolicy(
    max_attempts=3,
    first_retry_seconds=0.02,
    heartbeat_seconds=0.2,
    silent_seconds=1.0,
    poll_seconds=0.1,
    drain_seconds=5.0,
    longest_restart_seconds=0.5,
)


async def main(url: str, task: str) -> None:
    """Work until killed."""

    async def never_end(arguments: Mapping[str, str]) -> None:
        sys.stdout.write(f"started {arguments.get('n', '')}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    await ProcrastinateJobQueue(url, policy=QUICK).work({task: never_end}, concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
