"""OpenTelemetry spans, exported over OTLP where the usual OTEL_ variables say so; otherwise nothing is recorded.

The trace's ids do not depend on it (see `trace_context`): they are passed on and logged in any case. What is behind a
service (a statement, a command, an object, a model) gets its span from `child_span`, which needs no tracer at hand: it
belongs to the span that is open in its task, and where none is open it costs one look.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from rearview.telemetry.trace_context import TraceContext, current_trace, enter_trace, parse_traceparent

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing:
    """Makes spans; without an exporter it is disabled and makes none.

    Spans wait for their export in a bounded queue; those that find it full are dropped. The sampler and the queue are
    those of the usual variables (OTEL_TRACES_SAMPLER, OTEL_BSP_*).
    """

    def __init__(self, service: str, exporter: SpanExporter | None = None) -> None:
        self._provider: TracerProvider | None = None
        if exporter is not None:
            self._provider = TracerProvider(
                resource=Resource.create({"service.name": f"rearview-{service}"}), id_generator=_IdsOfTheTrace()
            )
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
    def root_span(self, name: str) -> Iterator[Span]:
        """Open the first span of work that nobody waits for, in the trace that its task is in."""
        with self._span(name, SpanKind.CONSUMER, None) as span:
            yield span

    @contextmanager
    def span(self, name: str, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[Span]:
        """Open a span for a stage of the work. Attributes may hold ids and figures, never content."""
        with self._span(name, kind, None) as span:
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
        outer_trace, outer_tracing = current_trace(), _active.get()
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
            _active.set(self)
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise
            finally:
                _active.set(outer_tracing)
                enter_trace(outer_trace)


_active: ContextVar[Tracing | None] = ContextVar("rearview_active_tracing", default=None)


@contextmanager
def child_span(name: str, **attributes: str | int | float) -> Iterator[Span]:
    """Open a span for a call to what is behind the service; it records nothing outside of a recorded span.

    `name` and `attributes` hold names and figures only: no statement's parameters, no keys, no texts.
    """
    tracing = _active.get()
    if tracing is None or not trace.get_current_span().is_recording():
        yield trace.INVALID_SPAN
        return
    with tracing.span(name, SpanKind.CLIENT) as span:
        for key, value in attributes.items():
            span.set_attribute(key.replace("__", "."), value)
        yield span


def name_of(operation: Callable[..., Any]) -> str:
    """Return the name of the method that an operation, often a lambda within it, stands in."""
    return operation.__qualname__.partition(".<locals>")[0].rpartition(".")[2].lstrip("_")


def open_tracing(service: str, environment: Mapping[str, str] = os.environ) -> Tracing:
    """Return tracing as the environment asks for: enabled if an OTLP endpoint is named."""
    wanted = any(environment.get(name) for name in _ENDPOINTS)
    if (
        not wanted
        or environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp"
    ):
        return Tracing(service)
    return Tracing(service, OTLPSpanExporter())


class _IdsOfTheTrace(RandomIdGenerator):
    """A span without a parent is the first of the trace that its task is in already, and which the log names."""

    def generate_trace_id(self) -> int:
        current = current_trace()
        return int(current.trace_id, 16) if current else super().generate_trace_id()


def _remote(parent: TraceContext) -> NonRecordingSpan:
    return NonRecordingSpan(
        SpanContext(
            trace_id=int(parent.trace_id, 16),
            span_id=int(parent.span_id, 16),
            is_remote=True,
            trace_flags=TraceFlags(TraceFlags.SAMPLED if parent.sampled else TraceFlags.DEFAULT),
        )
    )
