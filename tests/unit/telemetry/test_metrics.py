import urllib.request

import pytest

from rearview.telemetry.metrics import Metrics, RequestMetrics, start_metrics_server


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
