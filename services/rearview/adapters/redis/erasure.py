"""Erasing from Redis what a forget named: turns of working memory and counts of accesses."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.access_keys import AccessKeys, access_field
from rearview.adapters.redis.answer_cache import index_key
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_memory import note_key, turns_key
from rearview.ports.forgetting import ForgottenTurns
from rearview.ports.working_memory import LIFETIME, SessionKey

_ANSWERS_AT_ONCE = 100
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LIFETIME_SECONDS = int(LIFETIME.total_seconds())

# KEYS: turns, note. ARGV: lifetime in seconds, sequence through which all goes (0: none), then ids.
# The note keeps ids in place of the sequence: the session's row is gone, and a new session of its name counts from 1.
_ERASE_TURNS = """
local through = tonumber(ARGV[2])
local gone = {}
if through > 0 then redis.call('HDEL', KEYS[2], 'floor') end
for at = 3, #ARGV do
  redis.call('HSET', KEYS[2], ARGV[at], 1)
  gone[ARGV[at]] = true
end
redis.call('EXPIRE', KEYS[2], ARGV[1])
local removed = 0
for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if gone[cjson.decode(text)['id']] then
    removed = removed + redis.call('LREM', KEYS[1], 0, text)
  end
end
return removed
"""


class RedisErasure:
    """The `VolatileErasure` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def erase_turns(self, turns: Collection[ForgottenTurns]) -> int:
        """Erase turns and refuse them should they arrive late; see `VolatileErasure.erase_turns`."""
        removed = 0
        for forgotten in turns:
            removed += await self._erase_session(forgotten)
        return removed

    async def erase_access_counts(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> int:
        """Erase counts that were not added yet; see `VolatileErasure.erase_access_counts`."""
        fields = [access_field(namespace_id, memory_id) for memory_id in memory_ids]
        if not fields:
            return 0
        keys = AccessKeys.of(tenant_id)

        async def erase(client: Redis) -> list[int]:
            async with client.pipeline(transaction=False) as pipeline:
                for key in (keys.counts, keys.times, keys.draining):
                    pipeline.hdel(key, *fields)
                return [int(count) for count in await pipeline.execute()]

        counts, _, draining = await self._connection.call(erase)
        return counts + draining

    async def left(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> Mapping[str, int]:
        """Return how much of these is still there; see `VolatileErasure.left`. Notes that refuse late turns stay."""
        named = {str(one) for one in ids}
        fields = [access_field(namespace_id, one) for one in ids]
        keys = AccessKeys.of(tenant_id)

        async def look(client: Redis) -> Mapping[str, int]:
            turns = 0
            async for key in client.scan_iter(turns_key(SessionKey(tenant_id, namespace_id, "*")), count=1_000):
                turns += sum(json.loads(text)["id"] in named for text in await client.lrange(key, 0, -1))
            counts = 0
            for hash_key in (keys.counts, keys.times, keys.draining):
                if fields:
                    counts += sum(value is not None for value in await client.hmget(hash_key, fields))
            # A recall that was under way may have kept its answer after the purge, which emptied the cache just now.
            answers = 0
            kept = await client.zrange(index_key(tenant_id), 0, -1)
            packed: Any = client.execute_command  # in bytes, on a connection that answers in text
            for first in range(0, len(kept), _ANSWERS_AT_ONCE):
                part = kept[first : first + _ANSWERS_AT_ONCE]
                for value in await packed("MGET", *part, NEVER_DECODE=True):
                    answers += value is not None and not named.isdisjoint(map(bytes.decode, _ID.findall(value)))
            return {"redis.working_memory": turns, "redis.access_counts": counts, "redis.answers": answers}

        return await self._connection.call(look)

    async def erase_answers(self, tenant_id: UUID) -> int:
        """Erase a tenant's cached answers; see `VolatileErasure.erase_answers`."""

        async def erase(client: Redis) -> int:
            keys = await client.zrange(index_key(tenant_id), 0, -1)
            return int(await client.delete(*keys)) if keys else 0

        return await self._connection.call(erase)

    async def _erase_session(self, forgotten: ForgottenTurns) -> int:
        arguments: list[str | int] = [_LIFETIME_SECONDS, forgotten.through_sequence, *map(str, forgotten.event_ids)]

        async def evaluate(client: Redis) -> object:
            return await client.eval(
                _ERASE_TURNS, 2, turns_key(forgotten.session), note_key(forgotten.session), *arguments
            )

        return int(str(await self._connection.call(evaluate)))
