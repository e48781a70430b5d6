"""Builds the lifecycle service from its configuration, serves its calls, works on its jobs and goes its rounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import grpc.aio

from rearview.adapters.cold.erased_segments import SegmentErasureCheck
from rearview.adapters.cold.opening import open_cold
from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.models.configured import ConfiguredEmbedders, configured_settings
from rearview.adapters.postgres.access_counts import PostgresAccessCounts
from rearview.adapters.postgres.audit_log import PostgresAuditLog
from rearview.adapters.postgres.audit_seals import PostgresAuditSeals
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.dead_letters import PostgresDeadLetters
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.postgres.erasure_check import PostgresErasureCheck
from rearview.adapters.postgres.expiry import PostgresExpiry
from rearview.adapters.postgres.job_policy import JobPolicy
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue
from rearview.adapters.postgres.ledger_replay import PostgresLedgerReplay
from rearview.adapters.postgres.legal_holds import PostgresLegalHolds
from rearview.adapters.postgres.namespace_erasure import PostgresNamespaceErasure
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.adapters.postgres.platform_statistics import PostgresPlatformStatistics
from rearview.adapters.postgres.policies import PostgresPolicyStore, RememberedPolicies
from rearview.adapters.postgres.reembedding import PostgresReembedding
from rearview.adapters.postgres.rescan import PostgresRescan
from rearview.adapters.postgres.statistics import PostgresStatistics
from rearview.adapters.postgres.tenant_erasure import PostgresTenantErasure
from rearview.adapters.postgres.tiering import PostgresTiering
from rearview.adapters.postgres.upkeep import PostgresUpkeep
from rearview.adapters.redis.access_counts import RedisAccessCounts
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.adapters.redis.namespace_erasure import RedisNamespaceErasure
from rearview.adapters.redis.working_texts import RedisWorkingTexts
from rearview.adapters.s3.audit_anchors import ObjectAuditAnchors
from rearview.adapters.vault.aes_gcm_sealer import AesGcmSealer
from rearview.domain.audit_seal import AuditKey
from rearview.domain.subject_names import SubjectNames
from rearview.internal.v1 import lifecycle_service_pb2
from rearview.internal.v1.lifecycle_service_pb2_grpc import add_LifecycleServiceServicer_to_server
from rearview.language.aliases import canonical, common_words, spellings
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.near_duplicate import MinHashNearDuplicates
from rearview.language.pii import PatternRedactor
from rearview.language.scripts import languages
from rearview.lifecycle.cold_moves import ColdMoves, ColdRules
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.drain_access_counts import AccessCountDrain
from rearview.lifecycle.erase_cold import ColdEraser
from rearview.lifecycle.erase_namespace import NamespaceEraser
from rearview.lifecycle.erase_tenant import TenantEraser
from rearview.lifecycle.expire import Expirer
from rearview.lifecycle.fault_points import FaultPoints
from rearview.lifecycle.jobs import job_handlers
from rearview.lifecycle.legal_holds import LegalHolds
from rearview.lifecycle.measure import PlatformMeasures
from rearview.lifecycle.operations import OperationWork
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.reembed import Reembedder, ReembedRules
from rearview.lifecycle.replay_ledger import LedgerReplayer
from rearview.lifecycle.rescan import Rescanner
from rearview.lifecycle.rescan_metrics import rewritten_metric
from rearview.lifecycle.rescan_pass import RescanParts, RescanRules
from rearview.lifecycle.round_schedule import Round, RoundSchedule
from rearview.lifecycle.seal_audit import AuditSealer, SealRules
from rearview.lifecycle.servicer import LifecycleServicer
from rearview.lifecycle.sweep import MOVES, OnMoved, Sweeper, SweepLimits
from rearview.lifecycle.unit_vectors import UnitVectors
from rearview.lifecycle.upkeep import UpkeepRounds, UpkeepRules
from rearview.lifecycle.verify_audit import AuditVerifier
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.cold_store import ColdObjects
from rearview.ports.embedders import Embedders
from rearview.ports.erasure import ObjectErasureCheck
from rearview.ports.job_queue import JobHandler
from rearview.ports.tiering import Rehydrator, TierStore
from rearview.redaction.texts import RedactionParts
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
    keys = config.internal_keys
    async with AsyncExitStack() as stack:
        process = stack.enter_context(service_process(SERVICE, config))
        url, prepares = config.database_url.get_secret_value(), config.prepared_statements
        calls = await stack.enter_async_context(
            Database(url, max_connections=config.max_connections, vectors=False, prepares=prepares)
        )
        work = await stack.enter_async_context(
            Database(url, max_connections=config.max_connections, vectors=False, prepares=prepares)
        )
        redis = await stack.enter_async_context(
            RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=config.redis_seconds)
        )
        tiers = await stack.enter_async_context(open_tiers(config, work, clock, _moves_metric(process.metrics)))
        for name, pool in (("postgresql", calls), ("postgresql_work", work), ("redis", redis)):
            process.metrics.pools.add(name, pool.figures)
        embedders = embedders_of(config)
        stack.push_async_callback(embedders.close)
        reembedder = reembedding(config, work, tiers, embedders, clock)
        queue = ProcrastinateJobQueue(url, policy=_job_policy(config))
        handlers = observed_jobs(
            job_work(config, work, redis, tiers, embedders, clock, process.metrics), process.metrics, process.tracing
        )
        await stack.enter_async_context(
            meanwhile(queue.work(handlers, concurrency=config.worker_concurrency), stopping)
        )
        sealing = audit_sealing(config, work, tiers.objects, clock, process.metrics)
        rounds = _rounds(config, work, redis, clock, tiers.store, process.metrics, sealing, reembedder)
        await stack.enter_async_context(meanwhile(rounds.run(), stopping))

        def register(server: grpc.aio.Server) -> Sequence[str]:
            servicer = LifecycleServicer(
                PostgresAuditLog(calls),
                PostgresDeadLetters(calls),
                PostgresStatistics(calls),
                operation_work(config, calls, redis, tiers, embedders, clock),
                LegalHolds(
                    PostgresLegalHolds(calls),
                    PatternRedactor(),
                    RememberedPolicies(PostgresPolicyStore(calls)),
                    SubjectNames(canonical, spellings, common_words()),
                    clock,
                ),
                clock,
                keys.signing,
                sealing.verifier if sealing else None,
            )
            add_LifecycleServiceServicer_to_server(servicer, server)
            return SERVED

        await process.serve(register, IdentityInterceptor(SERVICE, keys), on_started=on_started, stop=stopping)


@dataclass(frozen=True, slots=True)
class Tiers:
    """What moves memories between tiers."""

    store: TierStore
    moves: ColdMoves
    sweeper: Sweeper
    rehydrator: Rehydrator
    eraser: ColdEraser
    erasure_check: ObjectErasureCheck
    objects: ColdObjects
    expirer: Expirer


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
    async with open_cold(config, database, clock, keeps_copies=False, on_step=faults.reach) as cold:
        store = PostgresTiering(database, lease_length=lease)
        rules = ColdRules(orphan_age=timedelta(minutes=config.orphan_minutes))
        segments = ObjectSegmentStore(cold.objects)
        moves = ColdMoves(store, segments, clock, rules=rules, faults=faults)
        expirer = Expirer(PostgresExpiry(database), clock, step=config.sweep_step, faults=faults)
        limits = SweepLimits(run=config.sweep_memories, step=config.sweep_step, lease=lease)
        yield Tiers(
            store,
            moves,
            Sweeper(store, moves, expirer, cold.rehydrator, clock, limits=limits, faults=faults, on_moved=on_moved),
            cold.rehydrator,
            ColdEraser(store, moves, lease=lease),
            SegmentErasureCheck(store, segments, cold.objects),
            cold.objects,
            expirer,
        )


@asynccontextmanager
async def open_replayer(config: LifecycleConfig, owner_url: str) -> AsyncIterator[LedgerReplayer]:
    """Open the stores and yield what replays a tombstone ledger; `owner_url` is of the database's owner."""
    clock = SystemClock()
    async with (
        Database(owner_url, max_connections=2, prepares=config.prepared_statements) as database,
        open_tiers(config, database, clock) as tiers,
    ):
        yield LedgerReplayer(PostgresLedgerReplay(database), tiers.rehydrator, clock)


