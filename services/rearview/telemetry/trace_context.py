"""W3C Trace Context (https://www.w3.org/TR/trace-context/): which trace a call belongs to, without any tracing library.

The ids exist whether or not spans are exported, so that logs, audit and traces of one call can always be joined.
"""

import os
import re
from contextvars import ContextVar
from dataclasses import dataclass

TRACEPARENT = "traceparent"

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_INVALID_VERSION = "ff"


@dataclass(frozen=True, slots=True)
class TraceContext:
    """A position in a trace: `trace_id` 32 and `span_id` 16 hex digits, neither all zero."""

    trace_id: str
    span_id: str
    sampled: bool = False

    @property
    def traceparent(self) -> str:
        """The header that passes it on."""
        return f"00-{self.trace_id}-{self.span_id}-{int(self.sampled):02x}"

    def child(self) -> "TraceContext":
        """Return a new position in the same trace."""
        return TraceContext(self.trace_id, os.urandom(8).hex(), self.sampled)


_current: ContextVar[TraceContext | None] = ContextVar("rearview_trace_context", default=None)


def new_trace() -> TraceContext:
    """Return the first position of a new, unsampled trace."""
    return TraceContext(os.urandom(16).hex(), os.urandom(8).hex())


def parse_traceparent(header: str) -> TraceContext | None:
    """Return what a `traceparent` header says; None when it is not one (the specification asks to start anew then)."""
    match = _TRACEPARENT.fullmatch(header)
    if match is None:
        return None
    version, trace_id, span_id, flags, rest = match.groups()
    if version == _INVALID_VERSION or (version == "00" and rest):
        return None
    if set(trace_id) == {"0"} or set(span_id) == {"0"}:
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1))


def enter_trace(context: TraceContext | None) -> None:
    """Make it the position of the running task; None leaves all traces."""
    _current.set(context)


def current_trace() -> TraceContext | None:
    """Return the position of the running task; None outside of traces."""
    return _current.get()


def current_traceparent() -> str:
    """Return the header for calls made from here; empty outside of traces."""
    context = _current.get()
    return context.traceparent if context else ""
