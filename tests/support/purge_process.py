"""A purge in a process of its own, to be killed: `-m tests.support.purge_process URL REDIS TENANT RECEIPT`."""

import asyncio
import sys
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PostgresErasure
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.lifecycle.purge import Purger
from rearview.ports.clock import SystemClock


async def main(url: str, redis_url: str, tenant: str, receipt: str) -> None:
    """Purge, one memory or event a transaction."""
    async with Database(url, vectors=False) as database, RedisConnection(redis_url, timeout_seconds=2.0) as redis:
        purger = Purger(PostgresErasure(database, batch=1), RedisErasure(redis), SystemClock())
        await purger.purge(UUID(tenant), UUID(receipt))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
