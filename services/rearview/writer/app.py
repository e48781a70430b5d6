"""Builds the writer from its configuration, serves its calls and works on its jobs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import grpc.aio
import structlog

from rearview.adapters.cold.opening import open_cold
from rearview.adapters.extraction.registry import FactSourceSettings, open_fact_source
from rearview.adapters.extraction.rule_fact_source import RuleFactSource
from rearview.adapters.llm.settings import BudgetLimits, LlmSettings
from rearview.adapters.models.deadline_embedder import DeadlineEmbedder
from rearview.adapters.models.measured_embedder import MeasuredEmbedder
from rearview.adapters.models.registry import embedder_settings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.event_log import PostgresEventLog
from rearview.adapters.postgres.fact_histories import PostgresFactHistories
from rearview.adapters.postgres.fact_words import PostgresFactWords
from rearview.adapters.postgres.forgetting import PostgresForgetting
from rearview.adapters.postgres.generations import register_generation
from rearview.adapters.postgres.import_store import PostgresImportStore
from rearview.adapters.postgres.jobs import ProcrastinateJobQueue
from rearview.adapters.postgres.known_statements import PostgresKnownStatements
from rearview.adapters.postgres.memory_store import PostgresMemoryStore
from rearview.adapters.postgres.placeholders import PostgresPlaceholderNumbers
from rearview.adapters.postgres.policies import PostgresPolicyStore, RememberedPolicies
from rearview.adapters.postgres.quotas import QuotaCheck
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.session_index import PostgresSessionIndex
from rearview.adapters.postgres.stale_units import PostgresStaleUnits
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.handed_out import RedisHandedOut
from rearview.adapters.redis.working_memory import RedisWorkingMemory
from rearview.adapters.vault.aes_gcm_sealer import AesGcmSealer
from rearview.domain.errors import Unavailable
from rearview.domain.subject_names import SubjectNames
from rearview.domain.tenancy import Quotas
from rearview.internal.v1 import writer_service_pb2
from rearview.internal.v1.writer_service_pb2_grpc import add_WriterServiceServicer_to_server
from rearview.language.aliases import canonical, common_words, spellings
from rearview.language.analyzer import RuleAnalyzer
from rearview.language.fact_grounds import RuleFactGrounds
from rearview.language.facts import RuleFactExtractor, load_attributes, load_topics
from rearview.language.facts.labels import AttributeLabels
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.near_duplicate import MinHashNearDuplicates
from rearview.language.pii import PatternRedactor
from rearview.language.scripts import languages
from rearview.language.signals import turn_signals
from rearview.language.warm_up import warm_up_analysis
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.embedder import Embedder
from rearview.ports.job_queue import JobHandler
from rearview.ports.tiering import Rehydrator
from rearview.redaction.texts import RedactionParts
from rearview.rpc.interceptors import IdentityInterceptor
from rearview.rpc.service_process import meanwhile, service_process
from rearview.telemetry.job_metrics import observed_jobs
from rearview.telemetry.metrics import Metrics
from rearview.writer.append_events import EventAppender
from rearview.writer.config import WriterConfig
from rearview.writer.confirmation import Confirmations
from rearview.writer.echo_guard import EchoGuard
from rearview.writer.end_session import SessionEnder
from rearview.writer.facts.read_statements import StatementReader
from rearview.writer.facts.restate import FactRestater
from rearview.writer.facts.stated_facts import FactDrafter
from rearview.writer.facts.summarise import HistorySummariser
from rearview.writer.facts.turn_facts import FactMaker
from rearview.writer.facts.undo_supersession import SupersessionUndoer
from rearview.writer.forget import Forgetter
from rearview.writer.imports.import_memories import ImportMemories
from rearview.writer.imports.units import UnitParts
from rearview.writer.index_session import IndexingRules, SessionIndexer
from rearview.writer.jobs import job_handlers
from rearview.writer.merge_fresh_units import UnitMerger
from rearview.writer.merge_schedule import MergeSchedule
from rearview.writer.novelty import NoveltyGate
from rearview.writer.refresh_units import UnitRefresher
from rearview.writer.remember import MemoryKeeper, TextReader
from rearview.writer.servicer import WriterServicer
from rearview.writer.update_memory import MemoryUpdater
from rearview.writer.window_reader import WindowReader
from rearview.writer.write_metrics import CountedRedactor, WriteMetrics

SERVICE = "writer"
SERVED = (writer_service_pb2.DESCRIPTOR.services_by_name["WriterService"].full_name,)
"""The full names of the services of the internal API."""

_RETRY_SECONDS = 0.5
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Writer:
    """The writer's use cases, wired to their adapters."""

    appender: EventAppender
    ender: SessionEnder
    keeper: MemoryKeeper
    updater: MemoryUpdater
    forgetter: Forgetter
    indexer: SessionIndexer
    merger: UnitMerger
    summariser: HistorySummariser
    undoer: SupersessionUndoer
    refresher: UnitRefresher
    restater: FactRestater
    rehydrator: Rehydrator
    importer: ImportMemories

    @property
    def handlers(self) -> Mapping[str, JobHandler]:
        """The jobs that this writer works on, by task."""
        return job_handlers(
            self.indexer,
            self.merger,
            self.forgetter,
            self.summariser,
            self.refresher,
            self.restater,
            self.rehydrator,
        )


