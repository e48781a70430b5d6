"""Recalls, their answers and their traces."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import available_timezones

from rearview.domain.event import EventRole
from rearview.domain.names import (
    EventName,
    NamespaceName,
    SessionName,
    parse_identified,
    parse_namespace,
    parse_session,
)
from rearview.domain.recall import (
    DEFAULT_CONTEXT_TOKENS,
    DEFAULT_TOP_K,
    MAX_CONTEXT_TOKENS,
    MAX_DIALOGUE_TURNS,
    MAX_NAMESPACES,
    MAX_QUERY_CHARACTERS,
    MAX_TOP_K,
    Highlight,
    Hit,
    MemoryFilter,
    QueryTurn,
    Recalled,
    RecallQuery,
    RecallTrace,
    Route,
    ScoreParts,
    TraceCandidate,
)
from rearview.rpc.convert.filters import memory_filter_from_proto
from rearview.rpc.convert.memories import memory_to_proto
from rearview.rpc.convert.requests import require_namespace
from rearview.rpc.convert.times import EPOCH, duration_to_proto, time_from_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import memory_pb2, recall_pb2

TRACES = "recallTraces"
MAX_PROFILE_CHARACTERS = 63
MAX_EVENTS_PER_HIT = 3
DEFAULT_RERANK_WEIGHT = 0.7
DEFAULT_TIME_ZONE = "UTC"

# Words like "yesterday" are worked out in the caller's zone, which needs a day of room at both ends of the calendar.
_EARLIEST_REFERENCE = EPOCH + timedelta(days=366)
_LATEST_REFERENCE = EPOCH + timedelta(days=8029 * 365)


def recall_from_proto(request: recall_pb2.RecallRequest, now: datetime) -> RecallQuery:
    """Return what is asked; the namespaces come from `recall_namespaces_from_proto`.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    namespaces = _namespaces(request, found)
    if bool(request.query.strip()) == bool(request.dialogue):
        found.add("query", "give either a query or a dialogue")
    reference_time = now
    if request.HasField("reference_time"):
        reference_time = time_from_proto(request.reference_time, "reference_time", found)
        if not _EARLIEST_REFERENCE <= reference_time <= _LATEST_REFERENCE:
            found.add("reference_time", "must be a time of the years 1971 to 9990")
    budget = request.context_token_budget if request.HasField("context_token_budget") else DEFAULT_CONTEXT_TOKENS
    if not 0 <= budget <= MAX_CONTEXT_TOKENS:
        found.add("context_token_budget", f"must be from 0 to {MAX_CONTEXT_TOKENS}")
    query = RecallQuery(
        text=found.text(request.query, "query", max_characters=MAX_QUERY_CHARACTERS),
        reference_time=reference_time,
        dialogue=_dialogue(request.dialogue, found),
        session_id=_session_id(request.session, namespaces, found) if request.session else "",
        top_k=found.whole(request.top_k, "top_k", default=DEFAULT_TOP_K, low=1, high=MAX_TOP_K),
        filter=found.attempt(MemoryFilter(), memory_filter_from_proto, request.filter, "filter"),
        as_of=time_from_proto(request.as_of, "as_of", found) if request.HasField("as_of") else None,
        time_zone=_time_zone(request.time_zone, found),
        disabled_routes=frozenset(
            found.member(Route, route, f"disabled_routes[{index}]")
            for index, route in enumerate(request.disabled_routes)
        ),
        rerank=not request.rerank.disabled,
        rerank_weight=found.fraction(request.rerank.weight, "rerank.weight")
        if request.rerank.HasField("weight")
        else DEFAULT_RERANK_WEIGHT,
        include_cold=request.include_cold,
        no_cache=request.no_cache,
        profile=found.text(request.profile, "profile", max_characters=MAX_PROFILE_CHARACTERS),
        group_by_memory=request.group_by_memory,
        context_token_budget=budget,
        include_metadata=request.include_metadata,
        explain_plan=request.explain_plan,
    )
    found.raise_if_any()
    return query


def recall_namespaces_from_proto(request: recall_pb2.RecallRequest) -> tuple[str, ...]:
    """Return the namespaces to recall from, the parent first, each once. Raises: InvalidFields."""
    found = Violations()
    namespaces = _namespaces(request, found)
    found.raise_if_any()
    return namespaces


