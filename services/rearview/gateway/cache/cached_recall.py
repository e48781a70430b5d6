"""Recall, with the answers of queries that ask the same given again while nothing has happened that could change them.

Epochs and the session's newest turn are read before an answer is made, and again when it is asked for: what was written
in between is never missed, in whatever order commits and answers came. Everything that fails here is a miss.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from prometheus_client import Counter

from rearview.domain.addition import could_change
from rearview.domain.canonical_query import CanonicalQuery, Refusal, refusal
from rearview.domain.errors import DeadlineExceeded, Overloaded, Unavailable
from rearview.domain.names import parse_namespace
from rearview.domain.patience import within
from rearview.domain.principal import Caller
from rearview.domain.recall import RecallQuery
from rearview.domain.text import DEFAULT_CATEGORIES
from rearview.gateway.cache.answer_keys import AnswerKeyMaker
from rearview.gateway.cache.answer_life import asked_in, expiry
from rearview.gateway.cache.single_flight import SingleFlight
from rearview.gateway.embed_query import EmbeddedQuery, QueryEmbedding
from rearview.ports.answer_cache import AnswerCache, AnswerKeys, CachedAnswer, CacheLook
from rearview.ports.clock import Clock
from rearview.ports.epochs import Epoch, Epochs
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_canonicaliser import QueryCanonicaliser
from rearview.ports.query_reader import QueryReader
from rearview.ports.redactor import Redactor
from rearview.ports.working_memory import SessionKey
from rearview.rpc.call_context import time_left_seconds
from rearview.rpc.convert.times import duration_to_proto
from rearview.telemetry.metrics import Metrics
from rearview.v1 import recall_pb2

T = TypeVar("T")
Found = tuple[recall_pb2.RecallResponse, Mapping[int, float]]
"""An answer, and its noise cosines."""
Find = Callable[[Sequence[EmbeddedQuery]], Awaitable[Found]]
"""Asks the retriever, with the query's vectors."""

_FAILURES = (Unavailable, Overloaded, DeadlineExceeded, TimeoutError)
_LONGEST_SECONDS = 1.0
_SHARE_OF_DEADLINE = 0.25
"""At most so much of the time that is left goes into each question to the cache's stores: answers come without it."""


