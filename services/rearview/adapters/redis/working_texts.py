"""The turns that working memory holds of a tenant, looked through session by session."""

from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import every_turns_key
from rearview.adapters.redis.working_turns import turn_of
from rearview.domain.event import Event

_PAGE = 1_000


class RedisWorkingTexts:
    """The `WorkingTexts` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def keys(self, tenant_id: UUID) -> list[str]:
        """Return the keys of all sessions; a session lives there for a day after its last turn."""

        async def scan(client: Redis) -> list[str]:
            return [str(key) async for key in client.scan_iter(every_turns_key(tenant_id), count=_PAGE)]

        return await self._connection.call(scan)

    async def events(self, key: str) -> list[Event]:
        """Return a session's turns."""

        async def read(client: Redis) -> list[str]:
            return [str(text) for text in await client.lrange(key, 0, -1)]

        return [turn_of(text).event for text in await self._connection.call(read)]

    async def drop(self, key: str) -> None:
        """Drop a session's turns; the note of what was forgotten of it stays."""

        async def delete(client: Redis) -> None:
            await client.delete(key)

        await self._connection.call(delete)
