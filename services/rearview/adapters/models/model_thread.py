"""One worker thread in front of a model that is not to be run concurrently."""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog

from rearview.domain.embedding_errors import ModelClosed, ModelOverloaded

T = TypeVar("T")

CLOSE_SECONDS = 5.0
"""How long a running piece of work is waited for when the model is closed: a batch takes far less."""

_URGENT, _ORDINARY, _LAST = 0, 1, 2
_log = structlog.get_logger(__name__)


@dataclass(order=True, slots=True)
class _Job:
    priority: int
    number: int
    work: Callable[[], Any] | None = field(compare=False)
    outcome: Future[Any] = field(compare=False)


class ModelThread:
    """Runs pieces of work one at a time, urgent ones first, keeping the event loop free.

    Work given up before it starts is dropped; work that has started runs to its end, or with the process that ends.
    """

    def __init__(self, name: str, *, max_waiting: int = 256, close_seconds: float = CLOSE_SECONDS) -> None:
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._max_waiting = max_waiting
        self._close_seconds = close_seconds
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name=f"model-{name}", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        """Return what `work` returns, run in the thread.

        Raises:
            ModelOverloaded: too much work waits already.
            ModelClosed: the thread was closed.
        """
        outcome: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise ModelClosed("the model was closed")
            if self._jobs.qsize() >= self._max_waiting:
                raise ModelOverloaded(f"{self._max_waiting} pieces of work already wait for the model")
            self._jobs.put(_Job(_URGENT if urgent else _ORDINARY, next(self._numbers), work, outcome))
        return await asyncio.wrap_future(outcome)

    async def close(self) -> None:
        """Let the running work finish, fail what waits with `ModelClosed`, and end the thread.

        A model that hangs is left behind after `close_seconds`.
        """
        with self._closing:
            if not self._closed:
                self._closed = True
                self._jobs.put(_Job(_LAST, next(self._numbers), None, Future()))
        await asyncio.to_thread(self._thread.join, self._close_seconds)
        if self._thread.is_alive():
            _log.warning("model left behind", thread=self._thread.name, after_seconds=self._close_seconds)
            self._fail_waiting()

    def _fail_waiting(self) -> None:
        with suppress(queue.Empty):
            while (job := self._jobs.get_nowait()).work is not None:
                if job.outcome.set_running_or_notify_cancel():
                    job.outcome.set_exception(ModelClosed("the model was closed"))
            self._jobs.put(job)  # the end, for a model that answers after all

    def _serve(self) -> None:
        while (job := self._jobs.get()).work is not None:
            if not job.outcome.set_running_or_notify_cancel():
                continue
            if self._closed:
                job.outcome.set_exception(ModelClosed("the model was closed"))
                continue
            try:
                job.outcome.set_result(job.work())
            except BaseException as failure:  # noqa: BLE001 -- belongs to the caller, not to this thread
                job.outcome.set_exception(failure)
