"""Decorator: gathers passages of concurrent callers into batches; queries pass straight through."""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.text_checks import checked_texts
from rearview.domain.embedding_errors import InvalidModelInput, ModelAnswerInvalid, ModelClosed
from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    texts: list[str]
    outcome: asyncio.Future[NDArray[np.float32]]


class BatchingEmbedder:
    """Embeds the passages of many small concurrent calls together.

    - Bounded: while `max_waiting_texts` wait, further callers wait too (a larger single call
      is let in alone).
    - A cancelled caller leaves the queue; its batch goes on for the others.
    - A failed batch raises its error in every caller of that batch, and only there. Bad texts
      are refused before they join a batch.
    """

    def __init__(
        self,
        inner: Embedder,
        *,
        max_batch_texts: int = 64,
        max_waiting_texts: int = 1024,
        max_wait_seconds: float = 0.004,
        close_seconds: float = 5.0,
    ) -> None:
        """Wrap `inner`, which this closes too.

        Args:
            inner: the model.
            max_batch_texts: a batch takes no further call once it holds this many texts.
            max_waiting_texts: bound of the queue.
            max_wait_seconds: how long an unfilled batch waits for company.
            close_seconds: how long what waits may still take when this is closed.

        Raises:
            InvalidModelInput: a bound is not positive, or the wait is negative.
        """
        for field, value in (("max_batch_texts", max_batch_texts), ("max_waiting_texts", max_waiting_texts)):
            if value < 1:
                raise InvalidModelInput(field, f"must be at least 1, got {value}")
        if max_wait_seconds < 0:
            raise InvalidModelInput("max_wait_seconds", f"must not be negative, got {max_wait_seconds}")
        self._inner = inner
        self._max_batch_texts = max_batch_texts
        self._max_waiting_texts = max_waiting_texts
        self._max_wait_seconds = max_wait_seconds
        self._close_seconds = close_seconds
        self._calls: deque[_Call] = deque()
        self._changed = asyncio.Condition()
        self._closed = False
        self._worker: asyncio.Task[None] | None = None

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._inner.generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`."""
        checked = checked_texts("texts", texts)
        if not checked:
            return np.empty((0, self.generation.dimension), dtype=np.float32)
        call = _Call(checked, asyncio.get_running_loop().create_future())
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or self._has_room(len(checked)))
            if self._closed:
                raise ModelClosed("the model was closed")
            if self._worker is None:
                self._worker = asyncio.create_task(self._serve(), name="embedding-batches")
            self._calls.append(call)
            self._changed.notify_all()
        return await call.outcome

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; never waits for a batch to fill."""
        if self._closed:
            raise ModelClosed("the model was closed")
        return await self._inner.embed_query(text)

    async def close(self) -> None:
        """Finish what waits, then close the model. What is not done in `close_seconds` fails with `ModelClosed`."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._worker is not None:
            await asyncio.wait((self._worker,), timeout=self._close_seconds)
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
            _fail(self._calls, ModelClosed("the model was closed"))
        await self._inner.close()

    def _has_room(self, count: int) -> bool:
        waiting = self.waiting_texts
        return waiting == 0 or waiting + count <= self._max_waiting_texts

    @property
    def waiting_texts(self) -> int:
        """How many texts wait for a batch."""
        return sum(len(call.texts) for call in self._calls if not call.outcome.done())

    async def _serve(self) -> None:
        while batch := await self._next_batch():
            await self._embed(batch)

    async def _next_batch(self) -> list[_Call]:
        """Return calls to embed together; none means that this was closed and nothing waits."""
        async with self._changed:
            while True:
                await self._changed.wait_for(lambda: self._closed or self._calls)
                if not self._closed and self.waiting_texts < self._max_batch_texts:
                    await self._wait_for_company()
                batch = self._take_batch()
                self._changed.notify_all()
                if batch or self._closed:
                    return batch

    async def _wait_for_company(self) -> None:
        try:
            async with asyncio.timeout(self._max_wait_seconds):
                await self._changed.wait_for(lambda: self._closed or self.waiting_texts >= self._max_batch_texts)
        except TimeoutError:
            pass  # a batch that is not full goes alone

    def _take_batch(self) -> list[_Call]:
        batch: list[_Call] = []
        count = 0
        while self._calls and count < self._max_batch_texts:
            following = self._calls[0]
            if batch and count + len(following.texts) > self._max_batch_texts:
                break
            self._calls.popleft()
            if not following.outcome.done():  # else its caller was cancelled
                batch.append(following)
                count += len(following.texts)
        return batch

    async def _embed(self, batch: list[_Call]) -> None:
        texts = [text for call in batch for text in call.texts]
        try:
            vectors = await self._inner.embed_passages(texts)
            if vectors.shape[0] != len(texts):
                raise ModelAnswerInvalid(f"{vectors.shape[0]} vectors for {len(texts)} texts")
        except asyncio.CancelledError:
            _fail(batch, ModelClosed("the model was closed"))
            raise
        except Exception as failure:  # noqa: BLE001 -- handed to the callers, who know what to do with it
            _fail(batch, failure)
            return
        start = 0
        for call in batch:
            end = start + len(call.texts)
            if not call.outcome.done():
                call.outcome.set_result(vectors[start:end].copy())
            start = end


def _fail(calls: Iterable[_Call], failure: Exception) -> None:
    for call in calls:
        if not call.outcome.done():
            call.outcome.set_exception(failure)