def job_work(
    config: LifecycleConfig,
    database: Database,
    redis: RedisConnection,
    tiers: Tiers,
    embedders: Embedders,
    clock: Clock,
    metrics: Metrics | None = None,
) -> Mapping[str, JobHandler]:
    """Return the handlers of the lifecycle's jobs, by task."""
    faults = FaultPoints(config.fault_point)
    erasure = PostgresErasure(database, batch=config.purge_batch, on_step=faults.reach)
    return job_handlers(
        Purger(erasure, RedisErasure(redis), clock, tiers.eraser, faults=faults),
        PurgeVerifier(PostgresErasureCheck(database), RedisErasure(redis), tiers.erasure_check, clock, faults=faults),
        tiers.sweeper,
        operation_work(config, database, redis, tiers, embedders, clock, metrics),
        tenant_eraser(config, database, redis, tiers, clock),
    )


def operation_work(
    config: LifecycleConfig,
    database: Database,
    redis: RedisConnection,
    tiers: Tiers,
    embedders: Embedders,
    clock: Clock,
    metrics: Metrics | None = None,
) -> OperationWork:
    """Return what begins operations and carries them out."""
    eraser = namespace_eraser(config, database, redis, tiers, clock)
    return OperationWork(
        PostgresOperations(database),
        tiers.store,
        tiers.sweeper,
        tiers.rehydrator,
        eraser,
        reembedding(config, database, tiers, embedders, clock),
        rescanning(config, database, redis, tiers, embedders, clock, metrics),
        clock,
    )


