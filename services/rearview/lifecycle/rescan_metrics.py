"""What rescans rewrote, for the metrics."""

from collections.abc import Callable

from rearview.domain.text import PiiCategory
from rearview.lifecycle.rescan_draft import EVENTS, MEMORIES
from rearview.telemetry.metrics import Metrics

OnRewritten = Callable[[str, int], None]
"""Is told of rewritten texts, by place and by category."""


def rewritten_metric(metrics: Metrics | None) -> OnRewritten:
    """Return what counts rewritten texts; nothing does without `metrics`."""
    if metrics is None:
        return lambda _what, _count: None
    counter = metrics.counter("rescanned_texts", "Texts that rescans rewrote, by place and by category.", ("what",))
    for what in (EVENTS, MEMORIES, *PiiCategory):
        counter.labels(what)
    return lambda what, count: counter.labels(what).inc(count)
