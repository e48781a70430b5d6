"""Token buckets in Redis, shared by all replicas of the gateway.

Keys carry the tenant as hash tag: `rate:{tenant}` is the tenant's bucket, `rate:{tenant}:<key id>` that of a key. Each
is one number, the moment (in microseconds, by the clock of Redis) at which it will be full again, and goes then. The
script does what `domain.token_bucket.take` says, for all buckets of a call at once.
"""

from collections.abc import Sequence
from uuid import UUID

from redis.asyncio import Redis

from rearview.adapters.redis.connection import RedisConnection
from rearview.ports.rate_limiter import Bucket, Refused

# KEYS: buckets. ARGV: for each, tokens a second and tokens of a full bucket. Returns the place (from 1) of the bucket
# that lacks a token for longest, 0 if none does, and the wait in microseconds.
_TAKE = """
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local at, wait, after = 0, 0, {}
for i, key in ipairs(KEYS) do
  local interval = 1000000 / tonumber(ARGV[2 * i - 1])
  local span = interval * tonumber(ARGV[2 * i])
  local full = math.min(math.max(tonumber(redis.call('GET', key) or '0'), now), now + span)
  after[i] = full + interval
  local missing = after[i] - span - now
  if missing > 1 and missing > wait then at, wait = i, missing end
end
if at == 0 then
  for i, key in ipairs(KEYS) do
    redis.call('SET', key, string.format('%.0f', after[i]), 'PX', math.ceil((after[i] - now) / 1000) + 1)
  end
end
return {at, math.ceil(wait)}
"""


class RedisRateLimiter:
    """The `RateLimiter` port."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    async def take(self, tenant_id: UUID, buckets: Sequence[Bucket]) -> Refused | None:
        """Take a token out of every bucket or of none; see `RateLimiter.take`."""
        keys = [f"rate:{{{tenant_id}}}" + (f":{bucket.name}" if bucket.name else "") for bucket in buckets]
        rates = [str(figure) for bucket in buckets for figure in (bucket.rate.per_second, bucket.rate.burst)]

        async def evaluate(client: Redis) -> list[int]:
            return await client.eval(_TAKE, len(keys), *keys, *rates)  # type: ignore[no-any-return]

        at, wait_microseconds = await self._connection.call(evaluate)
        return Refused(buckets[at - 1], wait_microseconds / 1e6) if at else None
