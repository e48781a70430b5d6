import asyncio
import contextvars
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rearview.telemetry.job_metrics import observed_jobs
from rearview.telemetry.metrics import Metrics
from rearview.telemetry.trace_context import (
    TraceContext,
    current_trace,
    current_traceparent,
    enter_trace,
    new_trace,
    parse_traceparent,
)
from rearview.telemetry.tracing import Tracing, child_span, name_of, open_tracing

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


def test_what_is_behind_a_service_has_a_span_within_its_call_and_none_outside() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing("retriever", exporter)

    def work() -> TraceContext | None:
        with child_span("postgresql read", statements=5) as span:
            assert not span.is_recording()
        with tracing.server_span("Recall", TraceContext("a" * 32, "b" * 16, sampled=True).traceparent):
            with suppress(ValueError), child_span("postgresql read", db__system__name="postgresql", statements=5):
                raise ValueError("奶奶的红烧肉")
            return current_trace()

    after = contextvars.Context().run(work)
    tracing.close()
    read, recall = exporter.get_finished_spans()
    assert (read.name, dict(read.attributes or {})) == (
        "postgresql read",
        {"db.system.name": "postgresql", "statements": 5, "error.type": "ValueError"},
    )
    assert recall.context is not None
    assert read.parent is not None
    assert read.parent.span_id == recall.context.span_id
    # What follows belongs to the call again, not to the statement that has ended.
    assert after == TraceContext("a" * 32, f"{recall.context.span_id:016x}", sampled=True)
    assert "红烧肉" not in read.to_json() + recall.to_json()


def test_who_does_not_sample_is_not_recorded() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing("retriever", exporter)

    def work() -> str:
        with (
            tracing.server_span("Recall", TraceContext("a" * 32, "b" * 16).traceparent),
            child_span("postgresql read"),
        ):
            return current_traceparent()

    passed_on = contextvars.Context().run(work)
    tracing.close()
    assert exporter.get_finished_spans() == ()
    assert passed_on.startswith(f"00-{'a' * 32}-")
    assert passed_on.endswith("-00")


def test_a_first_span_is_of_the_trace_that_the_log_names() -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing("writer", exporter)
    begun = new_trace()

    def work() -> None:
        enter_trace(begun)
        with tracing.root_span("job index_session"):
            pass

    contextvars.Context().run(work)
    tracing.close()
    (span,) = exporter.get_finished_spans()
    assert span.context is not None
    assert (f"{span.context.trace_id:032x}", span.parent) == (begun.trace_id, None)


async def test_jobs_are_counted_measured_and_each_a_trace_of_its_own() -> None:
    metrics, exporter = Metrics("writer"), InMemorySpanExporter()
    tracing = Tracing("writer", exporter)
    seen: list[TraceContext | None] = []

    async def handler(arguments: Mapping[str, str]) -> None:
        seen.append(current_trace())
        if arguments["session_id"] == "bad":
            raise ValueError("我的电话")

    run = observed_jobs({"index_session": handler}, metrics, tracing)["index_session"]
    await asyncio.create_task(run({"session_id": "good"}))  # type: ignore[arg-type]
    with suppress(ValueError):
        await asyncio.create_task(run({"session_id": "bad"}))  # type: ignore[arg-type]
    tracing.close()
    assert len({trace.trace_id for trace in seen if trace}) == 2
    value = metrics.registry.get_sample_value
    for outcome in ("ok", "failed"):
        labels = {"task": "index_session", "outcome": outcome}
        assert value("rearview_writer_job_attempts_total", labels) == 1
    assert value("rearview_writer_job_seconds_count", {"task": "index_session"}) == 2
    assert [span.name for span in exporter.get_finished_spans()] == ["job index_session"] * 2


class _Store:
    def look(self) -> Callable[[], int]:
        def read() -> int:
            return 1

        return read

    def _run(self) -> Callable[[], int]:
        return lambda: 1


def test_an_operation_is_named_for_the_method_that_it_stands_in() -> None:
    assert name_of(_Store().look()) == "look"
    assert name_of(_Store()._run()) == "run"
    assert name_of(_Store().look) == "look"


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