def recalled_to_proto(recalled: Recalled, *, include_metadata: bool = False) -> recall_pb2.RecallResponse:
    """Return the answer's message; metadata and event names of the memories only where they were asked for."""
    return recall_pb2.RecallResponse(
        hits=[_hit_to_proto(hit, include_metadata) for hit in recalled.hits],
        context=recalled.context,
        context_tokens=recalled.context_tokens,
        trace=f"{TRACES}/{recalled.trace_id}",
        degraded=recalled.degraded,
        ranker=recalled.ranker,
        cache=recall_pb2.CacheInfo(
            hit=recalled.cache_hit,
            similarity=recalled.cache_similarity,
            age=duration_to_proto(recalled.cache_age),
        )
        if recalled.cache_hit
        else None,
        empty_reason=recall_pb2.EmptyReason.ValueType(recalled.empty_reason),
    )


def recall_trace_to_proto(trace: RecallTrace) -> recall_pb2.RecallTrace:
    """Return the trace's message."""
    return recall_pb2.RecallTrace(
        name=f"{TRACES}/{trace.trace_id}",
        query=trace.query,
        namespaces=[str(NamespaceName(namespace)) for namespace in trace.namespaces],
        time=time_to_proto(trace.at),
        understanding=trace.understanding,
        route_counts=trace.route_counts,
        candidates=[
            recall_pb2.TraceCandidate(
                resource_name=candidate.resource_name,
                routes=_routes_to_proto(candidate.routes),
                score=score_to_proto(candidate.score),
                rank=candidate.rank,
                dropped_because=candidate.dropped_because,
            )
            for candidate in trace.candidates
        ],
        degraded=trace.degraded,
        stage_milliseconds=trace.stage_milliseconds,
        plan=trace.plan,
    )


def recall_trace_from_proto(message: recall_pb2.RecallTrace) -> RecallTrace:
    """Return the trace, for stores that keep it as a message; the inverse of `recall_trace_to_proto`.

    Raises:
        InvalidFields: it is not a trace.
    """
    found = Violations()
    trace = RecallTrace(
        trace_id=parse_identified(message.name, TRACES, "name"),
        query=message.query,
        namespaces=tuple(
            found.attempt(NamespaceName(""), parse_namespace, name, f"namespaces[{index}]").namespace
            for index, name in enumerate(message.namespaces)
        ),
        at=time_from_proto(message.time, "time", found),
        understanding=dict(message.understanding),
        route_counts=dict(message.route_counts),
        candidates=tuple(
            TraceCandidate(
                resource_name=candidate.resource_name,
                routes=frozenset(
                    found.member(Route, route, f"candidates[{index}].routes") for route in candidate.routes
                ),
                score=score_from_proto(candidate.score),
                rank=candidate.rank,
                dropped_because=candidate.dropped_because,
            )
            for index, candidate in enumerate(message.candidates)
        ),
        degraded=tuple(message.degraded),
        stage_milliseconds=dict(message.stage_milliseconds),
        plan=message.plan,
    )
    found.raise_if_any()
    return trace


def score_to_proto(score: ScoreParts) -> recall_pb2.ScoreParts:
    """Return the score's message; parts that were not computed stay unset."""
    return recall_pb2.ScoreParts(
        total=score.total,
        relevance=score.relevance,
        recency=score.recency,
        frequency=score.frequency,
        emotion=score.emotion,
        relevance_weight=score.relevance_weight,
        recency_weight=score.recency_weight,
        frequency_weight=score.frequency_weight,
        emotion_weight=score.emotion_weight,
        vector_similarity=score.vector_similarity,
        keyword_score=score.keyword_score,
        rerank_score=score.rerank_score,
        fusion_terms=score.fusion_terms,
    )


def score_from_proto(message: recall_pb2.ScoreParts) -> ScoreParts:
    """Return the score; the inverse of `score_to_proto`, to the precision of float32."""
    return ScoreParts(
        total=message.total,
        relevance=message.relevance,
        recency=message.recency,
        frequency=message.frequency,
        emotion=message.emotion,
        relevance_weight=message.relevance_weight,
        recency_weight=message.recency_weight,
        frequency_weight=message.frequency_weight,
        emotion_weight=message.emotion_weight,
        vector_similarity=message.vector_similarity if message.HasField("vector_similarity") else None,
        keyword_score=message.keyword_score if message.HasField("keyword_score") else None,
        rerank_score=message.rerank_score if message.HasField("rerank_score") else None,
        fusion_terms=dict(message.fusion_terms),
    )


