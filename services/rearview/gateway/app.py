"""Builds the gateway from its configuration and serves it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import grpc.aio

from rearview.adapters.jwks.cached_keys import CachedSigningKeys
from rearview.adapters.jwks.sources import open_source
from rearview.adapters.models.configured import configured_settings
from rearview.adapters.models.measured_embedder import MeasuredEmbedder
from rearview.adapters.models.registry import open_embedder
from rearview.adapters.postgres.access_states import PostgresAccessStates
from rearview.adapters.postgres.credentials import PostgresApiKeyStore, PostgresCredentialStore
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.epochs import PostgresEpochs
from rearview.adapters.postgres.namespace_directory import PostgresNamespaceDirectory
from rearview.adapters.postgres.namespace_policies import PostgresNamespacePolicyStore
from rearview.adapters.postgres.namespaces import PostgresNamespaceStore
from rearview.adapters.postgres.policies import PostgresPolicyStore
from rearview.adapters.postgres.tenancy import PostgresTenantStore
from rearview.adapters.redis.answer_cache import RedisAnswerCache
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.rate_limiter import RedisRateLimiter
from rearview.gateway.access_rules import ACCESS_RULES, ServiceName
from rearview.gateway.admission_interceptor import AdmissionInterceptor
from rearview.gateway.all_violations import AllViolations
from rearview.gateway.authenticate import Authenticator
from rearview.gateway.authorize import Authorizer
from rearview.gateway.backend import Backend
from rearview.gateway.busiest_tenants import BusiestTenants
from rearview.gateway.cache.answer_keys import AnswerKeyMaker
from rearview.gateway.cache.cached_recall import CachedRecall, CacheParts
from rearview.gateway.config import GatewayConfig
from rearview.gateway.dependencies import Dependencies, health_probe
from rearview.gateway.display_names import DisplayNames
from rearview.gateway.embed_query import QueryEmbedding
from rearview.gateway.known_parties import KnownParties
from rearview.gateway.lifecycle_servicer import LifecycleServicer
from rearview.gateway.limits.rate_limits import RateLimits
from rearview.gateway.memory_servicer import MemoryServicer
from rearview.gateway.namespace_servicer import NamespaceServicer
from rearview.gateway.tenant_servicer import TenantServicer
from rearview.gateway.tokens.claims import ClaimNames
from rearview.gateway.tokens.config import names_in
from rearview.gateway.tokens.verify_token import TokenVerifier
from rearview.internal.v1.lifecycle_service_pb2_grpc import LifecycleServiceStub
from rearview.internal.v1.retriever_service_pb2_grpc import RetrieverServiceStub
from rearview.internal.v1.writer_service_pb2_grpc import WriterServiceStub
from rearview.language.canonical_text import LexiconCanonicaliser
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.pii import PatternRedactor
from rearview.language.query_reader import LanguageQueryReader
from rearview.ports.clock import Clock, SystemClock
from rearview.ports.embedder import Embedder
from rearview.rpc.certificates import CertificateFiles
from rearview.rpc.service_channel import ServiceChannel
from rearview.rpc.service_process import service_process
from rearview.telemetry.metrics import Metrics
from rearview.v1 import lifecycle_pb2, memory_service_pb2, namespace_pb2, tenant_pb2
from rearview.v1.lifecycle_pb2_grpc import add_LifecycleServiceServicer_to_server
from rearview.v1.memory_service_pb2_grpc import add_MemoryServiceServicer_to_server
from rearview.v1.namespace_pb2_grpc import add_NamespaceServiceServicer_to_server
from rearview.v1.tenant_pb2_grpc import add_TenantServiceServicer_to_server

SERVICE = "gateway"
SERVED = tuple(
    descriptor.full_name
    for descriptor in (
        memory_service_pb2.DESCRIPTOR.services_by_name["MemoryService"],
        namespace_pb2.DESCRIPTOR.services_by_name["NamespaceService"],
        tenant_pb2.DESCRIPTOR.services_by_name["TenantService"],
        lifecycle_pb2.DESCRIPTOR.services_by_name["LifecycleService"],
    )
)
"""The full names of the services of the public API."""


async def _open_redis(config: GatewayConfig, metrics: Metrics, stack: AsyncExitStack) -> RedisConnection | None:
    if config.redis_url is None:
        return None
    redis = await stack.enter_async_context(RedisConnection(config.redis_url.get_secret_value(), decode=False))
    metrics.pools.add("redis", redis.figures)
    return redis


def _cache_of(
    config: GatewayConfig,
    redis: RedisConnection | None,
    database: Database,
    model: Embedder,
    embedding: QueryEmbedding,
    clock: Clock,
    metrics: Metrics,
) -> CachedRecall | None:
    if redis is None or config.cache_seconds == 0:
        return None
    generation, canonicaliser = model.generation, LexiconCanonicaliser()
    canonicaliser.canonical("rearview 记忆")  # reads the lexicon; no caller should wait for it
    return CachedRecall(
        CacheParts(
            answers=RedisAnswerCache(redis, max_entries=config.cache_max_entries),
            epochs=PostgresEpochs(database, generation.dimension),
            canonicaliser=canonicaliser,
            reader=LanguageQueryReader(),
            hasher=KeywordHashes(),
            redactor=PatternRedactor(),
        ),
        embedding,
        AnswerKeyMaker(
            config.internal_keys.signing,
            generation_id=generation.generation_id,
            lexicon_version=canonicaliser.version,
        ),
        clock,
        metrics,
        cosine=generation.thresholds.cache_cosine if config.cache_cosine is None else config.cache_cosine,
        lifetime=timedelta(seconds=config.cache_seconds),
    )


async def _open_embedders(config: GatewayConfig) -> list[Embedder]:
    """Open the configured models, that of new vectors first: a query is embedded by each."""
    settings = configured_settings(
        config.embedder, config.next_embedder, config.model_dir, config.embedder_url, config.embedder_bearer
    )
    return [await asyncio.to_thread(open_embedder, each) for each in settings.values()]


def _services_certificates(config: GatewayConfig) -> CertificateFiles | None:
    if config.services_cert_file is None or config.services_key_file is None:
        return None
    return CertificateFiles(config.services_cert_file, config.services_key_file, config.services_ca_file)


async def _open_tokens(
    config: GatewayConfig, clock: Clock, metrics: Metrics, stack: AsyncExitStack
) -> TokenVerifier | None:
    if config.jwt_issuer is None or config.jwt_audience is None or config.jwt_keys is None:
        return None
    reads = metrics.counter("token_key_reads", "Readings of the keys that tokens are checked with.", ("outcome",))
    keys = CachedSigningKeys(
        await stack.enter_async_context(open_source(config.jwt_keys, config.jwt_keys_ca_file)),
        refresh_seconds=config.jwt_refresh_seconds,
        retry_seconds=config.jwt_retry_seconds,
        on_refresh=lambda outcome: reads.labels(outcome).inc(),
    )
    stack.push_async_callback(keys.close)
    return TokenVerifier(
        keys,
        clock,
        issuer=config.jwt_issuer,
        audience=config.jwt_audience,
        algorithms=names_in(config.jwt_algorithms),
        leeway_seconds=config.jwt_leeway_seconds,
        longest_seconds=config.jwt_longest_seconds,
        names=ClaimNames(
            config.jwt_principal_claim,
            config.jwt_tenant_claim,
            config.jwt_roles_claim,
            config.jwt_namespaces_claim,
            config.jwt_grants_claim,
        ),
    )


async def run_gateway(
    config: GatewayConfig,
    *,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    on_started: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve the public API until SIGTERM, SIGINT or `stop`; then drain and close everything in reverse order.

    `embedder` (closed here) and `clock` stand in for the configured ones. `on_started` is told the port.

    Raises:
        ModelError: the configured embedder cannot be opened.
        Unavailable: the address cannot be bound.
    """
    clock = clock or SystemClock()
    keys = config.internal_keys
    async with AsyncExitStack() as stack:
        process = stack.enter_context(service_process(SERVICE, config))
        # Neither waits for PostgreSQL: the services of a stack may start in any order, and health tells.
        database = await stack.enter_async_context(
            Database(
                config.database_url.get_secret_value(),
                max_connections=config.max_connections,
                vectors=False,
                prepares=config.prepared_statements,
            )
        )
        operator_database = await stack.enter_async_context(
            Database(
                config.operator_database_url.get_secret_value(),
                max_connections=2,
                vectors=False,
                prepares=config.prepared_statements,
            )
        )
        process.metrics.pools.add("postgresql", database.figures)
        process.metrics.pools.add("postgresql_operator", operator_database.figures)
        channels: dict[ServiceName, grpc.aio.Channel] = {
            name: await stack.enter_async_context(ServiceChannel(address, _services_certificates(config)))
            for name, address in (
                (ServiceName.WRITER, config.writer_address),
                (ServiceName.RETRIEVER, config.retriever_address),
                (ServiceName.LIFECYCLE, config.lifecycle_address),
            )
        }
        first, *others = [embedder] if embedder is not None else await _open_embedders(config)
        models: list[Embedder] = [MeasuredEmbedder(first, process.metrics), *others]
        for model in models:
            stack.push_async_callback(model.close)
            await model.embed_query("rearview")  # the first run is slow; no caller should wait for it
        embedding = QueryEmbedding(
            models, process.metrics, budget_seconds=config.embed_budget_seconds, max_pending=config.embed_max_pending
        )
        stack.push_async_callback(embedding.close)

        redis = await _open_redis(config, process.metrics, stack)
        cache = _cache_of(config, redis, database, models[0], embedding, clock, process.metrics)
        tokens = await _open_tokens(config, clock, process.metrics, stack)
        operator_key = config.operator_key.get_secret_value() if config.operator_key else None
        authorizer = Authorizer(
            Authenticator(
                PostgresCredentialStore(database), PostgresAccessStates(database), operator_key, clock, tokens
            ),
            PostgresNamespaceDirectory(database),
            ACCESS_RULES,
            AllViolations(clock),
        )
        namespaces = PostgresNamespaceStore(database)
        display_names = DisplayNames(PatternRedactor())
        page_key = keys.signing
        backends = {name: Backend(name.value, keys) for name in channels}

        def register(server: grpc.aio.Server) -> Sequence[str]:
            add_MemoryServiceServicer_to_server(
                MemoryServicer(
                    authorizer,
                    backends[ServiceName.WRITER],
                    WriterServiceStub(channels[ServiceName.WRITER]),
                    backends[ServiceName.RETRIEVER],
                    RetrieverServiceStub(channels[ServiceName.RETRIEVER]),
                    embedding,
                    clock,
                    cache,
                ),
                server,
            )
            add_NamespaceServiceServicer_to_server(
                NamespaceServicer(
                    authorizer, namespaces, display_names, PostgresNamespacePolicyStore(database), clock, page_key
                ),
                server,
            )
            add_TenantServiceServicer_to_server(
                TenantServicer(
                    authorizer,
                    PostgresTenantStore(operator_database),
                    PostgresApiKeyStore(database),
                    display_names,
                    PostgresPolicyStore(database),
                    clock,
                    page_key,
                    has_vault=bool(config.vault_keys),
                ),
                server,
            )
            add_LifecycleServiceServicer_to_server(
                LifecycleServicer(
                    authorizer,
                    backends[ServiceName.LIFECYCLE],
                    LifecycleServiceStub(channels[ServiceName.LIFECYCLE]),
                ),
                server,
            )
            return SERVED

        dependencies = Dependencies(
            needed={"postgresql": database.ping},
            behind={name.value: health_probe(channel) for name, channel in channels.items()},
            metrics=process.metrics,
        )
        rates = RateLimits(
            None if redis is None else RedisRateLimiter(redis),
            process.metrics,
            default_requests_per_second=config.default_requests_per_second,
            burst_seconds=config.rate_burst_seconds,
        )
        admission = AdmissionInterceptor(authorizer, BusiestTenants(process.metrics), rates, KnownParties())
        await process.serve(
            register,
            admission,
            party_of=admission.party_of,
            on_started=on_started,
            stop=stop,
            readiness=dependencies.ready,
        )
