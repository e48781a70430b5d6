"""OpenTelemetry spans, exported over OTLP where the usual OTEL_ variables say so; otherwise nothing is recorded.

The trace's ids do not depend on it (see `trace_context`): they are passed on and logged in any case.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags

from rearview.telemetry.trace_context import TraceContext, enter_trace, parse_traceparent

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

_log = structlog.get_logger(__name__)


class Tracing:
    """Makes spans; without an exporter it is disabled and makes none."""

    def __init__(self, service: str, exporter: SpanExporter | None = None) -> None:
        self._provider: TracerProvider | None = None
        if exporter is not None:
            self._provider = TracerProvider(resource=Resource.create({"service.name": f"rearview-{service}"}))
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
            self._tracer = self._provider.get_tracer("rearview")

    @property
    def enabled(self) -> bool:
        """Whether spans are recorded at all."""
        return self._provider is not None

    @contextmanager
    def server_span(self, name: str, traceparent: str) -> Iterator[Span]:
        """Open the span of a call that is served, below the caller's span; calls made within it continue it."""
        parent = parse_traceparent(traceparent)
        context = trace.set_span_in_context(_remote(parent)) if parent else None
        with self._span(name, SpanKind.SERVER, context) as span:
            yield span

    @contextmanager
    def span(self, name: str) -> Iterator[Span]:
        """Open a span for a stage of the work. Attributes may hold ids and figures, never content."""
        with self._span(name, SpanKind.INTERNAL, None) as span:
            yield span

    def close(self) -> None:
        """Export what is left and stop."""
        if self._provider is not None:
            self._provider.shutdown()

    @contextmanager
    def _span(self, name: str, kind: SpanKind, context: Any) -> Iterator[Span]:
        if self._provider is None:
            yield trace.INVALID_SPAN
            return
        # Exceptions are not recorded: their texts may quote content.
        with self._tracer.start_as_current_span(
            name, context=context, kind=kind, record_exception=False, set_status_on_exception=False
        ) as span:
            made = span.get_span_context()
            enter_trace(
                TraceContext(
                    f"{made.trace_id:032x}", f"{made.span_id:016x}", bool(made.trace_flags & TraceFlags.SAMPLED)
                )
            )
            yield span


def open_tracing(service: str, environment: Mapping[str, str] = os.environ) -> Tracing:
    """Return tracing as the environment asks for: enabled if an OTLP endpoint is named and the exporter installed."""
    wanted = any(environment.get(name) for name in _ENDPOINTS)
    if (
        not wanted
        or environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp"
    ):
        return Tracing(service)
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    except ImportError:
        _log.warning(
            "traces are not exported: install opentelemetry-exporter-otlp-proto-grpc", endpoint_variables=_ENDPOINTS
        )
        return Tracing(service)
    return Tracing(service, OTLPSpanExporter())


def _remote(parent: TraceContext) -> NonRecordingSpan:
    return NonRecordingSpan(
        SpanContext(
            trace_id=int(parent.trace_id, 16),
            span_id=int(parent.span_id, 16),
            is_remote=True,
            trace_flags=TraceFlags(TraceFlags.SAMPLED if parent.sampled else TraceFlags.DEFAULT),
        )
    )
