"""Work that several ask for at once is done once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlight(Generic[T]):
    """Shares work under way among those that ask for the same.

    Each piece of work has somebody who waits for it, so there are never more of them than callers. One who stops
    waiting takes nothing from the others; when the last has gone, the work is cancelled.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what the work under this key returns, and raise what it raises; `work` begins it if nobody has."""
        flight = self._flights.get(key)
        if flight is None:
            flight = _Flight(asyncio.create_task(work()))
            self._flights[key] = flight
            flight.task.add_done_callback(_seen)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            ended = flight.task.done()
            if not flight.waiting and not ended:
                flight.task.cancel()
            if (ended or not flight.waiting) and self._flights.get(key) is flight:
                del self._flights[key]


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # those who waited may all have gone
