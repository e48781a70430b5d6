"""Counts of accesses in Redis, in one round trip; whoever folds them into the database takes them from there.

Keys carry the tenant as hash tag, so that one tenant's lie in one slot of a cluster. `acc:{tenant}` has the counts and
`acct:{tenant}` the last access in Unix seconds, both by `namespace_id/memory_id`; `acc_tenants` says who has any.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.access_keys import AccessKeys, access_field
from rearview.adapters.redis.connection import RedisConnection

COUNTED_TENANTS = "acc_tenants"


class RedisAccessCounter:
    """The `AccessCounter` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def count(self, tenant_id: UUID, accessed: Mapping[UUID, Collection[UUID]], at: datetime) -> None:
        """Count one access of each memory, given by namespace."""
        keys, moment = AccessKeys.of(tenant_id), f"{at.timestamp():.3f}"
        fields = [access_field(namespace, memory) for namespace, memories in accessed.items() for memory in memories]
        if not fields:
            return

        async def write(client: Redis) -> None:
            async with client.pipeline(transaction=False) as pipeline:
                for field in fields:
                    pipeline.hincrby(keys.counts, field, 1)
                pipeline.hset(keys.times, mapping=dict.fromkeys(fields, moment))
                # Last, so that a tenant found here has its counts already.
                pipeline.sadd(COUNTED_TENANTS, str(tenant_id))
                await pipeline.execute()

        await self._connection.call(write)
