"""Builds the retriever from its configuration and serves it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Literal, cast

import grpc.aio

from rearview.adapters.cold.cold_routes import SegmentRoutes
from rearview.adapters.cold.opening import Cold, open_cold
from rearview.adapters.models.measured_reranker import MeasuredReranker, RerankMetrics
from rearview.adapters.models.registry import RerankerSettings, open_reranker
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.event_reader import PostgresEventReader
from rearview.adapters.postgres.export_reader import PostgresExportReader
from rearview.adapters.postgres.memory_reader import PostgresMemoryReader
from rearview.adapters.postgres.originals import PostgresOriginalStore
from rearview.adapters.postgres.policies import PostgresPolicyStore, RememberedPolicies
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore
from rearview.adapters.postgres.recall_traces import PostgresRecallTraceStore
from rearview.adapters.postgres.session_tail import PostgresSessionTail
from rearview.adapters.postgres.vector_source import PostgresVectorSource
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.handed_out import RedisHandedOut
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.adapters.vault.aes_gcm_sealer import AesGcmSealer
from rearview.adapters.vector_copies.asked_copies import AskedCopies
from rearview.domain.relevance import Floor
from rearview.internal.v1 import retriever_service_pb2
from rearview.internal.v1.retriever_service_pb2_grpc import add_RetrieverServiceServicer_to_server
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.pii import PatternRedactor
from rearview.language.query_reader import LanguageQueryReader
from rearview.language.signals import turn_signals
from rearview.language.warm_up import warm_up_queries
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.recall_store import IndexRecall
from rearview.ports.reranker import Reranker
from rearview.retriever.asked import RecallLimits
from rearview.retriever.cold_reading import TieredMemoryReader
from rearview.retriever.cold_stage import ColdStage
from rearview.retriever.config import RetrieverConfig
from rearview.retriever.export_memories import ExportMemories
from rearview.retriever.get_forget_receipt import GetForgetReceipt
from rearview.retriever.get_memory import GetMemory
from rearview.retriever.get_recall_trace import GetRecallTrace
from rearview.retriever.get_working_memory import GetWorkingMemory
from rearview.retriever.index_sampler import IndexSampler
from rearview.retriever.list_memories import ListMemories
from rearview.retriever.recall import Recall
from rearview.retriever.recall_metrics import CountedTraces
from rearview.retriever.recall_recorder import ACCESSES, HANDED_OUT, TRACE, BackgroundRecorder
from rearview.retriever.recent_turns import LoggedRecentTurns
from rearview.retriever.reranking import RerankStage
from rearview.retriever.reveal_redacted import RevealRedacted
from rearview.retriever.servicer import RetrieverServicer, UseCases
from rearview.rpc.interceptors import IdentityInterceptor
from rearview.rpc.service_process import service_process
from rearview.telemetry.metrics import Metrics

SERVICE = "retriever"
SERVED = (retriever_service_pb2.DESCRIPTOR.services_by_name["RetrieverService"].full_name,)
"""The full names of the services of the internal API."""

RerankerKind = Literal["none", "flag", "cross-encoder"]

_SMALL_POOL = 4
_MEGABYTE = 1_000_000
_SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
_SHARE_OF_REDIS = 0.4  # of the time for working memory; the rest is for the event log, should Redis be away


async def run_retriever(
    config: RetrieverConfig,
    *,
    clock: Clock | None = None,
    reranker: Reranker | None = None,
    on_started: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve the internal API until SIGTERM, SIGINT or `stop`; then drain and close everything in reverse order.

    `reranker` (closed here) stands in for the configured one.

    Raises:
        ModelError: the configured reranker cannot be opened.
        Unavailable: the address cannot be bound.
    """
    clock = clock or SystemClock()
    keys = config.internal_keys
    async with AsyncExitStack() as stack:
        process = stack.enter_context(service_process(SERVICE, config))
        losses = process.metrics.counter(
            "side_effects_lost", "Traces and access counts dropped: queue full, or their store failed.", ("kind",)
        )
        for kind in (TRACE, ACCESSES, HANDED_OUT):
            losses.labels(kind)
        url, prepares = config.database_url.get_secret_value(), config.prepared_statements
        # Recall has connections of its own, so that lists and traces never make it wait.
        recalling = await stack.enter_async_context(
            Database(url, max_connections=config.max_connections, settings=dict(RECALL_SETTINGS), prepares=prepares)
        )
        reading = await stack.enter_async_context(
            Database(url, max_connections=_SMALL_POOL, vectors=False, prepares=prepares)
        )
        reading_vectors = await stack.enter_async_context(
            Database(url, max_connections=2, settings=dict(RECALL_SETTINGS), prepares=prepares)
        )
        copy_metrics = _CopyMetrics(process.metrics)
        copies = await stack.enter_async_context(
            AskedCopies(
                PostgresVectorSource(reading_vectors),
                capacity_bytes=config.vector_copies_megabytes * _MEGABYTE,
                on_change=copy_metrics.changed,
                on_answer=copy_metrics.answered,
            )
        )
        redis = await stack.enter_async_context(
            RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=config.working_memory_seconds)
        )
        pools = process.metrics.pools
        pools.add("postgresql", recalling.figures)
        pools.add("postgresql_reading", reading.figures)
        pools.add("postgresql_sampling", reading_vectors.figures)
        pools.add("redis", redis.figures)
        reranking = RerankMetrics(process.metrics)
        if reranker is None:
            reranker = await asyncio.to_thread(open_reranker, _reranker_settings(config))
        if reranker is not None:
            reranker = MeasuredReranker(reranker, reranking)
            stack.push_async_callback(reranker.close)
        cold = await stack.enter_async_context(open_cold(config, reading, clock))
        reader, hasher = LanguageQueryReader(), KeywordHashes()
        await asyncio.to_thread(warm_up_queries, reader, hasher, clock.now())
        traces = PostgresRecallTraceStore(reading)
        recorder = await stack.enter_async_context(
            BackgroundRecorder(
                CountedTraces(traces, process.metrics),
                RedisAccessCounter(redis),
                RedisHandedOut(redis),
                on_loss=lambda kind: losses.labels(kind).inc(),
                capacity=config.trace_queue,
            )
        )
        sampler = await stack.enter_async_context(
            IndexSampler(
                PostgresRecallStore(reading_vectors, copies),
                interval_seconds=config.index_sample_seconds,
                on_sample=_index_recall_metric(process.metrics),
            )
        )
        use_cases = _use_cases(
            config, clock, recalling, reading, redis, traces, recorder, reranker, sampler, cold, copies, reader, hasher
        )

        def register(server: grpc.aio.Server) -> Sequence[str]:
            add_RetrieverServiceServicer_to_server(RetrieverServicer(use_cases, clock, keys.signing), server)
            return SERVED

        await process.serve(register, IdentityInterceptor(SERVICE, keys), on_started=on_started, stop=stop)


