"""What recalls leave behind, done after the answer: traces and access counts, through one bounded queue."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Self
from uuid import UUID

from rearview.domain.echo import sentence_hashes
from rearview.domain.errors import RearviewError
from rearview.domain.principal import Scope
from rearview.domain.recall import RecallTrace
from rearview.ports.handed_out import HandedOut
from rearview.ports.recall_side_effects import AccessCounter, RecallTraceStore

TRACE = "trace"
ACCESSES = "accesses"
HANDED_OUT = "handed_out"

Loss = Callable[[str], None]


class BackgroundRecorder:
    """The `RecallRecorder` port. Use as a context: leaving it finishes what waits, within `drain_seconds`.

    `on_loss` is told `trace`, `accesses` or `handed_out` for each that was dropped because the queue was full or its
    store failed.
    """

    def __init__(
        self,
        traces: RecallTraceStore,
        accesses: AccessCounter,
        handed_out: HandedOut,
        *,
        on_loss: Loss,
        capacity: int = 1_000,
        workers: int = 2,
        drain_seconds: float = 3.0,
    ) -> None:
        self._traces = traces
        self._accesses = accesses
        self._handed_out = handed_out
        self._on_loss = on_loss
        self._queue: asyncio.Queue[tuple[str, Callable[[], Awaitable[None]]]] = asyncio.Queue(maxsize=capacity)
        self._worker_count = workers
        self._drain_seconds = drain_seconds
        self._workers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._worker_count)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain_seconds):
                await self._queue.join()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        while not self._queue.empty():
            self._on_loss(self._queue.get_nowait()[0])

    def record(
        self, tenant_id: UUID, principal: str, scopes: Collection[Scope], trace: Callable[[], Awaitable[RecallTrace]]
    ) -> None:
        """Have a trace made and written."""
        namespace_ids = [scope.namespace_id for scope in scopes]

        async def write() -> None:
            await self._traces.write(tenant_id, principal, namespace_ids, await trace())

        self._put(TRACE, write)

    def count_accesses(self, tenant_id: UUID, accessed: Mapping[UUID, Collection[UUID]], at: datetime) -> None:
        """Have accesses counted."""
        self._put(ACCESSES, lambda: self._accesses.count(tenant_id, accessed, at))

    def hand_out(self, scopes: Collection[Scope], texts: Collection[str], at: datetime) -> None:
        """Have what was returned known, so that it is not stored again when it comes back."""
        tenants = {scope.tenant_id for scope in scopes}
        namespace_ids = [scope.namespace_id for scope in scopes]

        async def record() -> None:
            hashes = frozenset(one for text in texts for one in sentence_hashes(text))
            for tenant_id in tenants:  # a recall is of one tenant
                await self._handed_out.record(tenant_id, namespace_ids, hashes, at)

        if texts:
            self._put(HANDED_OUT, record)

    async def settled(self) -> None:
        """Wait until all that was taken has been done or dropped."""
        await self._queue.join()

    def _put(self, what: str, deed: Callable[[], Awaitable[None]]) -> None:
        try:
            self._queue.put_nowait((what, deed))
        except asyncio.QueueFull:
            self._on_loss(what)

    async def _work(self) -> None:
        while True:
            what, deed = await self._queue.get()
            try:
                await deed()
            except RearviewError:
                self._on_loss(what)
            finally:
                self._queue.task_done()
