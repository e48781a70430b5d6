"""What tools and resources answer: messages of `rearview.v1` as plain JSON, and the schemas of that."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from rearview.v1 import event_pb2, forget_pb2, memory_pb2, recall_pb2

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
WHOLE: Json = {"type": "integer"}
TEXTS: Json = {"type": "array", "items": TEXT}


def answer_schema(properties: Mapping[str, Json], *, optional: tuple[str, ...] = ()) -> Json:
    """Return the schema of an object; what is not optional is always there."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
    }


MEMORY_SCHEMA = answer_schema(
    {
        "id": TEXT,
        "namespace": TEXT,
        "type": TEXT,
        "content": TEXT,
        "state": TEXT,
        "priority": NUMBER,
        "pinned": {"type": "boolean"},
        "entities": TEXTS,
        "labels": {"type": "object"},
        "occurred_at": TEXT,
        "create_time": TEXT,
        "update_time": TEXT,
        "session": TEXT,
        "origin": TEXT,
        "redactions": TEXTS,
        "etag": TEXT,
    },
    optional=("occurred_at", "create_time", "update_time", "session", "origin", "redactions"),
)
HIT_SCHEMA = answer_schema(
    {
        "id": TEXT,
        "content": TEXT,
        "type": TEXT,
        "score": NUMBER,
        "citation": TEXT,
        "occurred_at": TEXT,
        "namespace": TEXT,
        "session": TEXT,
        "events": TEXTS,
        "highlights": TEXTS,
        "routes": TEXTS,
        "labels": {"type": "object"},
        "etag": TEXT,
    },
    optional=("namespace", "session", "labels", "etag", "occurred_at"),
)
RECEIPT_SCHEMA = answer_schema(
    {
        "receipt": TEXT,
        "state": TEXT,
        "memory_count": WHOLE,
        "event_count": WHOLE,
        "memories": TEXTS,
        "purge_after": TEXT,
        "preview": {"type": "boolean"},
        "confirmation_token": TEXT,
    },
    optional=("confirmation_token", "purge_after"),
)


def memory_json(memory: memory_pb2.Memory) -> Json:
    """Return a memory; what is not set is left out."""
    namespace, _, memory_id = memory.name.removeprefix("namespaces/").partition("/memories/")
    return {
        "id": memory_id,
        "namespace": namespace,
        "type": _word(memory_pb2.MemoryType.Name(memory.type), "MEMORY_TYPE_"),
        "content": memory.content,
        "state": _word(memory_pb2.MemoryState.Name(memory.state), "MEMORY_STATE_"),
        "priority": round(memory.priority, 4),
        "pinned": memory.pinned,
        "entities": [entity.text for entity in memory.entities],
        "labels": dict(memory.labels),
        "etag": memory.etag,
    } | _without_empty(
        {
            "session": memory.session.rpartition("/")[2],
            "origin": _word(memory_pb2.Origin.Name(memory.origin), "ORIGIN_"),
            "occurred_at": time_json(memory.occurred_at),
            "create_time": time_json(memory.create_time),
            "update_time": time_json(memory.update_time),
            "redactions": list(memory.redactions),
        }
    )


def hit_json(hit: recall_pb2.RecallHit) -> Json:
    """Return a hit. A turn that is not indexed yet has no id; it is named by its event."""
    memory = hit.memory
    namespace, _, memory_id = memory.name.removeprefix("namespaces/").partition("/memories/")
    return {
        "id": memory_id,
        "content": memory.content,
        "type": _word(memory_pb2.MemoryType.Name(memory.type), "MEMORY_TYPE_"),
        "score": round(hit.score.total, 4),
        "citation": hit.citation,
        "events": list(hit.events),
        "highlights": [highlight.text for highlight in hit.highlights],
        "routes": [_word(recall_pb2.RecallRoute.Name(route), "RECALL_ROUTE_") for route in hit.routes],
    } | _without_empty(
        {
            "namespace": namespace,
            "session": memory.session.rpartition("/")[2],
            "labels": dict(memory.labels),
            "etag": memory.etag,
            "occurred_at": time_json(memory.occurred_at),
        }
    )


def receipt_json(receipt: forget_pb2.ForgetReceipt) -> Json:
    """Return what was, or would be, forgotten."""
    return {
        "receipt": receipt.name,
        "state": _word(forget_pb2.ForgetState.Name(receipt.state), "FORGET_STATE_"),
        "memory_count": receipt.memory_count,
        "event_count": receipt.event_count,
        "memories": [name.rpartition("/")[2] for name in receipt.memories],
        "preview": receipt.preview,
    } | _without_empty(
        {"confirmation_token": receipt.confirmation_token, "purge_after": time_json(receipt.purge_after_time)}
    )


def turn_json(event: event_pb2.Event) -> Json:
    """Return a turn of a session."""
    content = event.content or event.tool_call.result
    return {
        "event": event.name,
        "role": _word(event_pb2.Role.Name(event.role), "ROLE_"),
        "content": content,
        "occurred_at": time_json(event.occurred_at),
    } | _without_empty({"speaker": event.speaker, "tool": event.tool_call.tool})


def recall_trace_json(trace: recall_pb2.RecallTrace) -> Json:
    """Return what a recall did, candidates best first."""
    return {
        "trace": trace.name,
        "query": trace.query,
        "namespaces": list(trace.namespaces),
        "time": time_json(trace.time),
        "understanding": dict(trace.understanding),
        "route_counts": dict(trace.route_counts),
        "candidates": [_candidate_json(candidate) for candidate in trace.candidates],
        "degraded": list(trace.degraded),
        "stage_milliseconds": {stage: round(value, 3) for stage, value in trace.stage_milliseconds.items()},
    }


def capture_trace_json(trace: event_pb2.CaptureTrace) -> Json:
    """Return what became of a turn."""
    return {
        "event": trace.event,
        "outcome": _word(event_pb2.CaptureOutcome.Name(trace.outcome), "CAPTURE_OUTCOME_"),
        "reason": trace.reason,
        "importance": round(trace.importance, 4),
        "memories": list(trace.memories),
        "superseded": list(trace.superseded),
        "redactions": list(trace.redactions),
    }


def time_json(moment: Timestamp) -> str:
    """Return ISO 8601 in UTC; empty for a time that is not set."""
    return moment.ToJsonString() if moment.seconds or moment.nanos else ""


def _candidate_json(candidate: recall_pb2.TraceCandidate) -> Json:
    score = candidate.score
    return {
        "name": candidate.resource_name,
        "rank": candidate.rank,
        "score": round(score.total, 4),
        "relevance": round(score.relevance, 4),
        "recency": round(score.recency, 4),
        "frequency": round(score.frequency, 4),
        "emotion": round(score.emotion, 4),
        "terms": {term: round(value, 4) for term, value in score.fusion_terms.items()},
        "routes": [_word(recall_pb2.RecallRoute.Name(route), "RECALL_ROUTE_") for route in candidate.routes],
        "dropped_because": candidate.dropped_because,
    }


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower()


def _without_empty(values: Json) -> Json:
    return {name: value for name, value in values.items() if value}
