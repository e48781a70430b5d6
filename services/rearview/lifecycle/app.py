"""Builds the lifecycle service from its configuration, serves its calls, works on its jobs and goes its rounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import grpc.aio

from rearview.adapters.cold.opening import open_cold
from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.postgres.access_counts import PostgresAccessCounts
from rearview.adapters.postgres.audit_log import PostgresAuditLog
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.dead_letters import PostgresDeadLetters
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.erasure_check import PostgresErasureCheck
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.adapters.postgres.platform_statistics import PostgresPlatformStatistics
from rearview.adapters.postgres.statistics import PostgresStatistics
from rearview.adapters.postgres.tiering import PostgresTiering
from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.adapters.redis.access_counts import RedisAccessCounts
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.internal.v1 import lifecycle_service_pb2
from rearview.internal.v1.lifecycle_service_pb2_grpc import add_LifecycleServiceServicer_to_server
from rearview.lifecycle.cold_moves import ColdMoves, ColdRules
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.drain_access_counts import AccessCountDrain
from rearview.lifecycle.erase_cold import ColdEraser
from rearview.lifecycle.fault_points import FaultPoints
from rearview.lifecycle.jobs import job_handlers
from rearview.lifecycle.measure import PlatformMeasures
from rearview.lifecycle.operations import OperationWork
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.round_schedule import Round, RoundSchedule
from rearview.lifecycle.servicer import LifecycleServicer
from rearview.lifecycle.sweep import MOVES, OnMoved, Sweeper, SweepLimits
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.tiering import Rehydrator, TierStore
from rearview.rpc.interceptors import IdentityInterceptor
from rearview.rpc.service_process import meanwhile, service_process
from rearview.telemetry.job_metrics import observed_jobs
from rearview.telemetry.metrics import Metrics

SERVICE = "lifecycle"
SERVED = (lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"].full_name,)
"""The full names of the services of the internal API."""

_SWEEPS_AT_ONCE = 500


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
        tiers = await stack.enter_async_context(open_tiers(config, work, clock, _moves_metric(process.metrics)))
        for name, pool in (("postgresql", calls), ("postgresql_work", work), ("redis", redis)):
            process.metrics.pools.add(name, pool.figures)
        purger = Purger(PostgresErasure(work, batch=config.purge_batch), RedisErasure(redis), clock, tiers.eraser)
        verifier = PurgeVerifier(PostgresErasureCheck(work), RedisErasure(redis), clock)
        operations = OperationWork(PostgresOperations(work), tiers.store, tiers.sweeper, tiers.rehydrator, clock)
        queue = ProcrastinateJobQueue(url, policy=_job_policy(config))
        handlers = observed_jobs(
            job_handlers(purger, verifier, tiers.sweeper, operations), process.metrics, process.tracing
        )
        await stack.enter_async_context(
            meanwhile(queue.work(handlers, concurrency=config.worker_concurrency), stopping)
        )
        rounds = _rounds(config, work, redis, clock, tiers.store, process.metrics)
        await stack.enter_async_context(meanwhile(rounds.run(), stopping))

        def register(server: grpc.aio.Server) -> Sequence[str]:
            servicer = LifecycleServicer(
                PostgresAuditLog(calls),
                PostgresDeadLetters(calls),
                PostgresStatistics(calls),
                OperationWork(PostgresOperations(calls), tiers.store, tiers.sweeper, tiers.rehydrator, clock),
                clock,
                internal_key.encode(),
            )
            add_LifecycleServiceServicer_to_server(servicer, server)
            return SERVED

        await process.serve(register, IdentityInterceptor(internal_key), on_started=on_started, stop=stopping)


@dataclass(frozen=True, slots=True)
class Tiers:
    """What moves memories between tiers."""

    store: TierStore
    sweeper: Sweeper
    rehydrator: Rehydrator
    eraser: ColdEraser


@asynccontextmanager
async def open_tiers(
    config: LifecycleConfig,
    database: Database,
    clock: Clock,
    on_moved: OnMoved = lambda _name, _count: None,
) -> AsyncIterator[Tiers]:
    """Open object storage and yield what moves memories between tiers."""
    lease = timedelta(seconds=config.lease_seconds)
    faults = FaultPoints(config.fault_point)
    async with open_cold(config, database, clock, keeps_copies=False) as cold:
        store = PostgresTiering(database, lease_length=lease)
        rules = ColdRules(orphan_age=timedelta(minutes=config.orphan_minutes))
        moves = ColdMoves(store, ObjectSegmentStore(cold.objects), clock, rules=rules, faults=faults)
        limits = SweepLimits(run=config.sweep_memories, step=config.sweep_step, lease=lease)
        yield Tiers(
            store,
            Sweeper(store, moves, cold.rehydrator, clock, limits=limits, faults=faults, on_moved=on_moved),
            cold.rehydrator,
            ColdEraser(store, moves, lease=lease),
        )


def _job_policy(config: LifecycleConfig) -> JobPolicy:
    return JobPolicy(max_attempts=config.job_attempts, drain_seconds=config.drain_seconds)


def _moves_metric(metrics: Metrics) -> OnMoved:
    moved = metrics.counter("tier_moves", "Memories that sweeps moved, and what else sweeps did.", ("what",))
    for what in MOVES:
        moved.labels(what)
    return lambda what, count: moved.labels(what).inc(count)


def _rounds(
    config: LifecycleConfig,
    database: Database,
    redis: RedisConnection,
    clock: Clock,
    tiers: TierStore,
    metrics: Metrics,
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
    measures = PlatformMeasures(PostgresPlatformStatistics(database), metrics)
    sweep_age = timedelta(minutes=config.sweep_minutes)
    ended = metrics.counter("rounds", "Rounds that ended, by name and outcome.", ("round", "outcome"))
    schedule = RoundSchedule(
        [
            Round("drain_access_counts", config.drain_counts_seconds, drain.drain),
            Round("measure", config.measure_seconds, measures.measure),
            Round("expire", config.expire_seconds, upkeep.expire),
            Round("enqueue_left_behind", config.upkeep_seconds, upkeep.enqueue_left_behind),
            Round(
                "enqueue_sweeps",
                config.upkeep_seconds,
                lambda: tiers.enqueue_sweeps(age=sweep_age, limit=_SWEEPS_AT_ONCE),
            ),
        ],
        on_end=lambda name, well: ended.labels(name, "ok" if well else "failed").inc(),
    )
    for name in schedule.names:
        ended.labels(name, "ok")
        ended.labels(name, "failed")
    return schedule
