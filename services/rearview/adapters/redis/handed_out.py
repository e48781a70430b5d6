"""What recall handed out lately, in Redis: a sorted set a namespace of hashes of sentences by when they went first.

Keys carry the tenant as hash tag, so that one tenant's lie in one slot of a cluster.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.connection import RedisConnection
from rearview.ports.handed_out import LIFETIME, MAX_HASHES

_LIFETIME_SECONDS = int(LIFETIME.total_seconds())


class RedisHandedOut:
    """The `HandedOut` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def record(
        self, tenant_id: UUID, namespace_ids: Collection[UUID], hashes: Collection[str], at: datetime
    ) -> None:
        """Say that sentences were handed out; see `HandedOut.record`."""
        if not hashes or not namespace_ids:
            return
        moment = at.timestamp()

        async def write(client: Redis) -> None:
            async with client.pipeline(transaction=False) as pipeline:
                for namespace_id in namespace_ids:
                    key = handed_out_key(tenant_id, namespace_id)
                    pipeline.zremrangebyscore(key, "-inf", moment - _LIFETIME_SECONDS)
                    pipeline.zadd(key, dict.fromkeys(hashes, moment), nx=True)
                    pipeline.zremrangebyrank(key, 0, -MAX_HASHES - 1)
                    pipeline.expire(key, _LIFETIME_SECONDS)
                await pipeline.execute()

        await self._connection.call(write)

    async def known(
        self, tenant_id: UUID, namespace_id: UUID, hashes: Collection[str], *, now: datetime
    ) -> dict[str, datetime]:
        """Return which of these were handed out; see `HandedOut.known`."""
        asked = list(hashes)
        if not asked:
            return {}

        async def read(client: Redis) -> list[float | None]:
            scores: list[float | None] = await client.zmscore(handed_out_key(tenant_id, namespace_id), asked)
            return scores

        oldest = now.timestamp() - _LIFETIME_SECONDS
        return {
            one: datetime.fromtimestamp(score, UTC)
            for one, score in zip(asked, await self._connection.call(read), strict=True)
            if score is not None and score >= oldest
        }

    async def clear(self, tenant_id: UUID, namespace_id: UUID) -> None:
        """Forget what was handed out in a namespace."""

        async def delete(client: Redis) -> None:
            await client.delete(handed_out_key(tenant_id, namespace_id))

        await self._connection.call(delete)


def handed_out_key(tenant_id: UUID, namespace_id: UUID) -> str:
    """Return the key of what was handed out in a namespace."""
    return f"ho:{{{tenant_id}}}:{namespace_id}"
