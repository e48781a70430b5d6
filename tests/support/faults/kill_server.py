"""Processes that do the lifecycle's work and may be killed on the way, forked from one that has loaded everything.

`-m tests.support.faults.kill_server`, configured as the lifecycle service: each line of its input is a list of
processes to run side by side, the answer is how each of them ended.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any

from rearview.adapters.postgres.database import Database
from rearview.adapters.redis.connection import RedisConnection
from rearview.domain.errors import Conflict
from rearview.lifecycle.app import audit_sealing, embedders_of, job_work, open_tiers
from rearview.lifecycle.config import LifecycleConfig
from rearview.ports.job_queue import JobHandler
from rearview.telemetry.metrics import Metrics
from tests.support.writer_fixtures import SetClock

_MOST_ATTEMPTS = 600
SEAL = "seal_audit"
"""Named like a job, a round of sealing."""


@dataclass(frozen=True, slots=True)
class Work:
    """Jobs of one process, one after the other, what it takes the time to be, and settings that differ for it."""

    jobs: Sequence[tuple[str, Mapping[str, str]]]
    now: str
    settings: Mapping[str, str]


class KillServer:
    """The other end of such a server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, *works: Work) -> list[str]:
        """Run processes side by side; return how each ended: empty when it came to its end, "killed" when it was
        killed, else what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([asdict(work) for work in works]).encode() + b"\n")
        await self._process.stdin.drain()
        answer = await self._process.stdout.readline()
        assert answer, "the kill server ended"
        ends: list[str] = json.loads(answer)
        return ends


@asynccontextmanager
async def open_kill_server(environment: Mapping[str, str]) -> AsyncIterator[KillServer]:
    """Yield a server whose processes are configured by these variables."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.faults.kill_server"),
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    try:
        yield KillServer(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _work(jobs: Sequence[tuple[str, Mapping[str, str]]], now: str) -> None:
    config = LifecycleConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    clock = SetClock(datetime.fromisoformat(now))
    async with (
        Database(config.database_url.get_secret_value(), vectors=False) as database,
        RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=config.redis_seconds) as redis,
        open_tiers(config, database, clock) as tiers,
    ):
        sealing = audit_sealing(config, database, tiers.objects, clock, Metrics("lifecycle"))
        handlers = job_work(config, database, redis, tiers, embedders_of(config), clock)
        for task, arguments in jobs:
            if task == SEAL:
                assert sealing is not None
                await sealing.sealer.seal()
            else:
                await _tried_again(handlers[task], arguments)


async def _tried_again(handler: JobHandler, arguments: Mapping[str, str]) -> None:
    for _ in range(_MOST_ATTEMPTS - 1):
        try:
            await handler(arguments)
        except Conflict:  # another one holds the lease: the queue would try again
            await asyncio.sleep(0.1)
        else:
            return
    await handler(arguments)


def _fork(work: Mapping[str, Any], said: IO[bytes]) -> int:
    process_id = os.fork()
    if process_id:
        return process_id
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    os.environ.update(work["settings"])
    try:
        asyncio.run(_work(work["jobs"], work["now"]))
    except BaseException:  # noqa: BLE001 -- whatever it was, the parent has to hear of it
        os.write(2, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)


def _end_of(process_id: int, said: IO[bytes]) -> str:
    _, status = os.waitpid(process_id, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return "killed"
    said.seek(0)
    return "" if status == 0 else f"status {status}: {said.read().decode()}"


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        works = json.loads(line)
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in works]
            process_ids = [_fork(work, said) for work, said in zip(works, files, strict=True)]
            ends = [_end_of(process_id, said) for process_id, said in zip(process_ids, files, strict=True)]
        sys.stdout.write(json.dumps(ends) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
