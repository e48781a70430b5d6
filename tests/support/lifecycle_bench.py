"""A lifecycle's parts over real PostgreSQL and Valkey, beside a real writer that made what is to be purged.

- `lifecycle`: two tenants with one namespace each, `LifecycleBench`.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest_asyncio
import redis.asyncio

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.domain.forget import Forget, ForgetMemories, ForgetReceipt, ForgetSession
from rearview.domain.ids import new_id
from rearview.domain.principal import Scope
from rearview.lifecycle.purge import Purger
from rearview.ports.clock import SystemClock
from rearview.writer.app import open_writer
from rearview.writer.config import WriterConfig
from tests.support.hash_embedder import HashEmbedder
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import SetClock, WriterBench, add_namespace

KEEPS_IDS = {"forget_receipt", "tombstone", "audit_record", "unit_change"}
"""What may name a purged thing: receipts, the ledger of tombstones, the audit, and for half an hour what changed."""


@dataclass(frozen=True, slots=True)
class LifecycleBench:
    """`own` and `other` are writers of two tenants on the same database."""

    own: WriterBench
    other: WriterBench
    urls: DatabaseUrls
    redis_url: str
    database: Database
    redis: RedisConnection

    def purger(self, *, batch: int = 3, redis_url: str | None = None) -> Purger:
        """Return a purger with small batches."""
        connection = self.redis if redis_url is None else RedisConnection(redis_url, timeout_seconds=0.1)
        return Purger(PostgresErasure(self.database, batch=batch), RedisErasure(connection), SystemClock())

    async def forget_session(self, session_id: str = "chat", *, at_once: bool = True) -> ForgetReceipt:
        """Forget a whole session of the own tenant."""
        return await self._forget(Forget("notes", ForgetSession(session_id), skip_grace_period=at_once))

    async def forget_memories(self, *memory_ids: UUID) -> ForgetReceipt:
        """Forget memories of the own tenant."""
        return await self._forget(Forget("notes", ForgetMemories(memory_ids), skip_grace_period=True))

    async def purge(self, receipt: ForgetReceipt) -> bool:
        """Purge what a receipt names."""
        return await self.purger().purge(self.own.scope.tenant_id, receipt.receipt_id)

    async def receipt(self, receipt: ForgetReceipt) -> ForgetReceipt:
        """Read a receipt as it stands now."""
        return await self.own.writer.forgetter.receipt(self.own.scope.tenant_id, receipt.receipt_id)

    async def _forget(self, command: Forget) -> ForgetReceipt:
        return await self.own.writer.forgetter.forget(self.own.scope, command)

    async def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row of every table, all columns, as JSON."""
        return await self.own.tables()

    async def tables_with(self, *texts: str) -> set[str]:
        """Return the names of the tables in which one of the texts stands, in any column."""
        return await self.own.tables_with(*texts)

    async def rows_of(self, tenant_id: UUID) -> dict[str, list[str]]:
        """Return all rows of a tenant, by table, for comparison."""
        tables = await self.tables()
        return {
            name: sorted(json.dumps(row, sort_keys=True) for row in rows if row.get("tenant_id") == str(tenant_id))
            for name, rows in tables.items()
        }

    async def redis_values(self) -> dict[str, Any]:
        """Return every key of Valkey with its value."""
        client = redis.asyncio.Redis.from_url(self.redis_url, decode_responses=True)
        try:
            readers: Mapping[Any, Any] = {
                "string": client.get,
                "hash": client.hgetall,
                "set": client.smembers,
                "list": lambda key: client.lrange(key, 0, -1),
            }
            kinds = {key: str(await client.type(key)) async for key in client.scan_iter()}
            # Some may have expired since they were listed.
            return {key: await readers[kind](key) for key, kind in kinds.items() if kind != "none"}
        finally:
            await client.aclose()

    async def redis_keys_with(self, *texts: str) -> set[str]:
        """Return the keys in which, or in whose value, one of the texts stands."""
        values = await self.redis_values()
        return {key for key, value in values.items() if any(text in f"{key} {value}" for text in texts)}


@pytest_asyncio.fixture(loop_scope="session")
async def lifecycle(database: DatabaseUrls, redis_url: str) -> AsyncIterator[LifecycleBench]:
    """Two tenants at work."""
    scopes = [Scope(new_id(), new_id(), "notes", principal="tester") for _ in range(2)]
    for scope in scopes:
        add_namespace(database.superuser, scope)
    config = WriterConfig.model_validate(
        {"database_url": database.service, "redis_url": redis_url, "internal_key": "k" * 32, "listen": "127.0.0.1:0"}
    )
    clock = SetClock()
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(open_writer(config, embedder=HashEmbedder(), clock=clock))
        pool = await stack.enter_async_context(Database(database.service, vectors=False))
        connection = await stack.enter_async_context(RedisConnection(redis_url, timeout_seconds=2.0))
        own, other = (WriterBench(writer, scope, clock, database.superuser) for scope in scopes)
        yield LifecycleBench(own, other, database, redis_url, pool, connection)


def elsewhere(bench: WriterBench, namespace: str) -> WriterBench:
    """Return the bench of another namespace of the same tenant."""
    scope = replace(bench.scope, namespace_id=new_id(), namespace=namespace)
    add_namespace(bench.superuser_url, scope)
    return replace(bench, scope=scope)
