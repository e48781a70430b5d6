"""Recalls that come whatever became of those before them, and what became of them.

Users who wait for their answers, as Locust's do, ask less of a service that is slow; an overload needs callers who do
not care. So these calls begin at fixed moments, each on its own.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc
import grpc.aio

from rearview.domain.errors import RearviewError, ResourceExhausted, Unavailable
from rearview.rpc.channel import open_channel
from rearview.rpc.errors import from_rpc_error
from rearview.v1.memory_service_pb2_grpc import MemoryServiceStub
from rearview.v1.recall_pb2 import RecallRequest

if TYPE_CHECKING:  # the generated code has this type in its hints only
    from rearview.v1.memory_service_pb2_grpc import MemoryServiceAsyncStub

CHANNELS = 4
MOST_OPEN_CALLS = 2_000
"""Further calls are not begun, and counted as such: they would say more of this process than of the service."""

ANSWERED, SHED, SHED_WITHOUT_DELAY, NOT_BEGUN = "answered", "shed", "shed without a delay", "not begun"


@dataclass(slots=True)
class Outcomes:
    """How the calls of a phase ended: by kind or by the reason of an error, and how long the answered ones took."""

    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    answered_by_second: Counter[int] = field(default_factory=Counter)
    refused_by_second: Counter[int] = field(default_factory=Counter)

    @property
    def goodput(self) -> float:
        """Answered calls a second."""
        return self.counts[ANSWERED] / self.seconds if self.seconds else 0.0


class Caller:
    """Asks a gateway questions that its cache does not answer."""

    def __init__(
        self, address: str, key: str, namespace: str, questions: Sequence[str], timeout_seconds: float
    ) -> None:
        self._channels = [open_channel(address) for _ in range(CHANNELS)]
        stubs: list[MemoryServiceAsyncStub] = [MemoryServiceStub(channel) for channel in self._channels]
        self._stubs: Iterator[MemoryServiceAsyncStub] = itertools.cycle(stubs)
        self._questions = itertools.cycle(questions)
        self._parent = f"namespaces/{namespace}"
        self._metadata = (("authorization", f"Bearer {key}"),)
        self._timeout_seconds = timeout_seconds

    async def close(self) -> None:
        """Close the channels."""
        await asyncio.gather(*(channel.close() for channel in self._channels))

    async def at_once(self, calls: int, seconds: float) -> Outcomes:
        """Keep so many calls open all the time, each followed by the next."""
        found, started = Outcomes(), time.monotonic()

        async def user() -> None:
            while time.monotonic() - started < seconds:
                await self._ask(found, started)

        await asyncio.gather(*(user() for _ in range(calls)))
        found.seconds = time.monotonic() - started
        return found

    async def per_second(self, rate: float, seconds: float) -> Outcomes:
        """Begin so many calls a second; return when all have ended. Goodput is that of the time in which they came."""
        found, started, open_calls = Outcomes(seconds=seconds), time.monotonic(), set[asyncio.Task[None]]()
        for at in range(round(rate * seconds)):
            await asyncio.sleep(max(0.0, started + at / rate - time.monotonic()))
            if len(open_calls) >= MOST_OPEN_CALLS:
                found.counts[NOT_BEGUN] += 1
                continue
            call = asyncio.create_task(self._ask(found, started))
            open_calls.add(call)
            call.add_done_callback(open_calls.discard)
        await asyncio.gather(*open_calls)
        return found

    async def _ask(self, found: Outcomes, started: float) -> None:
        request = RecallRequest(parent=self._parent, query=next(self._questions), no_cache=True)
        asked = time.monotonic()
        try:
            await next(self._stubs).Recall(request, metadata=self._metadata, timeout=self._timeout_seconds)
        except grpc.aio.AioRpcError as error:
            found.counts[_kind(from_rpc_error(error))] += 1
            found.refused_by_second[int(asked - started)] += 1
            return
        ended = time.monotonic()
        found.counts[ANSWERED] += 1
        found.latencies.append(ended - asked)
        found.answered_by_second[int(asked - started)] += 1


def _kind(error: RearviewError) -> str:
    if not isinstance(error, ResourceExhausted | Unavailable):
        return error.reason
    return SHED if error.retry_after_seconds else SHED_WITHOUT_DELAY