@asynccontextmanager
async def open_writer(
    config: WriterConfig,
    *,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    metrics: Metrics | None = None,
) -> AsyncIterator[Writer]:
    """Yield a writer with its connections and model open; closes them in reverse order.

    Calls and jobs have pools of their own, so that indexing never makes an append wait. `embedder` (closed by whoever
    gave it) and `clock` stand in for the configured ones.

    Raises:
        ModelError: the configured embedder cannot be opened.
        EmbeddingGenerationMismatch: vectors of another model are current.
        Unavailable: PostgreSQL did not answer within `start_seconds`.
    """
    clock, metrics = clock or SystemClock(), metrics or Metrics(SERVICE)
    async with AsyncExitStack() as stack:
        url, prepares = config.database_url.get_secret_value(), config.prepared_statements
        calls = await stack.enter_async_context(
            Database(url, max_connections=config.max_connections, vectors=False, prepares=prepares)
        )
        jobs = await stack.enter_async_context(
            Database(
                url,
                max_connections=min(config.max_connections, config.worker_concurrency + 1),
                settings={"plan_cache_mode": "force_custom_plan"},
                vectors=False,
                prepares=prepares,
            )
        )
        redis = await stack.enter_async_context(
            RedisConnection(config.redis_url.get_secret_value(), timeout_seconds=config.redis_seconds)
        )
        for name, pool in (("postgresql", calls), ("postgresql_jobs", jobs), ("redis", redis)):
            metrics.pools.add(name, pool.figures)
        if embedder is None:
            embedder = await asyncio.to_thread(
                open_embedder,
                embedder_settings(config.embedder, config.model_dir, config.embedder_url, config.embedder_bearer),
            )
            stack.push_async_callback(embedder.close)
        embedder = MeasuredEmbedder(DeadlineEmbedder(embedder, longest_seconds=config.embed_seconds), metrics)
        counts = WriteMetrics(metrics)
        units = SearchUnits(await _registered(calls, embedder, config.start_seconds))
        attributes = load_attributes(config.attributes_file)
        topics = load_topics(config.attributes_file)
        extractor = RuleFactExtractor(attributes, topics)
        analyzer, hasher = RuleAnalyzer(extractor), KeywordHashes()
        await asyncio.to_thread(warm_up_analysis, analyzer, clock.now())
        names = AttributeLabels(attributes)
        source = open_fact_source(
            fact_source_settings(config),
            rules=RuleFactSource(extractor),
            grounds=RuleFactGrounds(attributes, topics),
            clock=clock,
        )
        stack.push_async_callback(source.close)
        facts = FactMaker(
            StatementReader(source, ZoneInfo(config.extractor_time_zone)),
            FactDrafter(names, canonical, embedder.generation.generation_id),
            embedder,
            hasher,
            languages,
        )
        redaction = RedactionParts(
            CountedRedactor(PatternRedactor(), metrics),
            RememberedPolicies(PostgresPolicyStore(calls)),
            config.internal_keys.signing,
            AesGcmSealer(config.vault_keys) if config.vault_keys else None,
        )
        cold = await stack.enter_async_context(open_cold(config, calls, clock, keeps_copies=False))
        merges = MergeSchedule()
        working_memory = RedisWorkingMemory(redis, clock)
        handed_out = RedisHandedOut(redis)
        quotas = QuotaCheck(Quotas(max_memories=config.default_max_memories, max_bytes=config.default_max_bytes))
        log = PostgresEventLog(calls, quotas)
        store = PostgresMemoryStore(calls, units, quotas, counts)
        index = PostgresSessionIndex(jobs, units, counts)
        known = PostgresKnownStatements(jobs, units.generation)
        near_duplicates = MinHashNearDuplicates()
        novelty = NoveltyGate(known, embedder, analyzer, near_duplicates, clock)
        remembered = NoveltyGate(
            PostgresKnownStatements(calls, units.generation), embedder, analyzer, near_duplicates, clock
        )
        histories = PostgresFactHistories(calls, units)
        reader = TextReader(embedder, analyzer, hasher, canonical)
        rules = IndexingRules(
            batch_events=config.index_batch_events,
            longest_gap=timedelta(minutes=config.segment_gap_minutes),
            silent_after=timedelta(minutes=config.session_silent_minutes),
        )
        yield Writer(
            appender=EventAppender(log, working_memory, redaction, hasher, turn_signals, clock),
            ender=SessionEnder(log, clock),
            keeper=MemoryKeeper(
                store,
                reader,
                redaction,
                PostgresPlaceholderNumbers(calls),
                cold.rehydrator,
                merges,
                facts,
                remembered,
                clock,
            ),
            updater=MemoryUpdater(store, reader, redaction, cold.rehydrator, facts, clock),
            forgetter=Forgetter(
                PostgresForgetting(calls, units),
                working_memory,
                handed_out,
                redaction,
                cold.rehydrator,
                Confirmations(config.internal_keys.signing),
                SubjectNames(canonical, spellings, common_words()),
                clock,
            ),
            indexer=SessionIndexer(
                index, embedder, analyzer, hasher, EchoGuard(handed_out, clock), novelty, merges, clock, rules, facts
            ),
            merger=UnitMerger(index, batch_units=config.merge_batch_units),
            summariser=HistorySummariser(PostgresFactHistories(jobs, units), names, languages, embedder, hasher, clock),
            undoer=SupersessionUndoer(histories, clock),
            refresher=UnitRefresher(PostgresStaleUnits(jobs, units), embedder, analyzer, hasher, cold.rehydrator),
            restater=FactRestater(
                PostgresFactWords(jobs, units), facts, analyzer, PostgresForgetting(jobs, units), cold.rehydrator, clock
            ),
            rehydrator=cold.rehydrator,
            importer=ImportMemories(
                PostgresImportStore(calls, units, quotas),
                UnitParts(
                    reader,
                    WindowReader(embedder, analyzer, hasher),
                    hasher,
                    languages,
                    embedder.generation.dimension,
                ),
                redaction,
                clock,
            ),
        )


