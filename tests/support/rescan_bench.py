"""Rescans beside a real writer that made what is to be rewritten, in this process and in processes that may be killed.

`-m tests.support.rescan_bench`, configured as the lifecycle service, forks a process for each line of its input,
`TENANT OPERATION POINT`, which carries the operation out and dies at the point; the answer is how it ended.
"""

import asyncio
import os
import sys
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.adapters.redis.connection import RedisConnection
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.ids import new_id
from rearview.domain.operation import Operation
from rearview.domain.principal import Caller, Role
from rearview.lifecycle.app import open_tiers, rescanning
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.rescan import Rescanner
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.embedder import Embedder
from tests.support.hash_embedder import HashEmbedder
from tests.support.tier_bench import TierBench, environment
from tests.support.writer_fixtures import SetClock


@dataclass(frozen=True, slots=True)
class OneEmbedder:
    """Implements `Embedders` with one model."""

    embedder: Embedder

    def generation(self, model: str) -> EmbeddingGeneration:
        """Return the model's generation, whatever it is called."""
        return self.embedder.generation

    async def of(self, generation_id: str) -> Embedder:
        """Return the model."""
        return self.embedder


@asynccontextmanager
async def open_rescanner(
    config: LifecycleConfig, embedder: Embedder, clock: Clock
) -> AsyncIterator[tuple[Rescanner, PostgresOperations]]:
    """Yield what rewrites, and where its operations stand."""
    async with (
        Database(config.database_url.get_secret_value(), vectors=False) as database,
        RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=10) as redis,
        open_tiers(config, database, clock) as tiers,
    ):
        rescanner = rescanning(config, database, redis, tiers, OneEmbedder(embedder), clock)
        yield rescanner, PostgresOperations(database)


async def set_categories(bench: TierBench, *categories: str, vault: bool = False) -> None:
    """Have the tenant's policy take these out (none stands for the default set), and nothing be rewritten for it."""
    await bench.writing.rows(
        "INSERT INTO tenant_policy (tenant_id, redaction_categories, redaction_vault, version, updated_at)"
        " VALUES (%s, %s, %s, 1, now()) ON CONFLICT (tenant_id) DO UPDATE SET version = tenant_policy.version + 1,"
        " redaction_vault = excluded.redaction_vault, redaction_categories = excluded.redaction_categories",
        bench.writing.scope.tenant_id,
        list(categories),
        vault,
    )


async def begin(bench: TierBench, *, dry_run: bool = False) -> UUID:
    """Begin a rescan; return the operation's id."""
    caller = Caller(bench.writing.scope.tenant_id, "chief", Role.ADMIN)
    async with open_rescanner(bench.config, bench.embedder, bench.writing.clock) as (rescanner, _):
        return (await rescanner.begin(caller, caller.tenant_id or new_id(), dry_run=dry_run)).operation_id


async def carry_out(bench: TierBench, operation_id: UUID) -> Operation:
    """Carry a rescan out to its end; return it."""
    tenant_id = bench.writing.scope.tenant_id
    async with open_rescanner(bench.config, bench.embedder, bench.writing.clock) as (rescanner, operations):
        assert await rescanner.carry_out(tenant_id, await operations.get(tenant_id, operation_id))
        return await operations.get(tenant_id, operation_id)


class KillableRescans:
    """The other end of the process that forks."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, tenant_id: UUID, operation_id: UUID, point: str) -> str:
        """Carry a rescan out in a process that dies at a point; return how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{tenant_id} {operation_id} {point}\n".encode())
        await self._process.stdin.drain()
        return (await self._process.stdout.readline()).decode().strip()


@asynccontextmanager
async def open_killable(bench: TierBench) -> AsyncIterator[KillableRescans]:
    """Yield rescans that may be killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.rescan_bench"),
        env={**os.environ, **environment(bench.config)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield KillableRescans(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _carry_out(tenant: str, operation: str, point: str) -> None:
    given: Mapping[str, Any] = {"fault_point": point}
    config = LifecycleConfig().model_copy(update=given)  # type: ignore[call-arg]  # the environment gives the arguments
    clock = SetClock(SystemClock().now())
    async with open_rescanner(config, HashEmbedder(), clock) as (rescanner, operations):
        await rescanner.carry_out(UUID(tenant), await operations.get(UUID(tenant), UUID(operation)))


def _main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(_carry_out(*line.split()))
            except BaseException:  # noqa: BLE001 -- told to the test
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else f"ended {os.waitstatus_to_exitcode(status)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    _main()
