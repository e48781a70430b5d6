"""Decorator: how long an embedder takes, and a span for each time it is asked."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder
from rearview.telemetry.metrics import Metrics, observe_in_trace
from rearview.telemetry.tracing import child_span


class MeasuredEmbedder:
    """Measures an embedder from the question to its answer, waiting included."""

    def __init__(self, inner: Embedder, metrics: Metrics) -> None:
        self._inner = inner
        self._seconds = metrics.histogram(
            "embed_seconds", "From texts to vectors, in seconds, waiting included.", ("what",)
        )
        self._texts = metrics.counter("embedded_texts", "Texts that became vectors.", ("what",))
        self._failures = metrics.counter("embed_failures", "Times that the embedder gave no vectors.", ("what",))
        for what in ("query", "passages"):
            self._seconds.labels(what)
            self._texts.labels(what)
            self._failures.labels(what)

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._inner.generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`."""
        with self._measured("passages", len(texts)):
            return await self._inner.embed_passages(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`."""
        with self._measured("query", 1):
            return await self._inner.embed_query(text)

    async def close(self) -> None:
        """Release the model."""
        await self._inner.close()

    @contextmanager
    def _measured(self, what: str, texts: int) -> Iterator[None]:
        started = time.perf_counter()
        with child_span(f"embed {what}", texts=texts):
            try:
                yield
            except Exception:
                self._failures.labels(what).inc()
                raise
            finally:
                observe_in_trace(self._seconds.labels(what), time.perf_counter() - started)
            self._texts.labels(what).inc(texts)
