"""What an evaluation counts."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def recall_at(k: int, ranked: Sequence[Collection[T]], relevant: Collection[T]) -> float:
    """Return the share of `relevant` that the first `k` of `ranked` cite; each result may cite several.

    `relevant` must not be empty.
    """
    found = {item for cited in ranked[:k] for item in cited}
    return len(found.intersection(relevant)) / len(set(relevant))


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean, 0 for nothing."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def percentile_milliseconds(seconds: Sequence[float], percent: float) -> float:
    """Return a percentile of durations, in milliseconds with two decimals; 0 for nothing."""
    return round(float(np.percentile(seconds, percent)) * 1000, 2) if seconds else 0.0
