"""Working memory in Redis: a list of turns a session, and a note of what was forgotten of it.

The note makes the order of calls harmless: a turn whose append was acknowledged before a forget, but arrives here
after it, is refused.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.working_turns import turn_of, turn_text
from rearview.domain.event import WorkingTurn
from rearview.ports.clock import Clock
from rearview.ports.working_memory import LIFETIME, MAX_TURNS, SessionKey, WorkingTurns

_LIFETIME_SECONDS = int(LIFETIME.total_seconds())

# KEYS: turns, note. ARGV: lifetime in seconds, most turns, then id, sequence and text of each turn.
_APPEND = """
local floor = tonumber(redis.call('HGET', KEYS[2], 'floor') or '0')
local added = 0
for at = 3, #ARGV, 3 do
  if tonumber(ARGV[at + 1]) > floor and redis.call('HEXISTS', KEYS[2], ARGV[at]) == 0 then
    redis.call('RPUSH', KEYS[1], ARGV[at + 2])
    added = added + 1
  end
end
if added > 0 then
  redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return added
"""

# KEYS and ARGV as for _APPEND, but the lifetime is in milliseconds and only lengthened.
_REFILL = """
local floor = tonumber(redis.call('HGET', KEYS[2], 'floor') or '0')
local held, turns = {}, {}
for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local turn = cjson.decode(text)
  if not held[turn['id']] then
    held[turn['id']] = true
    turns[#turns + 1] = {turn['seq'], text}
  end
end
local added = 0
for at = 3, #ARGV, 3 do
  local sequence = tonumber(ARGV[at + 1])
  if sequence > floor and not held[ARGV[at]] and redis.call('HEXISTS', KEYS[2], ARGV[at]) == 0 then
    turns[#turns + 1] = {sequence, ARGV[at + 2]}
    added = added + 1
  end
end
if added == 0 then return 0 end
table.sort(turns, function(one, other) return one[1] < other[1] end)
local left = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[1]))
redis.call('DEL', KEYS[1])
for at = math.max(1, #turns - tonumber(ARGV[2]) + 1), #turns do redis.call('RPUSH', KEYS[1], turns[at][2]) end
redis.call('PEXPIRE', KEYS[1], left)
return added
"""

# KEYS: turns, note. ARGV: lifetime in seconds, sequence through which all goes, then ids.
_FORGET = """
local floor = math.max(tonumber(redis.call('HGET', KEYS[2], 'floor') or '0'), tonumber(ARGV[2]))
local gone = {}
if floor > 0 then redis.call('HSET', KEYS[2], 'floor', floor) end
for at = 3, #ARGV do
  redis.call('HSET', KEYS[2], ARGV[at], 1)
  gone[ARGV[at]] = true
end
redis.call('EXPIRE', KEYS[2], ARGV[1])
local texts, left = redis.call('LRANGE', KEYS[1], 0, -1), redis.call('PTTL', KEYS[1])
local removed = 0
redis.call('DEL', KEYS[1])
for _, text in ipairs(texts) do
  local turn = cjson.decode(text)
  if gone[turn['id']] or turn['seq'] <= floor then
    removed = removed + 1
  else
    redis.call('RPUSH', KEYS[1], text)
  end
end
if left > 0 then redis.call('PEXPIRE', KEYS[1], left) end
return removed
"""


class RedisWorkingMemory:
    """The `WorkingMemory` port."""

    def __init__(self, connection: RedisConnection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    async def append(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        """Add turns; see `WorkingMemory.append`."""
        await self._run(_APPEND, session, [_LIFETIME_SECONDS, MAX_TURNS, *_fields(turns)])

    async def refill(self, session: SessionKey, turns: Sequence[WorkingTurn]) -> None:
        """Put back turns that were lost; see `WorkingMemory.refill`."""
        written_at = [turn.event.created_at for turn in turns if turn.event.created_at]
        if not written_at:
            return
        left = max(written_at) + LIFETIME - self._clock.now()
        left_milliseconds = int(left.total_seconds() * 1000)
        if left_milliseconds > 0:
            await self._run(_REFILL, session, [left_milliseconds, MAX_TURNS, *_fields(turns)])

    async def last_turns(self, session: SessionKey, count: int) -> WorkingTurns:
        """Return the last turns; see `WorkingMemory.last_turns`."""
        key = turns_key(session)

        async def read(client: Redis) -> list[Any]:
            async with client.pipeline(transaction=True) as pipeline:
                pipeline.lrange(key, 0, -1)
                pipeline.pttl(key)
                return list(await pipeline.execute())

        texts, left_milliseconds = await self._connection.call(read)
        turns = {turn.event.event_id: turn for turn in map(turn_of, texts)}
        ordered = sorted(turns.values(), key=lambda turn: turn.event.sequence)
        expires_at = self._clock.now() + timedelta(milliseconds=left_milliseconds) if left_milliseconds > 0 else None
        return WorkingTurns(tuple(ordered[-count:]), expires_at)

    async def forget(self, session: SessionKey, event_ids: Collection[UUID], *, through_sequence: int = 0) -> None:
        """Drop turns and refuse them from now on; see `WorkingMemory.forget`."""
        ids = [str(event_id) for event_id in event_ids]
        await self._run(_FORGET, session, [_LIFETIME_SECONDS, through_sequence, *ids])

    async def _run(self, script: str, session: SessionKey, arguments: list[str | int]) -> None:
        async def evaluate(client: Redis) -> object:
            # EVAL caches by digest on the server; the script's text is small beside the turns.
            return await client.eval(script, 2, turns_key(session), note_key(session), *arguments)

        await self._connection.call(evaluate)


def _fields(turns: Sequence[WorkingTurn]) -> list[str | int]:
    fields: list[str | int] = []
    for turn in turns[-MAX_TURNS:]:
        fields += [str(turn.event.event_id), turn.event.sequence, turn_text(turn)]
    return fields


def turns_key(session: SessionKey) -> str:
    """Return the key of a session's turns; the hash tag keeps a tenant's keys on one node."""
    return f"wm:{{{session.tenant_id}}}:{session.namespace_id}:{session.session_id}"


def every_turns_key(tenant_id: UUID) -> str:
    """Return the pattern of the keys of all turns of a tenant."""
    return f"wm:{{{tenant_id}}}:*"


def note_key(session: SessionKey) -> str:
    """Return the key of the note of what was forgotten of a session."""
    return f"wmf:{{{session.tenant_id}}}:{session.namespace_id}:{session.session_id}"
