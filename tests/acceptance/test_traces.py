"""One recall is one trace, from the agent through every service to what is behind them; and no span holds content."""

from __future__ import annotations

import contextvars
import json
import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from rearview.client import Client
from rearview.domain.ids import new_id
from rearview.evaluation.bench_tiers import swept
from rearview.telemetry.trace_context import TraceContext, enter_trace
from tests.support.client_steps import eventually, indexed, namespace_of
from tests.support.mcp_adapter import HttpAdapter, over_http
from tests.support.otlp_receiver import OtlpReceiver, ReceivedSpan
from tests.support.supervised_stack import SupervisedStack

T = TypeVar("T")
SECOND = timedelta(seconds=1)
TEXTS = ("奶奶的红烧肉要先炒冰糖。", "The winter tyres are at Garage Nordhof.", "周三 review 改到 3 楼 Aurora 会议室。")
WORDS = ("红烧肉", "冰糖", "winter tyres", "Nordhof", "Aurora", "会议室")


def in_trace(work: Callable[[], T], *, sampled: bool = True) -> tuple[str, T]:
    """Return a new trace's id and what `work` returned within it."""
    trace = TraceContext(os.urandom(16).hex(), os.urandom(8).hex(), sampled)

    def run() -> T:
        enter_trace(trace)
        return work()

    return trace.trace_id, contextvars.copy_context().run(run)


def received(traces: OtlpReceiver, trace_id: str, *expected: str) -> list[ReceivedSpan]:
    """Return a trace's spans when all the expected ones, as `service: name`, have come."""
    return eventually(
        lambda: traces.spans(trace_id),
        lambda spans: set(expected) <= {f"{span.service}: {span.name}" for span in spans},
        f"the spans {expected}",
    )


def assert_one_tree(spans: list[ReceivedSpan], root_parents: int = 1) -> None:
    """Every span's parent is another one of the trace, but for the first, whose parent is the caller's."""
    ids = {span.span_id for span in spans}
    assert len({span.parent_id for span in spans} - ids) == root_parents


def test_a_recall_is_one_trace_from_the_caller_to_the_stores(client: Client, traces: OtlpReceiver) -> None:
    client.remember(TEXTS[0])
    session = client.session(str(new_id()))
    session.user(TEXTS[2])
    trace_id, answer = in_trace(lambda: session.recall("红烧肉怎么做？"))
    assert answer.hits
    spans = received(
        traces,
        trace_id,
        "rearview-gateway: rearview.v1.MemoryService/Recall",
        "rearview-gateway: embed query",
        "rearview-gateway: redis look",
        "rearview-gateway: postgresql read",
        "rearview-gateway: call retriever",
        "rearview-retriever: rearview.internal.v1.RetrieverService/Recall",
        "rearview-retriever: postgresql read",
        "rearview-retriever: redis last_turns",
    )
    assert_one_tree(spans)


def test_a_recall_of_cold_memories_has_the_object_store_in_its_trace(client: Client, traces: OtlpReceiver) -> None:
    swept(client, namespace_of(client))
    for text in TEXTS:
        client.remember(text)
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    time.sleep(1.2)  # what was just written is in use
    swept(client, namespace_of(client))
    trace_id, answer = in_trace(lambda: client.recall("Nordhof", include_cold=True, no_cache=True))
    assert TEXTS[1] in [hit.memory.content for hit in answer.hits]
    received(traces, trace_id, "rearview-retriever: s3 get_range", "rearview-retriever: postgresql read")


def test_an_append_and_its_log_lines_are_one_trace(
    client: Client, traces: OtlpReceiver, stack: SupervisedStack
) -> None:
    trace_id, _ = in_trace(lambda: client.session(str(new_id())).user(TEXTS[2]))
    received(
        traces,
        trace_id,
        "rearview-gateway: call writer",
        "rearview-writer: rearview.internal.v1.WriterService/AppendEvents",
        "rearview-writer: postgresql write",
        "rearview-writer: redis run",
    )
    for service in ("gateway", "writer"):
        lines = (stack.folder.logs / f"{service}.log").read_text("utf-8", errors="replace").splitlines()
        of_trace = [json.loads(line) for line in lines if trace_id in line]
        assert [line["event"] for line in of_trace] == ["call"]
        assert of_trace[0]["trace_id"] == trace_id


