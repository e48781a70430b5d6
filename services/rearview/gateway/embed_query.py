"""The query's vectors, made once, here: within a time budget, because recall can do without them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Counter, Gauge

from rearview.domain.embedding_errors import ModelError
from rearview.domain.event import EventRole
from rearview.domain.generation import normalise_rows
from rearview.domain.recall import QueryTurn, RecallQuery, Route
from rearview.ports.embedder import Embedder
from rearview.rpc.call_context import time_left_seconds
from rearview.telemetry.metrics import Metrics

# At most this share of the time that is left goes into the vectors; the rest is for finding with them.
_SHARE_OF_DEADLINE = 0.5
# What a model's window of 512 tokens takes in: a Chinese character is about one token, four others are one.
_HISTORY_TOKENS = 480.0
_TOKENS_PER_OTHER_CHARACTER = 0.25
_OTHER_SIDE_WEIGHT = 0.5
_FIRST_WIDE_CHARACTER = "\u2e80"


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedQuery:
    """A query's vector, (d,) float32, centred and L2-normalised, and the generation of the model that made it."""

    generation_id: str
    vector: NDArray[np.float32]


class QueryEmbedding:
    """Embeds queries. A full queue, a slow or a broken model give no vector, never an error."""

    def __init__(
        self, embedders: Sequence[Embedder], metrics: Metrics, *, budget_seconds: float, max_pending: int
    ) -> None:
        """Take the models of the generations in use, that of new vectors first."""
        self._embedders = embedders
        self._budget_seconds = budget_seconds
        self._max_pending = max_pending
        self._pending: set[asyncio.Task[Any]] = set()
        self._outcomes: Counter = metrics.counter("query_embeddings", "Queries embedded, by outcome.", ("outcome",))
        for outcome in ("embedded", "queue_full", "too_slow", "failed"):
            self._outcomes.labels(outcome)
        self._waiting: Gauge = metrics.gauge("query_embeddings_pending", "Queries that the embedder works on.")

    async def of(self, query: RecallQuery) -> tuple[EmbeddedQuery, ...]:
        """Return one vector for each generation in use; none when the vector route is off or the model too slow."""
        texts = texts_of(query)
        if Route.VECTOR in query.disabled_routes or not texts:
            return ()
        if len(self._pending) >= self._max_pending:
            return self._nothing("queue_full")
        # A model that hangs cannot be cancelled, so its task stays counted until it ends: the queue stays bounded.
        task = asyncio.create_task(self._embed(texts))
        self._pending.add(task)
        self._waiting.set(len(self._pending))
        task.add_done_callback(self._finished)
        done, _ = await asyncio.wait({task}, timeout=self._budget())
        if not done:
            return self._nothing("too_slow")
        error = task.exception()
        if isinstance(error, ModelError):
            return self._nothing("failed")
        if error is not None:
            raise error
        self._outcomes.labels("embedded").inc()
        return task.result()

    async def close(self) -> None:
        """Give up on what is still under way."""
        for task in self._pending:
            task.cancel()
        await asyncio.gather(*self._pending, return_exceptions=True)

    async def _embed(self, texts: Mapping[str, float]) -> tuple[EmbeddedQuery, ...]:
        return tuple(await asyncio.gather(*(_embedded(embedder, texts) for embedder in self._embedders)))

    def _budget(self) -> float:
        left = time_left_seconds()
        return self._budget_seconds if left is None else min(self._budget_seconds, left * _SHARE_OF_DEADLINE)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._pending.discard(task)
        self._waiting.set(len(self._pending))
        if not task.cancelled():
            task.exception()  # seen: nobody may wait for it any more

    def _nothing(self, outcome: str) -> tuple[EmbeddedQuery, ...]:
        self._outcomes.labels(outcome).inc()
        return ()


async def _embedded(embedder: Embedder, texts: Mapping[str, float]) -> EmbeddedQuery:
    raw = [await embedder.embed_query(text) for text in texts]
    weights = np.array(list(texts.values()), dtype=np.float32)[:, None]
    centred = weights * embedder.generation.centre(np.stack(raw))
    vector = normalise_rows(centred.sum(axis=0, keepdims=True))[0]
    return EmbeddedQuery(embedder.generation.generation_id, vector)


def texts_of(query: RecallQuery) -> Mapping[str, float]:
    """Return the texts, with their weights, whose centred vectors are added up to the query's: the query itself, or, of
    a dialogue, its history, its last user turn and, half, what that answers (measured: finds more than fewer of them).
    Blank ones are left out."""
    if not query.dialogue:
        return {query.text: 1.0} if query.text.strip() else {}
    of_user = [turn.content for turn in query.dialogue if turn.role is EventRole.USER and turn.content.strip()]
    others = [turn.content for turn in query.dialogue if turn.role is not EventRole.USER and turn.content.strip()]
    parts = [(_newest_turns(query.dialogue), 1.0)]
    parts += [(of_user[-1], 1.0)] if of_user else []
    parts += [(others[-1], _OTHER_SIDE_WEIGHT)] if others else []
    texts: dict[str, float] = {}
    for text, weight in parts:
        if text.strip():
            texts.setdefault(text, weight)
    return texts


def _newest_turns(dialogue: Sequence[QueryTurn]) -> str:
    # Models cut long texts at the end, where the newest turns are; so the oldest are left out here.
    kept: list[str] = []
    room = _HISTORY_TOKENS
    for turn in reversed(dialogue):
        room -= sum(1.0 if c >= _FIRST_WIDE_CHARACTER else _TOKENS_PER_OTHER_CHARACTER for c in turn.content)
        if kept and room < 0:
            break
        kept.append(turn.content)
    return "\n".join(reversed(kept))