def _index_recall_metric(metrics: Metrics) -> Callable[[IndexRecall], None]:
    compared = metrics.histogram(
        "recall_index_vs_exact",
        "Share of the true nearest units that the vector index found, in sampled recalls.",
        ("k",),
        buckets=_SHARES,
    )

    for k in ("10", "100"):
        compared.labels(k)

    def observe(sample: IndexRecall) -> None:
        compared.labels("10").observe(sample.at_10)
        compared.labels("100").observe(sample.at_100)

    return observe


class _CopyMetrics:
    """What is told of the copies of vectors."""

    def __init__(self, metrics: Metrics) -> None:
        self._held = metrics.gauge("vector_copies", "Namespaces whose vectors are held in memory.")
        self._bytes = metrics.gauge("vector_copies_bytes", "What the copies of vectors take in memory, about.")
        answers = metrics.counter(
            "vector_answers", "Vector searches without filters, by what answers: a copy, or the database.", ("by",)
        )
        self._by_copy, self._by_database = answers.labels("copy"), answers.labels("database")

    def changed(self, copies: int, size: int) -> None:
        self._held.set(copies)
        self._bytes.set(size)

    def answered(self, by_copy: bool) -> None:
        (self._by_copy if by_copy else self._by_database).inc()


def _use_cases(
    config: RetrieverConfig,
    clock: Clock,
    recalling: Database,
    reading: Database,
    redis: RedisConnection,
    traces: PostgresRecallTraceStore,
    recorder: BackgroundRecorder,
    reranker: Reranker | None,
    sampler: IndexSampler,
    cold: Cold,
    copies: AskedCopies,
    reader: LanguageQueryReader,
    hasher: KeywordHashes,
) -> UseCases:
    recent_turns = LoggedRecentTurns(
        RedisWorkingMemory(redis, clock),
        PostgresSessionTail(reading),
        turn_signals,
        clock,
        patience_seconds=config.working_memory_seconds * _SHARE_OF_REDIS,
    )
    memories = TieredMemoryReader(PostgresMemoryReader(reading, clock), cold.rehydrator)
    events = PostgresEventReader(reading)
    store = PostgresRecallStore(recalling, copies)
    return UseCases(
        recall=Recall(
            store=store,
            working_memory=recent_turns,
            reader=reader,
            hasher=hasher,
            redactor=PatternRedactor(),
            policies=RememberedPolicies(PostgresPolicyStore(reading)),
            recorder=recorder,
            clock=clock,
            sampler=sampler,
            reranking=RerankStage(reranker, depth=config.rerank_depth, budget_seconds=config.rerank_seconds)
            if reranker
            else None,
            cold=ColdStage(SegmentRoutes(recalling, cold.reader), cold.rehydrator, store),
            limits=RecallLimits(
                total_seconds=config.recall_seconds,
                working_memory_seconds=config.working_memory_seconds,
                floor=Floor(relevance=config.relevance_floor, vector_z=config.vector_floor),
            ),
        ),
        get_memory=GetMemory(memories, recorder, clock),
        list_memories=ListMemories(memories, reader),
        get_working_memory=GetWorkingMemory(recent_turns, events),
        get_recall_trace=GetRecallTrace(traces),
        get_forget_receipt=GetForgetReceipt(events),
        reveal_redacted=RevealRedacted(
            PostgresOriginalStore(reading),
            AesGcmSealer(config.vault_keys) if config.vault_keys else None,
            PatternRedactor(),
            clock,
        ),
        export_memories=ExportMemories(PostgresExportReader(reading, cold.rehydrator, clock)),
        memories=memories,
        events=events,
    )


def _reranker_settings(config: RetrieverConfig) -> RerankerSettings:
    kind, _, source = config.reranker.partition(":")
    return RerankerSettings(
        kind=cast("RerankerKind", kind),  # the configuration lets no other through
        source=source or None,
    )
