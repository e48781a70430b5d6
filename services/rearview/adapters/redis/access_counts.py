"""Access counts taken out of Redis in batches, each of which stays there until the database has it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.access_counter import COUNTED_TENANTS
from rearview.adapters.redis.access_keys import AccessKeys
from rearview.adapters.redis.connection import RedisConnection
from rearview.ports.access_counts import AccessBatch, AccessCount

_NUMBER = "number"
_KEEP_NUMBER_SECONDS = 30 * 86_400

# KEYS: counts, times, draining, number. ARGV: limit, seconds to keep the number.
# Returns the batch that is set apart; sets one apart if there is none. Its number is the server's time in
# microseconds, or one more than the last.
_TAKE = """
if redis.call('EXISTS', KEYS[3]) == 0 then
  local found = redis.call('HSCAN', KEYS[1], 0, 'COUNT', ARGV[1])[2]
  if #found == 0 then return {} end
  local time = redis.call('TIME')
  local number = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[4]) or '0') + 1)
  local text = string.format('%.0f', number)
  redis.call('SET', KEYS[4], text, 'EX', ARGV[2])
  redis.call('HSET', KEYS[3], 'number', text)
  for at = 1, math.min(#found, 2 * tonumber(ARGV[1])), 2 do
    local field = found[at]
    local last = redis.call('HGET', KEYS[2], field) or ''
    redis.call('HSET', KEYS[3], field, found[at + 1] .. ':' .. last)
    redis.call('HDEL', KEYS[1], field)
    redis.call('HDEL', KEYS[2], field)
  end
end
return redis.call('HGETALL', KEYS[3])
"""

# KEYS: draining. ARGV: number.
_CONFIRM = """
if redis.call('HGET', KEYS[1], 'number') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisAccessCounts:
    """The `AccessCountSource` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def tenants(self) -> AsyncIterator[UUID]:
        """Yield the tenants that may have counts."""
        cursor = 0
        while True:

            async def scan(client: Redis, start: int = cursor) -> Any:
                return await client.sscan(COUNTED_TENANTS, start, count=500)

            cursor, found = await self._connection.call(scan)
            for tenant in found:
                yield UUID(tenant)
            if not cursor:
                return

    async def take(self, tenant_id: UUID, *, limit: int) -> AccessBatch | None:
        """Set counts apart and return them; see `AccessCountSource.take`."""
        keys = AccessKeys.of(tenant_id)

        async def evaluate(client: Redis) -> Any:
            return await client.eval(
                _TAKE, 4, keys.counts, keys.times, keys.draining, keys.number, limit, _KEEP_NUMBER_SECONDS
            )

        flat = await self._connection.call(evaluate)
        fields = dict(zip(flat[::2], flat[1::2], strict=True))
        if not fields:
            await self._leave_out(tenant_id, keys)
            return None
        number = int(fields.pop(_NUMBER))
        return AccessBatch(tenant_id, number, tuple(_count_of(field, value) for field, value in sorted(fields.items())))

    async def confirm(self, batch: AccessBatch) -> None:
        """Drop a batch that the store has added."""
        keys = AccessKeys.of(batch.tenant_id)

        async def evaluate(client: Redis) -> Any:
            return await client.eval(_CONFIRM, 1, keys.draining, str(batch.number))

        await self._connection.call(evaluate)

    async def _leave_out(self, tenant_id: UUID, keys: AccessKeys) -> None:
        async def remove(client: Redis) -> None:
            await client.srem(COUNTED_TENANTS, str(tenant_id))
            # Counts first, then the tenant: who was between the two is put back.
            if await client.exists(keys.counts):
                await client.sadd(COUNTED_TENANTS, str(tenant_id))

        await self._connection.call(remove)


def _count_of(field: str, value: str) -> AccessCount:
    namespace_id, _, memory_id = field.partition("/")
    count, _, last = value.partition(":")
    last_accessed_at = datetime.fromtimestamp(float(last), UTC) if last else None
    return AccessCount(UUID(namespace_id), UUID(memory_id), int(count), last_accessed_at)