def embedders_of(config: LifecycleConfig) -> ConfiguredEmbedders:
    """Return the configured models; each is opened when it is first asked for."""
    return ConfiguredEmbedders(
        configured_settings(
            config.embedder, config.next_embedder, config.model_dir, config.embedder_url, config.embedder_bearer
        )
    )


def reembedding(
    config: LifecycleConfig, database: Database, tiers: Tiers, embedders: Embedders, clock: Clock
) -> Reembedder:
    """Return what embeds memories anew."""
    return Reembedder(
        PostgresReembedding(database),
        PostgresOperations(database),
        tiers.store,
        tiers.moves,
        embedders,
        UnitVectors(languages),
        clock,
        rules=ReembedRules(step=config.reembed_units, lease=timedelta(seconds=config.lease_seconds)),
        faults=FaultPoints(config.fault_point),
    )


def rescanning(
    config: LifecycleConfig,
    database: Database,
    redis: RedisConnection,
    tiers: Tiers,
    embedders: Embedders,
    clock: Clock,
    metrics: Metrics | None = None,
) -> Rescanner:
    """Return what rewrites stored texts by a stricter redaction policy."""
    policies = PostgresPolicyStore(database)
    parts = RescanParts(
        store=PostgresRescan(database),
        operations=PostgresOperations(database),
        tiers=tiers.store,
        moves=tiers.moves,
        segments=ObjectSegmentStore(tiers.objects),
        rehydrator=tiers.rehydrator,
        generations=PostgresReembedding(database),
        embedders=embedders,
        vectors=UnitVectors(languages),
        hasher=KeywordHashes(),
        bands=MinHashNearDuplicates().bands,
        redaction=RedactionParts(
            PatternRedactor(),
            RememberedPolicies(policies),
            config.internal_keys.signing,
            AesGcmSealer(config.vault_keys) if config.vault_keys else None,
        ),
        working=RedisWorkingTexts(redis),
        answers=RedisErasure(redis),
        clock=clock,
        rules=RescanRules(units=config.reembed_units, lease=timedelta(seconds=config.lease_seconds)),
        faults=FaultPoints(config.fault_point),
        on_rewritten=rewritten_metric(metrics),
    )
    return Rescanner(parts, policies, settle=timedelta(seconds=config.erasure_settle_seconds))


