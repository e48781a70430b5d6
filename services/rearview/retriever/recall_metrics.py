"""What recalls did, counted from the trace that each leaves: stages, routes, what was left out, how much came back."""

from collections.abc import Collection
from uuid import UUID

from rearview.domain.recall import RecallTrace, Route
from rearview.ports.recall_side_effects import RecallTraceStore
from rearview.retriever.reading import COLD, WORKING_MEMORY
from rearview.retriever.recall import VECTOR
from rearview.retriever.reranking import RERANK
from rearview.telemetry.metrics import Metrics

_COUNTS = (0, 1, 2, 3, 5, 10, 20, 50, 100)


class CountedTraces:
    """Decorator of a `RecallTraceStore`: counts each trace that is to be written. Those that the queue had no place for
    are not seen here; `side_effects_lost` counts them."""

    def __init__(self, inner: RecallTraceStore, metrics: Metrics) -> None:
        self._inner = inner
        self._stages = metrics.histogram("recall_stage_seconds", "Duration of recall's stages in seconds.", ("stage",))
        self._returned = metrics.histogram("recall_returned", "Candidates in an answer.", buckets=_COUNTS)
        self._routes = metrics.counter("recall_route_candidates", "Candidates that a route brought.", ("route",))
        self._degraded = metrics.counter("recall_degraded", "Recalls that had to leave a part out.", ("part",))
        self._empty = metrics.counter("recalls_empty", "Recalls that returned nothing.")
        for route in Route:
            self._routes.labels(route.name.lower())
        for part in (VECTOR, WORKING_MEMORY, COLD, RERANK):
            self._degraded.labels(part)

    async def write(self, tenant_id: UUID, principal: str, namespace_ids: Collection[UUID], trace: RecallTrace) -> None:
        """Count a trace and store it. Raises: Unavailable."""
        for stage, milliseconds in trace.stage_milliseconds.items():
            self._stages.labels(stage).observe(milliseconds / 1000.0)
        for route, count in trace.route_counts.items():
            self._routes.labels(route).inc(count)
        for part in trace.degraded:
            self._degraded.labels(part).inc()
        returned = sum(1 for candidate in trace.candidates if candidate.rank)
        self._returned.observe(returned)
        if not returned:
            self._empty.inc()
        await self._inner.write(tenant_id, principal, namespace_ids, trace)

    async def read(self, tenant_id: UUID, trace_id: UUID) -> tuple[str, frozenset[UUID], RecallTrace] | None:
        """Return a trace. Raises: Unavailable."""
        return await self._inner.read(tenant_id, trace_id)
