"""What is told of every call of a tool: counts, duration, a span in the agent's trace, a line in the log."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.requests import Request

from rearview.rpc.call_context import begin_call
from rearview.telemetry.metrics import Metrics, observe_in_trace
from rearview.telemetry.trace_context import TRACEPARENT, current_trace, enter_trace, parse_traceparent
from rearview.telemetry.tracing import Tracing

READ_RESOURCE = "resources/read"

_log = structlog.get_logger("rearview.mcp_adapter")


@dataclass(slots=True)
class Outcome:
    """How a call ends: `OK`, or the reason of its error. What is not noted ended unexpectedly."""

    reason: str = "INTERNAL"


class CallTelemetry:
    """Stands around calls. The names of tools are those of the adapter, so their number is bounded."""

    def __init__(self, metrics: Metrics, tracing: Tracing) -> None:
        self._tracing = tracing
        self._calls = metrics.counter(
            "tool_calls", "Calls of tools, and reads of resources, that ended, by outcome.", ("tool", "outcome")
        )
        self._seconds = metrics.histogram("tool_seconds", "Duration of calls of tools in seconds.", ("tool",))
        self._in_progress = metrics.gauge("tool_calls_in_progress", "Calls of tools that are being served.")

    @contextmanager
    def call(self, tool: str, traceparent: str) -> Iterator[Outcome]:
        """Yield where the outcome of a call is to be noted. Calls to the gateway made within belong to its trace; an
        agent's trace goes on even where no spans are exported."""
        request_id = begin_call("", None)
        before, parent = current_trace(), parse_traceparent(traceparent)
        enter_trace(parent.child() if parent else None)
        outcome = Outcome()
        started = time.perf_counter()
        try:
            with (
                self._in_progress.track_inprogress(),
                self._tracing.server_span(f"tool {tool}", traceparent) as span,
            ):
                span.set_attribute("rearview.request_id", request_id)
                try:
                    yield outcome
                finally:
                    span.set_attribute("rearview.outcome", outcome.reason)
                    seconds = time.perf_counter() - started
                    self._calls.labels(tool, outcome.reason).inc()
                    observe_in_trace(self._seconds.labels(tool), seconds)
                    _log.info(
                        "tool call",
                        tool=tool,
                        outcome=outcome.reason,
                        milliseconds=round(seconds * 1000, 1),
                        request_id=request_id,
                    )
        finally:
            enter_trace(before)


def traceparent_of(request: Request | None, meta: Mapping[str, Any] | None) -> str:
    """Return the trace that an agent names, in the HTTP header or, over stdio, in the request's `_meta`."""
    header = request.headers.get(TRACEPARENT, "") if request is not None else ""
    named = header or (meta or {}).get(TRACEPARENT, "")
    return named if isinstance(named, str) else ""
