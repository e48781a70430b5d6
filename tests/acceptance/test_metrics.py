"""What the running stack exports: everything that dashboards and alerts name, exemplars, and no unbounded label."""

from __future__ import annotations

import contextvars
import os
from collections import Counter

import pytest

from rearview.client import Client
from rearview.domain.errors import NamespaceDenied
from rearview.domain.ids import new_id
from rearview.telemetry.trace_context import TraceContext, enter_trace
from tests.support.client_steps import eventually, indexed, refused
from tests.support.expressions import of_panels, of_rules, recordings
from tests.support.mcp_adapter import HttpAdapter, over_http
from tests.support.scrape import exported_names, metrics_of, samples, scraped, value
from tests.support.supervised_stack import SupervisedStack

# Whatever a caller sends, the number of values stays what the code says.
BOUNDED = {
    *("method", "code", "reason", "dependency", "outcome", "pool", "what", "kind", "task", "state", "tier", "round"),
    *("stage", "route", "part", "k", "reached", "category", "cause", "limit_of", "rank", "tool", "by", "le"),
    *("generation", "implementation", "major", "minor", "patchlevel", "version"),  # of the Python process
}
MOST_SERIES = 3_000


@pytest.fixture(scope="session")
def metrics(stack: SupervisedStack, mcp_adapter: HttpAdapter) -> dict[str, str]:
    """Where each process serves its metrics."""
    found = stack.endpoints().metrics
    assert found is not None
    return {**found, "mcp": mcp_adapter.metrics}


def test_dashboards_and_alerts_name_only_what_the_processes_export(metrics: dict[str, str]) -> None:
    exported = {name for address in metrics.values() for name in exported_names(address)}
    assert "rearview_writer_captures_total" in exported
    for expression in [*of_panels(), *of_rules()]:
        assert metrics_of(expression.text) <= exported | recordings(), expression


def test_a_slow_call_leads_to_its_trace(client: Client, metrics: dict[str, str]) -> None:
    trace = TraceContext(os.urandom(16).hex(), os.urandom(8).hex(), sampled=True)

    def recall() -> None:
        enter_trace(trace)
        client.recall("红烧肉 Nordhof")

    contextvars.copy_context().run(recall)
    for service in ("gateway", "retriever"):
        buckets = [
            line
            for line in scraped(metrics[service]).splitlines()
            if line.startswith(f"rearview_{service}_request_seconds_bucket") and trace.trace_id in line
        ]
        assert len(buckets) == 1, service
        assert 'method="Recall"' in buckets[0]


def test_writing_is_counted_by_what_became_of_it(client: Client, metrics: dict[str, str]) -> None:
    def counted() -> Counter[str]:
        found: Counter[str] = Counter()
        for name, label in (
            ("captures", "outcome"),
            ("remembered", "outcome"),
            ("redactions", "category"),
            ("job_attempts", "task"),
        ):
            for sample in [*samples(metrics["writer"]), *samples(metrics["worker"])]:
                if sample.name == f"rearview_writer_{name}_total":
                    found[f"{name} {sample.labels[label]}"] += int(sample.value)
        for process in ("writer", "worker"):
            found["superseded"] += int(value(metrics[process], "rearview_writer_superseded_values_total"))
        return found

    before = counted()
    session = client.session(str(new_id()))
    session.user("我的电话是 13800138000，我住在苏州。")
    session.user("My budget for the sofa is 900 euros.")
    session.user("ok")
    client.remember("The vet is Dr. Okafor, 面诊要预约。")
    client.remember("The vet is Dr. Okafor, 面诊要预约。")
    session.user("No, my budget for the sofa is 1200 euros now.")
    session.end()
    indexed(client)
    after = eventually(
        counted,
        lambda now: (now - before)["job_attempts index_session"] > 0 and (now - before)["captures kept"] > 1,
        "the turns to be counted",
    )
    grown = after - before
    assert grown["captures kept"] + grown["captures dropped"] + grown["captures redundant"] >= 4
    assert grown["captures dropped"] >= 1
    assert grown["remembered created"] >= 1
    assert grown["remembered redundant"] >= 1
    assert grown["redactions PHONE"] >= 1
    assert grown["superseded"] >= 1


def test_the_queue_and_the_tiers_are_measured(client: Client, metrics: dict[str, str]) -> None:
    client.session(str(new_id())).user("The ferry to Texel leaves at 9.")
    indexed(client)
    lifecycle = metrics["lifecycle"]
    eventually(
        lambda: value(lifecycle, "rearview_lifecycle_tier_units", tier="hot"), lambda units: units > 0, "hot units"
    )
    assert value(lifecycle, "rearview_lifecycle_tier_bytes", tier="hot") > 0
    scheduled = [
        sample for sample in samples(lifecycle) if sample.labels == {"task": "index_session", "state": "scheduled"}
    ]
    assert len(scheduled) == 1
    assert value(lifecycle, "rearview_lifecycle_rounds_total", round="measure", outcome="ok") > 0


def test_refusals_are_counted_by_reason_and_tenants_by_rank(client: Client, metrics: dict[str, str]) -> None:
    def denied() -> float:
        return value(metrics["gateway"], "rearview_gateway_refusals_total", reason="NAMESPACE_DENIED")

    before = denied()
    with refused(NamespaceDenied):
        client.with_options(namespace="nobody-s").recall("x")
    assert denied() > before
    ranks = [s.labels["rank"] for s in samples(metrics["gateway"]) if s.name == "rearview_gateway_tenant_calls"]
    assert ranks == ["1", "2", "3", "4", "5"]


async def test_tools_are_counted_by_their_outcome(
    stack: SupervisedStack, mcp_adapter: HttpAdapter, metrics: dict[str, str]
) -> None:
    key = stack.endpoints().api_key
    assert key is not None

    def calls(outcome: str) -> float:
        return value(metrics["mcp"], "rearview_mcp_tool_calls_total", tool="memory_search", outcome=outcome)

    good, bad = calls("OK"), calls("INVALID_FIELD")
    async with over_http(mcp_adapter.url, key) as agent:
        await agent.call_tool("memory_search", {"query": "红烧肉"})
        await agent.call_tool("memory_search", {"query": ""})
    assert (calls("OK"), calls("INVALID_FIELD")) == (good + 1, bad + 1)
    assert value(metrics["mcp"], "rearview_mcp_tool_seconds_count", tool="memory_search") >= 2


def test_no_label_grows_with_callers_and_their_data(metrics: dict[str, str]) -> None:
    for service, address in metrics.items():
        found = samples(address)
        assert {label for sample in found for label in sample.labels} <= BOUNDED, service
        assert len(found) < MOST_SERIES, service
