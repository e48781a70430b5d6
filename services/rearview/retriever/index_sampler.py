"""Now and then a recall's vector search is made again, exactly: an index that finds too little fails silently."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self
from uuid import UUID

from rearview.domain.errors import RearviewError
from rearview.ports.recall_store import Generation, IndexRecall, RecallStore, Search

TIMEOUT_SECONDS = 10.0


class IndexSampler:
    """Compares one search at a time, at most one in `interval_seconds`, apart from the request that brought it.

    Use as a context. `on_sample` is told each comparison; a search that the index did not answer makes none.
    """

    def __init__(
        self, store: RecallStore, *, interval_seconds: float, on_sample: Callable[[IndexRecall], None]
    ) -> None:
        """`interval_seconds` of 0 compares nothing."""
        self._store = store
        self._interval_seconds = interval_seconds
        self._on_sample = on_sample
        self._next_at = time.monotonic()
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def offer(self, tenant_id: UUID, search: Search, generation: Generation) -> bool:
        """Take a search that the vector index answered, if it is time for one; return whether it was taken."""
        now = time.monotonic()
        if not self._interval_seconds or now < self._next_at or self._running is not None:
            return False
        self._next_at = now + self._interval_seconds
        self._running = asyncio.create_task(self._compare(tenant_id, search, generation))
        self._running.add_done_callback(self._ended)
        return True

    async def settled(self) -> None:
        """Wait until the comparison under way, if any, has ended."""
        if self._running is not None:
            await asyncio.wait({self._running})

    async def _compare(self, tenant_id: UUID, search: Search, generation: Generation) -> None:
        with suppress(RearviewError):  # a sample less
            sample = await self._store.index_recall(tenant_id, search, generation, timeout_seconds=TIMEOUT_SECONDS)
            if sample is not None:
                self._on_sample(sample)

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._running = None