async def run_writer(
    config: WriterConfig,
    *,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    on_started: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve the internal API and work on jobs until SIGTERM, SIGINT or `stop`; then finish what is under way.

    Raises what `open_writer` raises.
    """
    clock = clock or SystemClock()
    stopping = stop or asyncio.Event()
    async with AsyncExitStack() as stack:
        process = stack.enter_context(service_process(SERVICE, config))
        writer = await stack.enter_async_context(
            open_writer(config, embedder=embedder, clock=clock, metrics=process.metrics)
        )
        if config.writer_role != "serve":
            queue = ProcrastinateJobQueue(config.database_url.get_secret_value())
            handlers = observed_jobs(writer.handlers, process.metrics, process.tracing)
            work = queue.work(handlers, concurrency=config.worker_concurrency)
            await stack.enter_async_context(meanwhile(work, stopping))

        def register(server: grpc.aio.Server) -> Sequence[str]:
            if config.writer_role == "work":
                return ()
            servicer = WriterServicer(
                writer.appender,
                writer.ender,
                writer.keeper,
                writer.updater,
                writer.forgetter,
                writer.undoer,
                writer.importer,
                clock,
            )
            add_WriterServiceServicer_to_server(servicer, server)
            return SERVED

        identity = IdentityInterceptor(SERVICE, config.internal_keys)
        await process.serve(register, identity, on_started=on_started, stop=stopping)


def fact_source_settings(config: WriterConfig) -> FactSourceSettings:
    """Return what the configuration says of the source of facts.

    Raises:
        InvalidModelInput: the endpoint cannot be right.
    """
    if config.extractor == "rules" or config.llm_url is None or config.llm_model is None:
        return FactSourceSettings()
    llm = LlmSettings(
        config.llm_url,
        config.llm_model,
        config.llm_api_key.get_secret_value() if config.llm_api_key else None,
        attempt_seconds=config.llm_attempt_seconds,
        total_seconds=config.llm_total_seconds,
        temperature=config.llm_temperature,
        output_limit_field=config.llm_output_limit_field,
        process_budget=BudgetLimits(
            config.llm_calls_per_minute, config.llm_calls_per_day, tokens_per_day=config.llm_tokens_per_day
        ),
        tenant_budget=BudgetLimits(
            calls_per_day=config.llm_tenant_calls_per_day, tokens_per_day=config.llm_tenant_tokens_per_day
        ),
    )
    return FactSourceSettings("openai", llm, config.extractor_policy)


async def _registered(database: Database, embedder: Embedder, start_seconds: float) -> int:
    """Register the embedder's generation; services start in any order, so PostgreSQL is waited for."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + start_seconds
    while True:
        try:
            return await register_generation(database, embedder.generation)
        except Unavailable:
            if loop.time() >= deadline:
                raise
            _log.warning("waiting for postgresql")
            await asyncio.sleep(_RETRY_SECONDS)
