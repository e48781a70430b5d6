"""How well redaction finds what is marked in a file: precision and recall of spans, by category.

A found span and a marked one of the same category match when their intersection over union, counted in characters, is
at least 0.9, the rule and threshold of presidio-research's span evaluation; each matches once. A value found under
another category, or only in part, counts as missed and as wrongly found.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rearview.domain.text import PiiCategory, RedactedSpan
from rearview.evaluation.measures import percentile_milliseconds
from rearview.evaluation.pii_file import MarkedText

LEAST_OVERLAP = 0.9
"""Intersection over union from which two spans match."""

FindSpans = Callable[[str, Collection[PiiCategory]], Sequence[RedactedSpan]]
"""Returns the spans that redaction replaces in a text."""


@dataclass(slots=True)
class _Counts:
    matched: Counter[PiiCategory] = field(default_factory=Counter)
    marked: Counter[PiiCategory] = field(default_factory=Counter)
    found: Counter[PiiCategory] = field(default_factory=Counter)

    def figures(self, categories: Collection[PiiCategory]) -> dict[str, object]:
        matched, marked, found = (
            sum(counter[category] for category in categories) for counter in (self.matched, self.marked, self.found)
        )
        precision = matched / found if found else 1.0
        recall = matched / marked if marked else 1.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(f1, 4),
            "marked": marked,
            "found": found,
        }


def evaluate_pii(
    texts: Sequence[MarkedText], find: FindSpans, categories: Collection[PiiCategory]
) -> Mapping[str, object]:
    """Return precision, recall and f1 over all spans of the categories, then the same `by_category` and `by_split`; and
    what a text costs, in milliseconds of this thread's CPU: what other work there is on the machine does not count."""
    whole, parts = _Counts(), dict[str, _Counts]()
    spent = list[float]()
    for marked in texts[:1]:
        find(marked.text, categories)  # which prepares what is prepared once
    for marked in texts:
        expected = [span for span in marked.spans if span.category in categories]
        started = time.thread_time()
        found = find(marked.text, categories)
        spent.append(time.thread_time() - started)
        matched = _matched(expected, found)
        for counts in (whole, parts.setdefault(marked.part, _Counts())):
            counts.marked.update(span.category for span in expected)
            counts.found.update(span.category for span in found)
            counts.matched.update(span.category for span in matched)
    present = [category for category in PiiCategory if whole.marked[category] or whole.found[category]]
    figures: dict[str, object] = {"texts": len(texts), **whole.figures(categories)}
    figures |= {f"cpu_p{percent}_ms": percentile_milliseconds(spent, percent) for percent in (50, 95)}
    figures["by_category"] = {category.value: whole.figures([category]) for category in present}
    if set(parts) != {""}:
        figures["by_split"] = {name: counts.figures(categories) for name, counts in parts.items()}
    return figures


def _matched(expected: Sequence[RedactedSpan], found: Sequence[RedactedSpan]) -> list[RedactedSpan]:
    """Return the expected spans that were found, each by a span of its own: at 0.9 no span can match two."""
    return [one for one in expected if any(one.category is other.category and _overlap(one, other) for other in found)]


def _overlap(one: RedactedSpan, other: RedactedSpan) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared >= LEAST_OVERLAP * (max(one.end, other.end) - min(one.start, other.start))