def namespace_eraser(
    config: LifecycleConfig, database: Database, redis: RedisConnection, tiers: Tiers, clock: Clock
) -> NamespaceEraser:
    """Return what erases deleted namespaces."""
    return NamespaceEraser(
        PostgresNamespaceErasure(database),
        RedisNamespaceErasure(redis),
        ObjectSegmentStore(tiers.objects),
        tiers.store,
        PostgresOperations(database),
        clock,
        lease=timedelta(seconds=config.lease_seconds),
        settle=timedelta(seconds=config.erasure_settle_seconds),
        faults=FaultPoints(config.fault_point),
    )


def tenant_eraser(
    config: LifecycleConfig, database: Database, redis: RedisConnection, tiers: Tiers, clock: Clock
) -> TenantEraser:
    """Return what erases deleted tenants."""
    return TenantEraser(
        PostgresTenantErasure(database),
        namespace_eraser(config, database, redis, tiers, clock),
        RedisNamespaceErasure(redis),
        ObjectSegmentStore(tiers.objects),
        clock,
        settle=timedelta(seconds=config.erasure_settle_seconds),
        faults=FaultPoints(config.fault_point),
    )


@dataclass(frozen=True, slots=True)
class AuditSealing:
    """What seals the audit log, and what compares it with its seals."""

    sealer: AuditSealer
    verifier: AuditVerifier


def audit_sealing(
    config: LifecycleConfig, database: Database, objects: ColdObjects, clock: Clock, metrics: Metrics
) -> AuditSealing | None:
    """Return what seals the audit log; None without a key."""
    if config.audit_key is None:
        return None
    key = AuditKey(config.audit_key.get_secret_value().encode())
    store, anchors = PostgresAuditSeals(database), ObjectAuditAnchors(objects, key)
    sealed = metrics.counter("audit_records_sealed", "Audit records that were sealed.")
    broken = metrics.counter("audit_seals_broken", "Times that sealing stopped at a seal that is not the platform's.")
    sealer = AuditSealer(
        store,
        anchors,
        key,
        clock,
        rules=SealRules(lag=timedelta(minutes=config.seal_lag_minutes)),
        faults=FaultPoints(config.fault_point),
        on_sealed=sealed.inc,
        on_broken=broken.inc,
    )
    return AuditSealing(sealer, AuditVerifier(store, anchors, key))


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
    sealing: AuditSealing | None,
    reembedder: Reembedder,
) -> RoundSchedule:
    drain = AccessCountDrain(RedisAccessCounts(redis), PostgresAccessCounts(database))
    upkeep = UpkeepRounds(
        PostgresUpkeep(database, clock),
        UpkeepRules(
            session_silent=timedelta(minutes=config.session_silent_minutes),
            units_unmerged=timedelta(minutes=config.units_unmerged_minutes),
            purge_overdue=timedelta(minutes=config.purge_overdue_minutes),
            generation_kept=timedelta(minutes=config.generation_kept_minutes),
        ),
    )
    measures = PlatformMeasures(PostgresPlatformStatistics(database), metrics)
    sweep_age = timedelta(minutes=config.sweep_minutes)
    ended = metrics.counter("rounds", "Rounds that ended, by name and outcome.", ("round", "outcome"))
    seal = [Round("seal_audit", config.seal_seconds, sealing.sealer.seal)] if sealing else []
    schedule = RoundSchedule(
        [
            *seal,
            Round("drain_access_counts", config.drain_counts_seconds, drain.drain),
            Round("embed_changed", config.reembed_catch_up_seconds, reembedder.catch_up),
            Round("measure", config.measure_seconds, measures.measure),
            Round("expire", config.expire_seconds, upkeep.expire),
            Round("drop_generations", config.expire_seconds, upkeep.drop_generations),
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
