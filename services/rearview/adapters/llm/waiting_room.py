"""A bound on requests at once, and on those that wait for a place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rearview.domain.extraction_errors import ExtractionFailure, ExtractorUnavailable


class WaitingRoom:
    """Lets `places` in at a time, in the order they came, and at most `waiting` wait."""

    def __init__(self, places: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._most_waiting = waiting
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place.

        Raises:
            ExtractorUnavailable: too many wait already.
        """
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise ExtractorUnavailable(ExtractionFailure.QUEUE_FULL)
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()
