"""How full the pools of connections are, asked whenever the metrics are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_LABELS = ("pool",)
_SHOWN: tuple[tuple[Any, str, str], ...] = (
    (GaugeMetricFamily, "limit", "How many connections a pool may have."),
    (GaugeMetricFamily, "in_use", "Connections that are lent out."),
    (GaugeMetricFamily, "waiting", "Callers that wait for a connection."),
    (CounterMetricFamily, "waited_seconds", "How long callers have waited for a connection, all together."),
    (CounterMetricFamily, "failures", "Callers that got no connection, or one that did not answer."),
)
"""Each is a field of `PoolFigures`; the families have no type hints."""


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """A pool at this moment.

    Attributes:
        limit: how many connections it may have.
        in_use: how many are lent out.
        waiting: how many callers wait for one.
        waited_seconds: how long all callers have waited, since the start.
        failures: how many callers got none, or one that did not answer, since the start.
    """

    limit: int
    in_use: int
    waiting: int
    waited_seconds: float
    failures: int


class PoolCollector(Collector):
    """The pools of one process as `rearview_<service>_pool_*`, by the name of the pool."""

    def __init__(self, service: str) -> None:
        self._prefix = f"rearview_{service}_pool"
        self._pools: dict[str, Callable[[], PoolFigures]] = {}

    def add(self, name: str, figures: Callable[[], PoolFigures]) -> None:
        """Have a pool shown; `figures` is called from the thread that serves the metrics."""
        self._pools[name] = figures

    def collect(self) -> Iterable[Metric]:
        """Yield the families, each with one sample a pool."""
        found = {name: figures() for name, figures in self._pools.items()}
        for family, what, documentation in _SHOWN:
            made = family(f"{self._prefix}_{what}", documentation, labels=_LABELS)
            for name, one in found.items():
                made.add_metric((name,), getattr(one, what))
            yield made
