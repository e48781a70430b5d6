"""Builds the lifecycle service from its configuration, serves its calls, works on its jobs and goes its rounds."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import grpc.aio

from rearview.adapters.postgres.access_counts import PostgresAccessCounts
from rearview.adapters.postgres.audit_log import PostgresAuditLog
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.dead_letters import PostgresDeadLetters
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue
from rearview.adapters.postgres.statistics import PostgresStatistics
from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.adapters.redis.access_counts import RedisAccessCounts
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.internal.v1 import lifecycle_service_pb2
from rearview.internal.v1.lifecycle_service_pb2_grpc import add_LifecycleServiceServicer_to_server
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.drain_access_counts import AccessCountDrain
from rearview.lifecycle.jobs import job_handlers
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.round_schedule import Round, RoundSchedule
from rearview.lifecycle.servicer import LifecycleServicer
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.ports.clock import Clock, SystemClock
from rearview.rpc.interceptors import IdentityInterceptor
from rearview.rpc.service_process import meanwhile, service_process
from rearview.telemetry.metrics import Metrics

SERVICE = "lifecycle"
SERVED = (lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"].full_name,)
"""The full names of the services of the internal API."""


async def run_lifecycle(
    config: LifecycleConfig,
    *,
    clock: Clock | None = None,
    on_started: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve the internal API, work on jobs and go rounds until SIGTERM, SIGINT or `stop`; then finish what is under
    way and close everything in reverse order.

    Raises:
        Unavailable: the address cannot be bound.
    """
    clock = clock or SystemClock()
    stopping = stop or asyncio.Event()
    internal_key = config.internal_key.get_secret_value()
    async with AsyncExitStack() as stack:
        process = stack.enter_context(service_process(SERVICE, config))
        url = config.database_url.get_secret_value()
        calls = await stack.enter_async_context(Database(url, max_connections=config.max_connections, vectors=False))
        work = await stack.enter_async_context(Database(url, max_connections=config.max_connections, vectors=False))
        redis = await stack.enter_async_context(
            RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=config.redis_seconds)
        )
        purger = Purger(PostgresErasure(work, batch=config.purge_batch), RedisErasure(redis), clock)
        queue = ProcrastinateJobQueue(url, policy=_job_policy(config))
        jobs = queue.work(job_handlers(purger), concurrency=config.worker_concurrency)
        await stack.enter_async_context(meanwhile(jobs, stopping))
        rounds = _rounds(config, work, redis, clock, process.metrics)
        await stack.enter_async_context(meanwhile(rounds.run(), stopping))

        def register(server: grpc.aio.Server) -> Sequence[str]:
            servicer = LifecycleServicer(
                PostgresAuditLog(calls),
                PostgresDeadLetters(calls),
                PostgresStatistics(calls),
                clock,
                internal_key.encode(),
            )
            add_LifecycleServiceServicer_to_server(servicer, server)
            return SERVED

        await process.serve(register, IdentityInterceptor(internal_key), on_started=on_started, stop=stopping)


def _job_policy(config: LifecycleConfig) -> JobPolicy:
    return JobPolicy(max_attempts=config.job_attempts, drain_seconds=config.drain_seconds)


def _rounds(
    config: LifecycleConfig, database: Database, redis: RedisConnection, clock: Clock, metrics: Metrics
) -> RoundSchedule:
    drain = AccessCountDrain(RedisAccessCounts(redis), PostgresAccessCounts(database))
    upkeep = UpkeepRounds(
        PostgresUpkeep(database, clock),
        UpkeepRules(
            session_silent=timedelta(minutes=config.session_silent_minutes),
            units_unmerged=timedelta(minutes=config.units_unmerged_minutes),
            purge_overdue=timedelta(minutes=config.purge_overdue_minutes),
        ),
    )
    ended = metrics.counter("rounds", "Rounds that ended, by name and outcome.", ("round", "outcome"))
    return RoundSchedule(
        [
            Round("drain_access_counts", config.drain_counts_seconds, drain.drain),
            Round("expire", config.expire_seconds, upkeep.expire),
            Round("enqueue_left_behind", config.upkeep_seconds, upkeep.enqueue_left_behind),
        ],
        on_end=lambda name, well: ended.labels(name, "ok" if well else "failed").inc(),
    )
