"""Cached answers in Redis.

Keys carry the tenant as hash tag. `ans:{tenant}:<exact>` holds an answer, `ansm:{tenant}:<meaning>` the exact key of
the answer to a query of that meaning, and `ansi:{tenant}` all answers by the time at which they expire, which bounds
them and lets a purge find them.
"""

import time
from typing import Any
from uuid import UUID

import orjson
from redis.asyncio import Redis

from rearview.adapters.redis.answer_texts import answer_bytes, answer_of
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import turns_key
from rearview.ports.answer_cache import MAX_ANSWER_BYTES, AnswerKeys, CachedAnswer, CacheLook
from rearview.ports.working_memory import SessionKey

# KEYS: index, answer, meaning (or the answer again). ARGV: now, expiry, lifetime in ms, most entries, value.
_KEEP = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], KEYS[2])
if KEYS[3] ~= KEYS[2] then redis.call('SET', KEYS[3], KEYS[2], 'PX', ARGV[3]) end
local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[4])
if over > 0 then
  for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, over - 1)) do
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[1], key)
  end
end
redis.call('PEXPIRE', KEYS[1], 2 * tonumber(ARGV[3]))
"""


class RedisAnswerCache:
    """The `AnswerCache` port. Its connection answers in bytes."""

    def __init__(self, connection: RedisConnection, *, max_entries: int) -> None:
        self._connection = connection
        self._max_entries = max_entries

    async def look(self, tenant_id: UUID, keys: AnswerKeys, session: SessionKey | None) -> CacheLook:
        """Return what is kept; see `AnswerCache.look`."""
        exact_key = _exact_key(tenant_id, keys)
        wanted = [exact_key, *([_meaning_key(tenant_id, keys.meaning)] if keys.meaning else ())]

        async def read(client: Redis) -> tuple[Any, Any, Any]:
            if session is None:
                values, last = await client.mget(wanted), None
            else:
                async with client.pipeline(transaction=False) as pipeline:
                    pipeline.mget(wanted)
                    pipeline.lindex(turns_key(session), -1)
                    values, last = await pipeline.execute()
            similar = None
            if values[0] is None and len(values) > 1 and values[1] is not None:
                similar = await client.get(values[1])
            return values[0], similar, last

        exact, similar, last = await self._connection.call(read)
        return CacheLook(
            exact=None if exact is None else answer_of(exact),
            similar=None if similar is None else answer_of(similar),
            last_turn="" if last is None else str(orjson.loads(last)["id"]),
        )

    async def keep(self, tenant_id: UUID, keys: AnswerKeys, answer: CachedAnswer) -> None:
        """Keep an answer; see `AnswerCache.keep`."""
        value, now = answer_bytes(answer), time.time()
        lifetime_milliseconds = int((answer.expires_at - answer.stored_at).total_seconds() * 1000)
        if len(value) > MAX_ANSWER_BYTES or lifetime_milliseconds <= 0:
            return
        exact_key = _exact_key(tenant_id, keys)
        meaning_key = _meaning_key(tenant_id, keys.meaning) if keys.meaning else exact_key
        arguments = [now, now + lifetime_milliseconds / 1000, lifetime_milliseconds, self._max_entries]

        async def write(client: Redis) -> None:
            await client.eval(_KEEP, 3, index_key(tenant_id), exact_key, meaning_key, *map(str, arguments), value)

        await self._connection.call(write)


def index_key(tenant_id: UUID) -> str:
    """Return the key of a tenant's index of answers."""
    return f"ansi:{{{tenant_id}}}"


def _exact_key(tenant_id: UUID, keys: AnswerKeys) -> str:
    return f"ans:{{{tenant_id}}}:{keys.exact}"


def _meaning_key(tenant_id: UUID, meaning: str) -> str:
    return f"ansm:{{{tenant_id}}}:{meaning}"
