"""What services export, and which metrics an expression of PromQL names."""

from __future__ import annotations

import urllib.request

import promql_parser
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def scraped(address: str) -> str:
    """Return a process's metrics as a scraper gets them that asks for OpenMetrics."""
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": OPEN_METRICS})
    with urllib.request.urlopen(request, timeout=30) as response:
        assert response.headers["Content-Type"].startswith("application/openmetrics-text")
        text: str = response.read().decode()
        return text


def _families(address: str) -> list[Metric]:
    return list(text_string_to_metric_families(scraped(address)))  # type: ignore[no-untyped-call]


def samples(address: str) -> list[Sample]:
    """Return all samples of a process."""
    return [sample for family in _families(address) for sample in family.samples]


def exported_names(address: str) -> set[str]:
    """Return the names of all series that a process exports or will export: those of label values to come, too."""
    names: set[str] = set()
    for family in _families(address):
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
        names |= {f"{family.name}{ending}" for ending in endings.get(family.type, ("",))}
    return names


def value(address: str, name: str, **labels: str) -> float:
    """Return the sum of the samples of a name whose labels include these."""
    return sum(
        sample.value for sample in samples(address) if sample.name == name and labels.items() <= sample.labels.items()
    )


def metrics_of(expression: str) -> set[str]:
    """Return the metrics that an expression names. Raises: ValueError: it is no PromQL."""
    found: set[str] = set()

    def note(node: promql_parser.Expr) -> None:
        selector = node.vector_selector if isinstance(node, promql_parser.MatrixSelector) else node
        if isinstance(selector, promql_parser.VectorSelector):
            assert selector.name, f"{expression} selects series without naming a metric"
            found.add(selector.name)

    promql_parser.walk(promql_parser.parse(expression), note)
    return found