def test_a_job_is_a_trace_of_its_own(client: Client, traces: OtlpReceiver) -> None:
    trace_id, _ = in_trace(lambda: client.session(str(new_id())).user(TEXTS[1]))
    indexed(client)
    jobs = eventually(
        lambda: [span for span in traces.spans() if span.name == "job index_session"], bool, "a job's span"
    )
    assert all(span.parent_id == "" and span.trace_id != trace_id for span in jobs)
    inside = {span.name for span in received(traces, jobs[-1].trace_id, "rearview-writer: postgresql transaction")}
    assert "job index_session" in inside


def test_who_does_not_sample_is_not_recorded_and_the_log_has_the_trace_all_the_same(
    client: Client, traces: OtlpReceiver, stack: SupervisedStack
) -> None:
    trace_id, _ = in_trace(lambda: client.recall("Nordhof"), sampled=False)
    later, _ = in_trace(lambda: client.recall("Nordhof"))
    received(traces, later, "rearview-gateway: rearview.v1.MemoryService/Recall")
    assert traces.spans(trace_id) == []
    assert trace_id in (stack.folder.logs / "retriever.log").read_text("utf-8", errors="replace")


async def test_the_mcp_adapter_begins_a_trace_or_goes_on_with_the_agent_s(
    client: Client, stack: SupervisedStack, traces: OtlpReceiver, mcp_adapter: HttpAdapter
) -> None:
    key = stack.endpoints().api_key
    assert key is not None
    trace_id, parent = os.urandom(16).hex(), os.urandom(8).hex()
    headers = {"traceparent": f"00-{trace_id}-{parent}-01"}
    async with over_http(mcp_adapter.url, key, headers=headers) as agent:
        # Nobody has asked that before: an answer from the cache has no span of the retriever.
        assert not (await agent.call_tool("memory_search", {"query": f"红烧肉 {os.urandom(8).hex()}"})).is_error
    spans = received(
        traces,
        trace_id,
        "rearview-mcp: tool memory_search",
        "rearview-gateway: rearview.v1.MemoryService/Recall",
        "rearview-retriever: rearview.internal.v1.RetrieverService/Recall",
    )
    (tool,) = [span for span in spans if span.name == "tool memory_search"]
    assert (tool.parent_id, tool.attributes["rearview.outcome"]) == (parent, "OK")
    before = {span.trace_id for span in traces.spans()}
    async with over_http(mcp_adapter.url, key) as agent:
        assert not (await agent.call_tool("memory_search", {"query": "tyres"})).is_error
    begun = eventually(
        lambda: [s for s in traces.spans() if s.name == "tool memory_search" and s.trace_id not in before],
        bool,
        "the adapter's own trace",
    )
    received(traces, begun[-1].trace_id, "rearview-gateway: rearview.v1.MemoryService/Recall")


def test_no_span_holds_content(client: Client, traces: OtlpReceiver) -> None:
    client.session(str(new_id())).user(TEXTS[0])
    client.session(str(new_id())).user(TEXTS[2])
    memory = client.remember(TEXTS[1]).memory
    indexed(client)
    client.update_memory(memory.name, {"content": f"{TEXTS[1]} {TEXTS[2]}"})
    trace_id, _ = in_trace(lambda: client.recall("红烧肉 冰糖 winter tyres Nordhof Aurora 会议室", no_cache=True))
    received(traces, trace_id, "rearview-gateway: rearview.v1.MemoryService/Recall")
    spans = traces.spans()
    assert len(spans) > 20
    for span in spans:
        assert not [word for word in WORDS if word in span.everything], span.name
