import contextvars
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rearview.telemetry.trace_context import (
    TraceContext,
    current_trace,
    current_traceparent,
    enter_trace,
    new_trace,
    parse_traceparent,
)
from rearview.telemetry.tracing import Tracing, open_tracing

contexts = st.builds(
    TraceContext,
    st.from_regex(r"\A[0-9a-f]{31}[1-9a-f]\Z"),
    st.from_regex(r"\A[0-9a-f]{15}[1-9a-f]\Z"),
    st.booleans(),
)


@given(contexts)
def test_a_traceparent_comes_back_as_it_went(context: TraceContext) -> None:
    assert parse_traceparent(context.traceparent) == context
    child = context.child()
    assert (child.trace_id, child.sampled) == (context.trace_id, context.sampled)
    assert child.span_id != context.span_id


@given(st.text(max_size=60))
def test_garbage_is_no_traceparent(header: str) -> None:
    assert parse_traceparent(header) is None


@pytest.mark.parametrize(
    "header",
    [
        f"00-{'0' * 32}-{'b' * 16}-01",
        f"00-{'a' * 32}-{'0' * 16}-01",
        f"ff-{'a' * 32}-{'b' * 16}-01",
        f"00-{'a' * 32}-{'b' * 16}-01-more",
        f"00-{'A' * 32}-{'b' * 16}-01",
    ],
)
def test_what_the_specification_forbids_is_refused(header: str) -> None:
    assert parse_traceparent(header) is None


def test_headers_of_later_versions_are_understood() -> None:
    assert parse_traceparent(f"01-{'a' * 32}-{'b' * 16}-01-more") == TraceContext("a" * 32, "b" * 16, True)


def test_a_trace_belongs_to_the_task_that_entered_it() -> None:
    def inside() -> str:
        enter_trace(new_trace())
        return current_traceparent()

    assert contextvars.Context().run(inside)
    assert contextvars.Context().run(current_trace) is None


def test_spans_continue_the_caller_s_trace_and_record_no_exception_text() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing("writer", exporter)
    parent = TraceContext("a" * 32, "b" * 16, sampled=True)

    def work() -> TraceContext | None:
        with suppress(ValueError), tracing.server_span("Recall", parent.traceparent):
            with tracing.span("rerank"):
                inner = current_trace()
            raise ValueError("秘密")
        return inner

    inner = contextvars.copy_context().run(work)
    tracing.close()
    rerank, recall = exporter.get_finished_spans()
    assert (recall.name, rerank.name) == ("Recall", "rerank")
    assert recall.context is not None
    assert recall.parent is not None
    assert f"{recall.context.trace_id:032x}" == parent.trace_id
    assert f"{recall.parent.span_id:016x}" == parent.span_id
    assert rerank.context is not None
    assert inner == TraceContext(parent.trace_id, f"{rerank.context.span_id:016x}", sampled=True)
    assert not recall.events
    assert recall.resource.attributes["service.name"] == "rearview-writer"


def test_nothing_is_recorded_unless_the_environment_asks_for_it() -> None:
    assert not open_tracing("writer", {}).enabled
    assert not open_tracing(
        "writer", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317", "OTEL_SDK_DISABLED": "true"}
    ).enabled
    assert not open_tracing(
        "writer", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317", "OTEL_TRACES_EXPORTER": "none"}
    ).enabled
    with Tracing("writer").server_span("Recall", "") as span:
        assert not span.is_recording()
