"""How unevenly tenants use the platform: calls of the busiest ones, by rank and without a name.

A series for every tenant would grow with the customers. Ranks are always the same few; who they are stands in the log.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock
from uuid import UUID

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rearview.telemetry.metrics import Metrics

RANKS = 5
WINDOW_SECONDS = 60.0
MOST_TENANTS = 10_000
# The log names the busiest tenant of a window only if it made more than this share of so many calls.
NOTABLE_SHARE = 0.5
NOTABLE_CALLS = 1_000

_log = structlog.get_logger(__name__)


class BusiestTenants(Collector):
    """Counts calls by tenant in windows of a minute; shows the last whole one. Those beyond
    `most_tenants` in a window are not counted."""

    def __init__(
        self, metrics: Metrics, *, most_tenants: int = MOST_TENANTS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most_tenants = most_tenants
        self._prefix = f"rearview_{metrics.service}"
        self._monotonic = monotonic
        self._lock = Lock()  # calls are noted on the event loop, metrics are asked for on a thread
        self._began = monotonic()
        self._counting: Counter[UUID] = Counter()
        self._shown: Counter[UUID] = Counter()
        metrics.registry.register(self)

    def note(self, tenant_id: UUID) -> None:
        """Count a call."""
        with self._lock:
            self._turn()
            if tenant_id in self._counting or len(self._counting) < self._most_tenants:
                self._counting[tenant_id] += 1

    def collect(self) -> Iterable[Metric]:
        """Yield the figures of the last whole window."""
        with self._lock:
            self._turn()
            shown = self._shown
        calls = GaugeMetricFamily(
            f"{self._prefix}_tenant_calls", "Calls of the busiest tenants in a minute, by rank.", labels=("rank",)
        )
        ranked = [count for _, count in shown.most_common(RANKS)]
        for at in range(RANKS):
            calls.add_metric((str(at + 1),), ranked[at] if at < len(ranked) else 0)
        yield calls
        active = GaugeMetricFamily(
            f"{self._prefix}_tenants_active", "Tenants that made a call in a minute.", value=len(shown)
        )
        yield active

    def _turn(self) -> None:
        passed = self._monotonic() - self._began
        if passed < WINDOW_SECONDS:
            return
        # A window that ended longer ago than it lasted says nothing of now.
        self._shown = self._counting if passed < 2 * WINDOW_SECONDS else Counter()
        self._counting, self._began = Counter(), self._monotonic()
        total = self._shown.total()
        for tenant_id, count in self._shown.most_common(1):
            if total >= NOTABLE_CALLS and count > NOTABLE_SHARE * total:
                _log.info("busiest tenant", tenant_id=str(tenant_id), calls=count, of=total)
