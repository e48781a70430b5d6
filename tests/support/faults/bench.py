"""A gateway, a retriever, a writer and the lifecycle's work over real stores, for any number of tenants."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from minio import Minio
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.adapters.postgres.database import Database
from rearview.adapters.redis.connection import RedisConnection
from rearview.lifecycle.app import (
    AuditSealing,
    Tiers,
    audit_sealing,
    embedders_of,
    job_work,
    open_tiers,
    operation_work,
)
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.operations import OperationWork
from rearview.ports.job_queue import JobHandler
from rearview.telemetry.metrics import Metrics
from rearview.writer.app import Writer, open_writer
from rearview.writer.config import WriterConfig
from tests.support.faults.kill_server import KillServer, open_kill_server
from tests.support.hash_embedder import HashEmbedder
from tests.support.running_gateway import RunningGateway, running_gateway
from tests.support.running_retriever import running_retriever
from tests.support.stack import BucketAddress, DatabaseUrls
from tests.support.tier_bench import environment, lifecycle_config, storage
from tests.support.writer_fixtures import SetClock

_INTERNAL_KEY = "k" * 32
_PATIENT = {"redis_seconds": 30, "s3_seconds": 30}
"""A busy machine is no failure."""


@dataclass(frozen=True, slots=True)
class FaultBench:
    """What all tenants share. `work` and `sealing` are the lifecycle's in this process, which nobody kills; `killer`
    does the same work in processes that die."""

    urls: DatabaseUrls
    bucket: BucketAddress
    objects: Minio
    config: LifecycleConfig
    clock: SetClock
    redis: RedisConnection
    gateway: RunningGateway
    writer: Writer
    tiers: Tiers
    work: Mapping[str, JobHandler]
    operations: OperationWork
    sealing: AuditSealing
    killer: KillServer


@asynccontextmanager
async def open_fault_bench(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress, **settings: Any
) -> AsyncIterator[FaultBench]:
    """Yield a bench over a bucket that keeps versions; `settings` are the lifecycle's."""
    # Ahead of the object store's clock, so that objects without a catalog row are old enough to be swept.
    clock = SetClock(datetime.now(UTC) + timedelta(hours=1))
    config = lifecycle_config(
        database,
        redis_url,
        bucket,
        **{
            "orphan_minutes": 0,
            "audit_key": "a" * 32,
            "erasure_settle_seconds": 0,
            "purge_batch": 1,
            "sweep_step": 2,
            **_PATIENT,
            **settings,
        },
    )
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    plain = {"database_url": database.service, "redis_url": redis_url, "internal_key": _INTERNAL_KEY}
    writer_config = WriterConfig.model_validate({**plain, "listen": "127.0.0.1:0", **storage(bucket), **_PATIENT})
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        writer = await enter(open_writer(writer_config, embedder=HashEmbedder(), clock=clock))
        address = await enter(
            running_retriever(
                *(database, redis_url, _INTERNAL_KEY),
                clock=clock,
                **{**storage(bucket), "s3_seconds": 30},
                recall_seconds=60,
                working_memory_seconds=30,
            )
        )
        gateway = await enter(
            running_gateway(
                database,
                internal_key=_INTERNAL_KEY,
                retriever_address=address,
                clock=clock,
                redis_url=redis_url,
                embed_budget_seconds=60,
            )
        )
        pool = await enter(Database(database.service, vectors=False))
        redis = await enter(RedisConnection(redis_url, timeout_seconds=30))
        tiers = await enter(open_tiers(config, pool, clock))
        sealing = audit_sealing(config, pool, tiers.objects, clock, Metrics("lifecycle"))
        assert sealing is not None
        killer = await enter(open_kill_server(environment(config)))
        work = job_work(config, pool, redis, tiers, embedders_of(config), clock)
        operations = operation_work(config, pool, redis, tiers, embedders_of(config), clock)
        yield FaultBench(
            *(database, bucket, bucket.client(), config, clock, redis, gateway, writer, tiers),
            *(work, operations, sealing, killer),
        )