def _namespaces(request: recall_pb2.RecallRequest, found: Violations) -> tuple[str, ...]:
    nowhere = NamespaceName("")
    names = [found.attempt(nowhere, parse_namespace, request.parent, "parent").namespace]
    for index, name in enumerate(request.additional_namespaces[:MAX_NAMESPACES]):
        names.append(found.attempt(nowhere, parse_namespace, name, f"additional_namespaces[{index}]").namespace)
    distinct = tuple(dict.fromkeys(names))
    if len(distinct) > MAX_NAMESPACES or len(request.additional_namespaces) > MAX_NAMESPACES:
        found.add("additional_namespaces", f"at most {MAX_NAMESPACES} namespaces can be recalled from at once")
    return distinct


def _dialogue(turns: Iterable[recall_pb2.QueryTurn], found: Violations) -> tuple[QueryTurn, ...]:
    dialogue = []
    for index, turn in enumerate(turns):
        if index == MAX_DIALOGUE_TURNS:
            found.add("dialogue", f"has too many turns; at most {MAX_DIALOGUE_TURNS} are allowed")
            break
        field = f"dialogue[{index}]"
        role = found.member(EventRole, turn.role, f"{field}.role")
        if role not in (EventRole.USER, EventRole.ASSISTANT):
            found.add(f"{field}.role", "must be USER or ASSISTANT")
        content = found.text(turn.content, f"{field}.content", max_characters=MAX_QUERY_CHARACTERS, required=True)
        dialogue.append(QueryTurn(role, content))
    return tuple(dialogue)


def _session_id(name: str, namespaces: tuple[str, ...], found: Violations) -> str:
    session = found.attempt(SessionName(namespaces[0], ""), parse_session, name, "session")
    require_namespace(session.namespace, namespaces[0], "session", found)
    return session.session


def _time_zone(name: str, found: Violations) -> str:
    if not name:
        return DEFAULT_TIME_ZONE
    if name not in _known_time_zones():
        found.add("time_zone", "is not an IANA time zone, for example Asia/Shanghai")
    return name


@cache
def _known_time_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _hit_to_proto(hit: Hit, include_metadata: bool) -> recall_pb2.RecallHit:
    events = [EventName(hit.namespace, h.session_id, h.event.event_id) for h in hit.highlights]
    if hit.memory is not None and not events:
        events = [EventName(hit.namespace, session_id, event_id) for session_id, event_id in hit.memory.event_ids]
    return recall_pb2.RecallHit(
        memory=memory_to_proto(hit.memory, hit.namespace, with_metadata=include_metadata, with_events=include_metadata)
        if hit.memory
        else _turn_as_memory(hit.namespace, hit.highlights),
        score=score_to_proto(hit.score),
        events=[str(event) for event in events[:MAX_EVENTS_PER_HIT]],
        highlights=[
            recall_pb2.Highlight(
                event=str(EventName(hit.namespace, h.session_id, h.event.event_id)),
                text=h.event.searchable_text,
                speaker=h.event.speaker,
                occurred_at=time_to_proto(h.event.occurred_at),
            )
            for h in hit.highlights[:MAX_EVENTS_PER_HIT]
        ],
        routes=_routes_to_proto(hit.routes),
        citation=hit.citation,
    )


def _turn_as_memory(namespace: str, highlights: tuple[Highlight, ...]) -> memory_pb2.Memory | None:
    if not highlights:
        return None
    turn = highlights[0]
    return memory_pb2.Memory(
        content=turn.event.searchable_text,
        session=str(SessionName(namespace, turn.session_id)),
        occurred_at=time_to_proto(turn.event.occurred_at),
        redactions=turn.event.redactions,
    )


def _routes_to_proto(routes: Iterable[Route]) -> list[recall_pb2.RecallRoute.ValueType]:
    return [recall_pb2.RecallRoute.ValueType(route) for route in sorted(routes)]
