"""Decorator: how long a cross-encoder takes and how far it gets, and a span for each time it is asked."""

import time
from collections.abc import Sequence

from rearview.ports.reranker import Reranker, RerankScores
from rearview.telemetry.metrics import Metrics, observe_in_trace
from rearview.telemetry.tracing import child_span


class RerankMetrics:
    """The metrics of reranking; they exist, at zero, where nothing reranks, too."""

    def __init__(self, metrics: Metrics) -> None:
        self.seconds = metrics.histogram("rerank_seconds", "From passages to scores, in seconds.")
        self.failures = metrics.counter("rerank_failures", "Times that the reranker gave no scores.")
        self.passages = metrics.counter(
            "reranked_passages", "Passages handed to the reranker, by whether it reached them.", ("reached",)
        )
        for reached in ("yes", "no"):
            self.passages.labels(reached)


class MeasuredReranker:
    """Measures a reranker."""

    def __init__(self, inner: Reranker, metrics: RerankMetrics) -> None:
        self._inner = inner
        self._metrics = metrics

    @property
    def name(self) -> str:
        """The model's name."""
        return self._inner.name

    @property
    def seconds_per_pair(self) -> float:
        """Measured cost of one pair."""
        return self._inner.seconds_per_pair

    async def rerank(self, query: str, passages: Sequence[str], *, budget_seconds: float) -> RerankScores:
        """Score passages; see `Reranker`."""
        started = time.perf_counter()
        with child_span("rerank", passages=len(passages)):
            try:
                scores = await self._inner.rerank(query, passages, budget_seconds=budget_seconds)
            except Exception:
                self._metrics.failures.inc()
                raise
            finally:
                observe_in_trace(self._metrics.seconds, time.perf_counter() - started)
        self._metrics.passages.labels("yes").inc(scores.scored)
        self._metrics.passages.labels("no").inc(len(passages) - scores.scored)
        return scores

    async def close(self) -> None:
        """Release the model."""
        await self._inner.close()
