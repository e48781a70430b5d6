"""Calls that sloppy agents make, and what they must be told."""

from dataclasses import dataclass, field
from typing import Any

UNKNOWN_MEMORY = "01890f3e-7a5c-7c3e-8f00-0123456789ab"


@dataclass(frozen=True, slots=True)
class BadCall:
    """`told` must stand in the answer."""

    tool: str
    told: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.tool}: {self.told}"


BAD_CALLS = [
    BadCall("memory_write", "content: is required"),
    BadCall("memory_write", "content: must not be empty", {"content": "  "}),
    BadCall("memory_write", "did you mean 'explicit'?", {"content": "x", "type": "explicite"}),
    BadCall("memory_write", "priority: expected a number from 0 to 1", {"content": "x", "priority": 1.5}),
    BadCall("memory_write", "timestamp: expected an ISO 8601 time", {"content": "x", "timestamp": "昨天"}),
    BadCall("memory_write", "offset is missing", {"content": "x", "timestamp": "2026-08-15T10:30:00"}),
    BadCall("memory_write", "ambiguous as Unix time", {"content": "x", "timestamp": "17867"}),
    BadCall("memory_write", "entities: expected a list", {"content": "x", "entities": {"name": "Li Lei"}}),
    BadCall("memory_write", "labels[0]: expected an object", {"content": "x", "labels": ["project"]}),
    BadCall("memory_write", "did you mean 'content'?", {"contnt": "我叫李雷"}),
    BadCall("memory_write", "session", {"content": "x", "session": "no good!"}),
    BadCall("memory_search", "query: is required"),
    BadCall("memory_search", "top_k: expected a whole number from 1 to 100", {"query": "x", "top_k": 2.5}),
    BadCall("memory_search", "belongs into time_range.start", {"query": "x", "start": "2026-01-01"}),
    BadCall("memory_search", "filters.types[0]: expected one of", {"query": "x", "filters": {"types": ["facts"]}}),
    BadCall("memory_search", "time_zone: expected an IANA zone", {"query": "x", "time_zone": "Mars/Base"}),
    BadCall("memory_search", "as_of: expected an ISO 8601 time", {"query": "x", "as_of": "15/08/2026"}),
    BadCall("memory_update", "INVALID_FIELD", {"memory": "not-an-id", "content": "x"}),
    BadCall("memory_update", "nothing to change", {"memory": UNKNOWN_MEMORY}),
    BadCall("memory_update", "RESOURCE_NOT_FOUND", {"memory": UNKNOWN_MEMORY, "content": "x"}),
    BadCall("memory_forget", "exactly one of"),
    BadCall("memory_forget", "memories: expected 1 to 1000 items", {"memories": []}),
    BadCall("memory_append", "turns: is required", {"session": "s"}),
    BadCall(
        "memory_append",
        "turns[0].role: expected one of",
        {"session": "s", "turns": [{"role": "robot", "content": "x"}]},
    ),
    BadCall("memory_context", "max_tokens: expected a whole number", {"query": "x", "max_tokens": 0}),
    BadCall("memory_explain", "give exactly one of trace, event"),
    BadCall("memory_search", "NAMESPACE_DENIED", {"query": "x", "namespace": "nobody-has-this"}),
    # What the gateway finds wrong is told by the names that the tool has for it.
    BadCall("memory_write", "- content: has 33000 characters", {"content": "忘" * 33_000}),
    BadCall("memory_write", "- labels: keys are", {"content": "x", "labels": {"Project": "apollo"}}),
    BadCall("memory_write", "- namespace: ids here are", {"content": "x", "namespace": "我的 team"}),
    BadCall("memory_update", "- memory: ", {"memory": "not-an-id", "content": "x"}),
    BadCall(
        "memory_search",
        "- time_range.end: must lie after",
        {"query": "x", "time_range": {"start": "2026年8月31日", "end": "2026-08-01"}},
    ),
    BadCall("memory_search", "- filters.labels", {"query": "x", "filters": {"labels": {"Project": "apollo"}}}),
    BadCall("memory_forget", "- memories: give exactly one of memories, session", {"subject": "李雷", "query": "tea"}),
    BadCall("memory_forget", "- last_turns: is for a session", {"last_turns": 2, "subject": "李雷"}),
    BadCall(
        "memory_append",
        "- turns[0].content: ",
        {"session": "s", "turns": [{"role": "user", "content": "茶" * 33_000}]},
    ),
    BadCall("memory_explain", "- trace: must be a UUID", {"trace": "x"}),
]
