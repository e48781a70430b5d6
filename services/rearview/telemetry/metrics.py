"""Prometheus metrics, named `rearview_<service>_<what>_<unit>`. Never labelled by tenant or namespace."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, start_http_server
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from rearview.domain.errors import RearviewError
from rearview.telemetry.pools import PoolCollector
from rearview.telemetry.trace_context import current_trace

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# Their number grows with the customers, and a time series for each would take the monitoring down.
_FORBIDDEN_LABELS = frozenset({"tenant", "tenant_id", "namespace", "namespace_id", "session", "principal"})


class Metrics:
    """The metrics of one service, in a registry of its own that also tells of the process and of `pools`."""

    def __init__(self, service: str) -> None:
        # A `_created` series beside every counter would double their number for nothing.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.service = service
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.pools = PoolCollector(service)
        self.registry.register(self.pools)

    def counter(self, what: str, documentation: str, labels: Sequence[str] = ()) -> Counter:
        """Return the counter `rearview_<service>_<what>_total`. Raises: ValueError for a label that grows unbounded."""
        return Counter(self._name(what, labels), documentation, labels, registry=self.registry)

    def gauge(self, what: str, documentation: str, labels: Sequence[str] = ()) -> Gauge:
        """Return the gauge `rearview_<service>_<what>`. Raises: ValueError for a label that grows unbounded."""
        return Gauge(self._name(what, labels), documentation, labels, registry=self.registry)

    def histogram(
        self, what: str, documentation: str, labels: Sequence[str] = (), buckets: Sequence[float] = SECONDS_BUCKETS
    ) -> Histogram:
        """Return the histogram `rearview_<service>_<what>`. Raises: ValueError for a label that grows unbounded."""
        return Histogram(self._name(what, labels), documentation, labels, buckets=buckets, registry=self.registry)

    def _name(self, what: str, labels: Sequence[str]) -> str:
        forbidden = _FORBIDDEN_LABELS.intersection(labels)
        if forbidden:
            raise ValueError(f"metrics may not be labelled by {', '.join(sorted(forbidden))}")
        return f"rearview_{self.service}_{what}"


def observe_in_trace(histogram: Histogram, value: float) -> None:
    """Observe a value, with the running task's trace as its exemplar (shown to scrapers that ask for OpenMetrics)."""
    trace = current_trace()
    histogram.observe(value, {"trace_id": trace.trace_id} if trace else None)


class RequestMetrics:
    """Rate, errors and duration of a service's methods."""

    def __init__(self, metrics: Metrics) -> None:
        self._requests = metrics.counter("requests", "Calls that ended, by method and code.", ("method", "code"))
        self._seconds = metrics.histogram("request_seconds", "Duration of calls in seconds, by method.", ("method",))
        self._refusals = metrics.counter("refusals", "Calls that ended with an error, by its reason.", ("reason",))
        # A series that begins with its first error would hide that one from every rate.
        for error in _with_subclasses(RearviewError):
            self._refusals.labels(error.reason)
        self._in_progress = metrics.gauge("requests_in_progress", "Calls that are being served.")

    def observe(self, method: str, code: str, seconds: float, reason: str = "") -> None:
        """Count a call that ended; `reason` is that of its error, as documented in `error_reason.proto`."""
        self._requests.labels(method, code).inc()
        if reason:
            self._refusals.labels(reason).inc()
        observe_in_trace(self._seconds.labels(method), seconds)

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count a call while it is being served."""
        with self._in_progress.track_inprogress():
            yield


def _with_subclasses(error: type[RearviewError]) -> Iterator[type[RearviewError]]:
    yield error
    for subclass in error.__subclasses__():
        yield from _with_subclasses(subclass)


class MetricsServer:
    """An HTTP endpoint `/metrics` in a thread of its own."""

    def __init__(self, server: WSGIServer, thread: Thread) -> None:
        self._server = server
        self._thread = thread

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._server.server_port

    def close(self) -> None:
        """Stop listening and wait for the thread to end."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def start_metrics_server(port: int, metrics: Metrics, *, host: str = "127.0.0.1") -> MetricsServer:
    """Serve the metrics over HTTP, on the loopback address unless another is given; port 0 takes a free one.

    Raises:
        OSError: the address cannot be bound.
    """
    return MetricsServer(*start_http_server(port, addr=host, registry=metrics.registry))
