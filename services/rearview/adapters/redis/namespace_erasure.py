"""Erasing from Redis all that is of one namespace, or of one tenant."""

from collections.abc import Mapping
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.access_keys import AccessKeys, access_field
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.adapters.redis.handed_out import handed_out_key
from rearview.adapters.redis.working_memory import note_key, turns_key
from rearview.ports.working_memory import SessionKey

_PAGE = 1_000


class RedisNamespaceErasure:
    """The `VolatileNamespaces` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._erasure = RedisErasure(connection)

    async def erase_namespace(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Erase everything; see `VolatileNamespaces.erase_namespace`."""
        every_session = SessionKey(tenant_id, namespace_id, "*")
        keys = AccessKeys.of(tenant_id)
        every_field = access_field(namespace_id, "*")

        async def erase(client: Redis) -> dict[str, int]:
            sessions = 0
            for pattern in (turns_key(every_session), note_key(every_session)):
                async for key in client.scan_iter(pattern, count=_PAGE):
                    sessions += int(await client.delete(key))
            counts = 0
            for hash_key in (keys.counts, keys.times, keys.draining):
                async for field, _ in client.hscan_iter(hash_key, every_field, count=_PAGE):
                    counts += int(await client.hdel(hash_key, field))
            handed_out = int(await client.delete(handed_out_key(tenant_id, namespace_id)))
            return {
                "redis.working_memory": sessions,
                "redis.access_counts": counts,
                "redis.handed_out": handed_out,
            }

        found = await self._connection.call(erase)
        await self._erasure.erase_answers(tenant_id)
        return {place: count for place, count in found.items() if count}

    async def erase_tenant(self, tenant_id: UUID) -> Mapping[str, int]:
        """Erase every key of a tenant: all carry its id as their hash tag; see `VolatileNamespaces.erase_tenant`."""

        async def erase(client: Redis) -> int:
            keys = 0
            async for key in client.scan_iter(f"*{{{tenant_id}}}*", count=_PAGE):
                keys += int(await client.delete(key))
            return keys

        keys = await self._connection.call(erase)
        return {"redis.keys": keys} if keys else {}
