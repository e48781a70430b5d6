"""What ties a call to what the caller does: the request being served, and the caller's trace."""

import sys
from typing import Any

from rearview.client.connection import Connection
from rearview.rpc.call_context import outgoing_metadata
from rearview.telemetry.trace_context import TRACEPARENT, TraceContext, current_trace


def call_metadata(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call made from here: the key, and the position in the trace that this runs in.

    That is the trace of a call that is being served, else the active span of OpenTelemetry where the process uses it.
    """
    span = None if current_trace() else _active_span()
    return (*connection.metadata, *outgoing_metadata(), *(((TRACEPARENT, span.traceparent),) if span else ()))


def _active_span() -> TraceContext | None:
    # A process that has not imported it has no span, and the client does not need it.
    api: Any = sys.modules.get("opentelemetry.trace")
    context = api.get_current_span().get_span_context() if api else None
    if context is None or not context.is_valid:
        return None
    return TraceContext(f"{context.trace_id:032x}", f"{context.span_id:016x}", context.trace_flags.sampled)
