import contextvars
import urllib.request

import pytest
from prometheus_client.openmetrics import exposition as openmetrics

from rearview.telemetry.metrics import Metrics, RequestMetrics, start_metrics_server
from rearview.telemetry.pools import PoolFigures
from rearview.telemetry.trace_context import TraceContext, enter_trace


def test_names_carry_the_service() -> None:
    metrics = Metrics("writer")
    metrics.counter("turns", "Turns appended.").inc(2)
    metrics.gauge("queue_jobs", "Jobs waiting.").set(3)
    metrics.histogram("embed_seconds", "Seconds to embed.", ("model",)).labels("e5").observe(0.02)
    value = metrics.registry.get_sample_value
    assert value("rearview_writer_turns_total") == 2
    assert value("rearview_writer_queue_jobs") == 3
    assert value("rearview_writer_embed_seconds_bucket", {"model": "e5", "le": "0.025"}) == 1
    assert value("rearview_writer_turns_created") is None


@pytest.mark.parametrize("label", ["tenant", "tenant_id", "namespace", "namespace_id", "session", "principal"])
def test_labels_that_grow_with_the_customers_are_refused(label: str) -> None:
    for make in (Metrics("writer").counter, Metrics("writer").gauge, Metrics("writer").histogram):
        with pytest.raises(ValueError, match=label):
            make("things", "Things.", ("code", label))


def test_two_services_in_one_process_do_not_meet() -> None:
    one, two = Metrics("gateway"), Metrics("gateway")
    one.counter("hits", "Hits.").inc()
    two.counter("hits", "Hits.")
    assert two.registry.get_sample_value("rearview_gateway_hits_total") == 0


def test_a_duration_leads_to_the_trace_that_it_is_of() -> None:
    metrics = Metrics("gateway")
    requests = RequestMetrics(metrics)
    trace = TraceContext("a" * 32, "b" * 16, sampled=True)

    def call() -> None:
        enter_trace(trace)
        requests.observe("Recall", "OK", 0.2)

    contextvars.Context().run(call)
    contextvars.Context().run(requests.observe, "Recall", "OK", 0.002)
    shown = openmetrics.generate_latest(metrics.registry).decode()  # type: ignore[no-untyped-call]
    assert f'le="0.25",method="Recall"}} 2.0 # {{trace_id="{trace.trace_id}"}} 0.2' in shown
    assert shown.count("trace_id") == 1


def test_errors_are_counted_by_reason_and_each_reason_exists_before_its_first() -> None:
    metrics = Metrics("gateway")
    requests = RequestMetrics(metrics)
    value = metrics.registry.get_sample_value
    assert value("rearview_gateway_refusals_total", {"reason": "CREDENTIAL_INVALID"}) == 0
    requests.observe("Recall", "UNAUTHENTICATED", 0.1, "CREDENTIAL_INVALID")
    requests.observe("Recall", "OK", 0.1)
    assert value("rearview_gateway_refusals_total", {"reason": "CREDENTIAL_INVALID"}) == 1
    assert sum(s.value for f in metrics.registry.collect() if f.name.endswith("refusals") for s in f.samples) == 1


def test_pools_are_asked_whenever_metrics_are() -> None:
    metrics = Metrics("writer")
    full = [PoolFigures(limit=4, in_use=1, waiting=0, waited_seconds=0.0, failures=0)]
    metrics.pools.add("jobs", lambda: full[-1])
    labels = {"pool": "jobs"}
    assert metrics.registry.get_sample_value("rearview_writer_pool_in_use", labels) == 1
    full.append(PoolFigures(limit=4, in_use=4, waiting=3, waited_seconds=1.5, failures=2))
    value = metrics.registry.get_sample_value
    assert [value(f"rearview_writer_pool_{what}", labels) for what in ("limit", "in_use", "waiting")] == [4, 4, 3]
    assert value("rearview_writer_pool_waited_seconds_total", labels) == 1.5
    assert value("rearview_writer_pool_failures_total", labels) == 2


def test_metrics_are_served_on_loopback_until_closed() -> None:
    metrics = Metrics("gateway")
    requests = RequestMetrics(metrics)
    with requests.in_progress():
        assert metrics.registry.get_sample_value("rearview_gateway_requests_in_progress") == 1
    requests.observe("Recall", "OK", 0.2)
    server = start_metrics_server(0, metrics)
    address = f"http://127.0.0.1:{server.port}/metrics"
    with urllib.request.urlopen(address, timeout=10) as response:
        text = response.read().decode()
    assert 'rearview_gateway_requests_total{code="OK",method="Recall"} 1.0' in text
    assert 'rearview_gateway_request_seconds_bucket{le="0.25",method="Recall"} 1.0' in text
    assert "process_cpu_seconds_total" in text
    server.close()
    with pytest.raises(OSError, match=r"refused|reset"):
        urllib.request.urlopen(address, timeout=10)
