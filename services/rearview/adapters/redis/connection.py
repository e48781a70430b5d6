"""A connection to Redis that fails fast: nothing acknowledged depends on it, so nobody may wait for it long."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from rearview.domain.errors import Unavailable
from rearview.telemetry.pools import PoolFigures
from rearview.telemetry.tracing import child_span, name_of

T = TypeVar("T")

_DEPENDENCY = "redis"


class RedisConnection:
    """A bounded pool of connections behind a circuit breaker.

    After `failures_to_open` failures in a row, calls fail at once for `open_seconds`; then one call tries again. With
    `decode`, answers are text, else bytes.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_seconds: float = 0.25,
        max_connections: int = 32,
        failures_to_open: int = 3,
        open_seconds: float = 5.0,
        decode: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._failures_to_open = failures_to_open
        self._open_seconds = open_seconds
        self._monotonic = monotonic
        self._failures = 0
        self._failures_ever = 0
        self._closed_until_trial = 0.0
        self._max_connections = max_connections
        self._under_way = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_connections,
            timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            # Once more for a pooled connection that the server has closed meanwhile.
            retry=Retry(NoBackoff(), 1),
            decode_responses=decode,
        )
        self._client = Redis(connection_pool=pool)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A call that lost its connection under way would open another one, which nobody would close.
        self._closing = True
        await self._idle.wait()
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    async def call(self, operation: Callable[[Redis], Awaitable[T]]) -> T:
        """Return what the operation returns.

        Raises:
            Unavailable: Redis does not answer in time, or did not a moment ago, or this is closed.
        """
        if self._closing:
            raise _unavailable()
        if self._failures >= self._failures_to_open:
            if self._monotonic() < self._closed_until_trial:
                raise _unavailable()
            # This call is the trial; the others go on failing fast until it has ended.
            self._closed_until_trial = self._monotonic() + self._open_seconds
        self._under_way += 1
        self._idle.clear()
        try:
            with child_span(f"redis {name_of(operation)}", db__system__name=_DEPENDENCY):
                async with asyncio.timeout(2 * self._timeout_seconds):
                    result = await operation(self._client)
        except (RedisError, OSError, TimeoutError) as error:
            self._failures += 1
            self._failures_ever += 1
            self._closed_until_trial = self._monotonic() + self._open_seconds
            raise _unavailable() from error
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()
        self._failures = 0
        return result

    def figures(self) -> PoolFigures:
        """Return how full the pool is; how long callers waited for a connection is not known."""
        return PoolFigures(
            limit=self._max_connections,
            in_use=min(self._under_way, self._max_connections),
            waiting=max(self._under_way - self._max_connections, 0),
            waited_seconds=0.0,
            failures=self._failures_ever,
        )


def _unavailable() -> Unavailable:
    return Unavailable("Redis does not answer", retry_after_seconds=1.0, dependency=_DEPENDENCY)
