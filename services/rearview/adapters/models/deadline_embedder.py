"""Decorator: an embedder that hangs is told as one that is away, so that nobody waits for it for ever."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rearview.domain.embedding_errors import ModelUnavailable
from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder

T = TypeVar("T")


class DeadlineEmbedder:
    """Gives each call `longest_seconds`; closing it is left to whoever opened the embedder within."""

    def __init__(self, inner: Embedder, *, longest_seconds: float) -> None:
        self._inner = inner
        self._longest_seconds = longest_seconds

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._inner.generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`.

        Raises:
            ModelUnavailable: no answer within the time, too.
        """
        return await self._in_time(self._inner.embed_passages(texts))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `embed_passages`."""
        return await self._in_time(self._inner.embed_query(text))

    async def close(self) -> None:
        """Leave the embedder within as it is."""

    async def _in_time(self, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._longest_seconds) as limit:
                return await answer
        except TimeoutError:
            if not limit.expired():
                raise  # the model's own
            raise ModelUnavailable(f"the embedder did not answer within {self._longest_seconds:g} s") from None