@dataclass(frozen=True, slots=True)
class CacheParts:
    """What the cache is made of."""

    answers: AnswerCache
    epochs: Epochs
    canonicaliser: QueryCanonicaliser
    reader: QueryReader
    hasher: KeywordHasher
    redactor: Redactor


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A request on its way through the cache; `epochs` and `look` are as of its arrival."""

    query: RecallQuery
    caller: Caller
    tenant_id: UUID
    canonical: CanonicalQuery
    reference: datetime
    keys: AnswerKeys
    epochs: Mapping[UUID, Epoch]
    look: CacheLook


class CachedRecall:
    """Answers recalls from the cache where it can."""

    def __init__(
        self,
        parts: CacheParts,
        embedding: QueryEmbedding,
        keys: AnswerKeyMaker,
        clock: Clock,
        metrics: Metrics,
        *,
        cosine: float,
        lifetime: timedelta,
    ) -> None:
        """Take the parts. `cosine` is the least similarity of centred vectors at which an answer is shared."""
        self._parts = parts
        self._embedding = embedding
        self._keys = keys
        self._clock = clock
        self._cosine = cosine
        self._lifetime = lifetime
        self._searches = SingleFlight[recall_pb2.RecallResponse]()
        self._lookups: Counter = metrics.counter("cache_lookups", "Recalls by what the cache did.", ("outcome",))
        self._rejections: Counter = metrics.counter(
            "cache_rejections", "Cached answers that were not given, by reason.", ("reason",)
        )
        for outcome in ("exact", "canonical", "semantic", "miss", "shared", "bypass", "off"):
            self._lookups.labels(outcome)
        for reason in (*Refusal, "cosine", "expired", "session", "changed", "added"):
            self._rejections.labels(str(reason))

    async def recall(
        self,
        request: recall_pb2.RecallRequest,
        query: RecallQuery,
        caller: Caller,
        find: Find,
        epochs: Mapping[UUID, Epoch],
    ) -> recall_pb2.RecallResponse:
        """Return the answer, from the cache or from `find`, which may raise. `epochs` are those that were read since
        the call arrived; if one is missing of a namespace that the caller reaches, they are read here."""
        asked = await self._arrived(request, query, caller, epochs) if _cacheable(query) else None
        if asked is None:
            return (await find(await self._embedding.of(query)))[0]
        if asked.look.exact is not None and await self._holds(asked.look.exact, asked):
            return self._given(asked.look.exact, 1.0, "exact")
        # Whoever asks the same in the same state of memory gets the same answer, be it only on its way.
        begun = False

        def begin() -> Coroutine[Any, Any, recall_pb2.RecallResponse]:
            nonlocal begun
            begun = True
            return self._search(asked, find)

        try:
            answer = await self._searches.run(_state(asked), begin)
        except DeadlineExceeded:
            if begun or time_left_seconds() == 0:
                raise
            return await self._search(asked, find)  # the time that ran out was another's
        if begun:
            return answer
        if answer.degraded:
            return await self._search(asked, find)
        self._lookups.labels("shared").inc()
        return answer

    async def _search(self, asked: _Asked, find: Find) -> recall_pb2.RecallResponse:
        """Return the answer to a query that was not asked in these words."""
        query = asked.query
        similar = self._admitted(asked)
        if similar is not None and similar.query.tokens == self._keys.hidden(asked.canonical).tokens:
            if await self._holds(similar, asked):
                return self._given(similar, 1.0, "canonical")
            similar = None
        vectors = await self._embedding.of(query)
        similarity = self._similarity(similar, vectors)
        if similar is not None and similarity is not None and await self._holds(similar, asked):
            return self._given(similar, similarity, "semantic")
        self._lookups.labels("miss").inc()
        answer, noise_cosines = await find(vectors)
        await self._keep(asked, vectors, answer, noise_cosines)
        return answer

    async def _arrived(
        self, request: recall_pb2.RecallRequest, query: RecallQuery, caller: Caller, epochs: Mapping[UUID, Epoch]
    ) -> _Asked | None:
        tenant_id = caller.tenant_id
        canonical = self._parts.canonicaliser.canonical(query.text)
        if tenant_id is None or (canonical.deictic and not query.session_id):
            self._lookups.labels("bypass").inc()
            return None
        reference = query.reference_time.astimezone(ZoneInfo(query.time_zone))
        time_ranges = self._parts.reader.times(query.text, reference=reference)
        keys = self._keys.keys(request, caller, canonical, time_ranges)
        namespace_ids = [reached.namespace_id for reached in caller.namespaces.values()]
        session = None
        if query.session_id:
            parent = caller.namespaces[parse_namespace(request.parent, "parent").namespace]
            session = SessionKey(tenant_id, parent.namespace_id, query.session_id)
        looking = _in_time(self._parts.answers.look(tenant_id, keys, session))
        try:
            if epochs.keys() >= set(namespace_ids):
                epochs, look = {each: epochs[each] for each in namespace_ids}, await looking
            else:
                reading = _in_time(self._parts.epochs.read(tenant_id, namespace_ids))
                epochs, look = await asyncio.gather(reading, looking)
        except _FAILURES:
            self._lookups.labels("off").inc()
            return None
        return _Asked(query, caller, tenant_id, canonical, reference, keys, epochs, look)

    def _admitted(self, asked: _Asked) -> CachedAnswer | None:
        cached = asked.look.similar
        refused = refusal(cached.query, self._keys.hidden(asked.canonical)) if cached else None
        if refused is not None:
            self._rejections.labels(refused.value).inc()
        return None if refused else cached

    def _similarity(self, cached: CachedAnswer | None, vectors: Sequence[EmbeddedQuery]) -> float | None:
        if cached is None or not vectors:
            return None
        theirs, mine = next(iter(cached.asked.values())).vector, vectors[0].vector
        similarity = float(theirs @ mine) if theirs.shape == mine.shape else 0.0
        if similarity <= self._cosine:
            self._rejections.labels("cosine").inc()
            return None
        return min(similarity, 1.0)

    async def _holds(self, cached: CachedAnswer, asked: _Asked) -> bool:
        reason = await self._why_old(cached, asked)
        if reason is not None:
            self._rejections.labels(reason).inc()
        return reason is None

    async def _why_old(self, cached: CachedAnswer, asked: _Asked) -> str | None:
        if cached.expires_at <= self._clock.now():
            return "expired"
        if cached.last_turn != asked.look.last_turn:
            return "session"
        if cached.epochs.keys() != asked.epochs.keys() or any(
            cached.epochs[namespace_id].breaking != epoch.breaking for namespace_id, epoch in asked.epochs.items()
        ):
            return "changed"
        if cached.epochs == asked.epochs:
            return None
        if asked.canonical.deictic:
            return "added"
        try:
            additions = await _in_time(self._parts.epochs.additions(asked.tenant_id, cached.epochs, asked.epochs))
        except _FAILURES:
            return "added"
        if additions is None or any(
            could_change(added, cached.asked[namespace_id]) for namespace_id, added in additions.items()
        ):
            return "added"
        return None

    def _given(self, cached: CachedAnswer, similarity: float, outcome: str) -> recall_pb2.RecallResponse:
        self._lookups.labels(outcome).inc()
        answer = recall_pb2.RecallResponse.FromString(cached.answer)
        age = max(self._clock.now() - cached.stored_at, timedelta(0))
        answer.cache.CopyFrom(recall_pb2.CacheInfo(hit=True, similarity=similarity, age=duration_to_proto(age)))
        return answer

    async def _keep(
        self,
        asked: _Asked,
        vectors: Sequence[EmbeddedQuery],
        answer: recall_pb2.RecallResponse,
        noise_cosines: Mapping[int, float],
    ) -> None:
        text = asked.query.text
        # Nothing is kept that redaction has not seen. Of other queries hashes and the vector are, but not their words.
        if answer.degraded or self._parts.redactor.redact(text, DEFAULT_CATEGORIES).text != text:
            return
        now = self._clock.now()
        cached = CachedAnswer(
            answer=answer.SerializeToString(),
            query=self._keys.hidden(asked.canonical),
            stored_at=now,
            expires_at=expiry(answer, now, self._lifetime),
            last_turn=asked.look.last_turn,
            epochs=asked.epochs,
            asked=asked_in(
                asked.query,
                self._parts.reader.read(text, reference=asked.reference),
                asked.caller,
                vectors,
                answer,
                noise_cosines,
                self._parts.hasher,
                self._parts.reader,
            ),
        )
        with suppress(*_FAILURES):
            await _in_time(self._parts.answers.keep(asked.tenant_id, asked.keys, cached))


def _state(asked: _Asked) -> Hashable:
    epochs = frozenset(
        (namespace_id, epoch.breaking, frozenset(epoch.additive.items()))
        for namespace_id, epoch in asked.epochs.items()
    )
    return asked.keys.exact, epochs, asked.look.last_turn


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    left = time_left_seconds()
    return await within(_LONGEST_SECONDS if left is None else min(_LONGEST_SECONDS, left * _SHARE_OF_DEADLINE), work)


def _cacheable(query: RecallQuery) -> bool:
    return not query.no_cache and not query.explain_plan and not query.dialogue
