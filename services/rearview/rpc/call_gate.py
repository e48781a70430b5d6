"""How many calls run at a time, which wait for their turn, and which are sent away.

A service that takes every call that comes answers all of them late, and under more load than it can carry none in time.
So only some run, some wait, for no longer than a moment, and the others hear at once when to come back. Turns go to the
party (a tenant) that has the fewest calls running, and a full queue gives up the newest call of the party that has most
waiting: whoever floods the service stands in its own way.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from rearview.domain.errors import DeadlineExceeded, Overloaded, RearviewError


class Shed(StrEnum):
    """Why a call was not served."""

    QUEUE_FULL = "queue_full"
    WAITED = "waited"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class GateLimits:
    """How many calls run and wait at most, and how long each waits at most."""

    running: int
    waiting: int
    wait_seconds: float


@dataclass(eq=False, slots=True)
class _Waiting:
    party: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class CallGate:
    """Lets calls through within its limits."""

    def __init__(self, service: str, limits: GateLimits, on_shed: Callable[[Shed], None] = lambda _: None) -> None:
        self._service = service
        self._limits = limits
        self._on_shed = on_shed
        self._running: Counter[str] = Counter()
        # By party, those whose last turn was longest ago first.
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return self._waiting

    @asynccontextmanager
    async def turn(self, party: str, time_left_seconds: float | None) -> AsyncIterator[None]:
        """Wait for a turn of a party and hold it as long as the context lasts.

        Raises:
            Overloaded: too many wait, or none of the others came to an end in time.
            DeadlineExceeded: the caller's time ran out before it was its turn.
        """
        await self._enter(party, time_left_seconds)
        try:
            yield
        finally:
            self._leave(party)

    async def _enter(self, party: str, time_left_seconds: float | None) -> None:
        if time_left_seconds is not None and time_left_seconds <= 0:
            raise self._shed(Shed.EXPIRED)
        if not self._waiting and self._running.total() < self._limits.running:
            self._running[party] += 1
            return
        if self._waiting >= self._limits.waiting:
            self._make_room(party)
        waiting = _Waiting(party)
        self._queues.setdefault(party, deque()).append(waiting)
        self._waiting += 1
        longest = self._limits.wait_seconds
        expires = time_left_seconds is not None and time_left_seconds <= longest
        try:
            async with asyncio.timeout(time_left_seconds if expires else longest):
                await waiting.turn
        except BaseException as error:
            if waiting.turn.done() and not waiting.turn.cancelled() and waiting.turn.exception() is None:
                self._leave(party)  # the turn came in the moment in which it was given up
            else:
                self._remove(waiting)
            if isinstance(error, TimeoutError):
                raise self._shed(Shed.EXPIRED if expires else Shed.WAITED) from None
            raise

    def _leave(self, party: str) -> None:
        self._running[party] -= 1
        if not self._running[party]:
            del self._running[party]
        while self._queues and self._running.total() < self._limits.running:
            # `min` takes the first of equals.
            following = min(self._queues, key=lambda name: self._running[name])
            waiting = self._queues[following][0]
            self._remove(waiting)
            if following in self._queues:
                self._queues.move_to_end(following)
            if not waiting.turn.done():
                self._running[following] += 1
                waiting.turn.set_result(None)

    def _make_room(self, party: str) -> None:
        longest = max(self._queues, key=lambda name: len(self._queues[name]), default=party)
        if len(self._queues.get(longest, ())) <= len(self._queues.get(party, ())) + 1:
            raise self._shed(Shed.QUEUE_FULL)
        last = self._queues[longest][-1]
        self._remove(last)
        if not last.turn.done():
            last.turn.set_exception(self._shed(Shed.QUEUE_FULL))

    def _remove(self, waiting: _Waiting) -> None:
        queue = self._queues.get(waiting.party)
        if queue is None or waiting not in queue:
            return
        queue.remove(waiting)
        self._waiting -= 1
        if not queue:
            del self._queues[waiting.party]

    def _shed(self, why: Shed) -> RearviewError:
        self._on_shed(why)
        if why is Shed.EXPIRED:
            return DeadlineExceeded("the deadline passed before the work began", stage="queue")
        return Overloaded(
            f"the {self._service} has more calls than it can serve",
            retry_after_seconds=self._limits.wait_seconds,
            service=self._service,
        )
