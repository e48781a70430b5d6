"""A collector of traces: a real gRPC server of OpenTelemetry's own TraceService, which keeps what it is sent."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self

import grpc
from google.protobuf import text_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)

MOST_SPANS = 50_000


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span as it came over the wire. `everything` is all of it as text."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: Mapping[str, Any]
    everything: str = field(repr=False)


class OtlpReceiver(TraceServiceServicer):
    """Use as a context; keeps the newest MOST_SPANS spans."""

    def __init__(self) -> None:
        self._spans: deque[ReceivedSpan] = deque(maxlen=MOST_SPANS)
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(2, thread_name_prefix="otlp"))
        add_TraceServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self._port = self._server.add_insecure_port("127.0.0.1:0")

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=None).wait()

    @property
    def variables(self) -> dict[str, str]:
        """The variables by which a process sends its spans here, soon."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._port}",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }

    def Export(  # noqa: N802 - the name of the generated servicer
        self, request: ExportTraceServiceRequest, context: Any
    ) -> ExportTraceServiceResponse:
        """Keep the spans."""
        received = [
            ReceivedSpan(
                service=_attributes(of_resource.resource.attributes).get("service.name", ""),
                name=span.name,
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                attributes=_attributes(span.attributes),
                everything=text_format.MessageToString(span, as_utf8=True),
            )
            for of_resource in request.resource_spans
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
        ]
        with self._lock:
            self._spans.extend(received)
        return ExportTraceServiceResponse()

    def spans(self, trace_id: str | None = None) -> list[ReceivedSpan]:
        """Return the spans of a trace that have come in, or all."""
        with self._lock:
            return [span for span in self._spans if trace_id in (None, span.trace_id)]


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
