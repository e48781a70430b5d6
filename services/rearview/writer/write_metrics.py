"""Counts of what writing leads to: what became of turns, repetitions, superseded values, redactions."""

from collections import Counter
from collections.abc import Collection

from rearview.domain.event import CaptureOutcome
from rearview.domain.text import PiiCategory, Redacted
from rearview.domain.writing import RememberOutcome
from rearview.ports.redactor import Naming, Redactor, plain_name
from rearview.telemetry.metrics import Metrics


class WriteMetrics:
    """The `WriteObserver` port over the writer's metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._captures = metrics.counter("captures", "Turns indexed, by what became of them.", ("outcome",))
        self._remembered = metrics.counter("remembered", "Memories by request, by what became of them.", ("outcome",))
        self._superseded = metrics.counter("superseded_values", "Values that ceased to hold because of newer ones.")
        for capture in CaptureOutcome:
            self._captures.labels(capture.name.lower())
        for remembering in RememberOutcome:
            self._remembered.labels(remembering.name.lower())

    def captured(self, outcomes: Collection[CaptureOutcome]) -> None:
        """Count what became of turns."""
        for outcome, count in Counter(outcomes).items():
            self._captures.labels(outcome.name.lower()).inc(count)

    def remembered(self, outcome: RememberOutcome) -> None:
        """Count what became of a memory by request."""
        self._remembered.labels(outcome.name.lower()).inc()

    def superseded(self, count: int) -> None:
        """Count values that ceased to hold."""
        self._superseded.inc(count)


class CountedRedactor:
    """Decorator of a `Redactor`: counts, by category, the texts and payloads in which something was replaced."""

    def __init__(self, inner: Redactor, metrics: Metrics) -> None:
        self._inner = inner
        self._redactions = metrics.counter("redactions", "Texts in which a category was redacted.", ("category",))
        for category in PiiCategory:
            self._redactions.labels(category.value)

    def redact(self, text: str, categories: Collection[PiiCategory], name: Naming = plain_name) -> Redacted:
        """Return the text, redacted."""
        redacted = self._inner.redact(text, categories, name)
        self._count(redacted.categories)
        return redacted

    def redact_tree(
        self, value: object, categories: Collection[PiiCategory], name: Naming = plain_name
    ) -> tuple[object, tuple[PiiCategory, ...]]:
        """Redact a payload. Raises: PayloadDepthError."""
        redacted, found = self._inner.redact_tree(value, categories, name)
        self._count(found)
        return redacted, found

    def normal(self, category: PiiCategory, value: str) -> str:
        """Return the form that two spellings of one value share."""
        return self._inner.normal(category, value)

    def _count(self, found: Collection[PiiCategory]) -> None:
        for category in found:
            self._redactions.labels(category.value).inc()
