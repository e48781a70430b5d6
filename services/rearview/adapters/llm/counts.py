"""Counts of what became of readings, attempts and facts; numbers only, ready to be exported as metrics."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class Counted(StrEnum):
    """What is counted, each by an outcome or a reason of its own.

    READINGS end `answered` or as an `ExtractionFailure`; ATTEMPTS likewise, and `format_refused`; DROPPED are parts of
    answers by why they were not kept; FACTS are `kept`; TOKENS are `prompt` and `completion`.
    """

    READINGS = "readings"
    ATTEMPTS = "attempts"
    DROPPED = "dropped"
    FACTS = "facts"
    TOKENS = "tokens"


class ExtractionCounts:
    """Grows only. The labels are few and fixed; none is taken from content."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Counted, str]] = Counter()

    def add(self, counted: Counted, label: str, count: int = 1) -> None:
        """Add to a count."""
        self._counts[counted, label] += count

    def snapshot(self) -> Mapping[Counted, Mapping[str, int]]:
        """Return all counts so far, by what is counted and its label."""
        return {
            counted: {label: count for (what, label), count in self._counts.items() if what is counted}
            for counted in Counted
        }
