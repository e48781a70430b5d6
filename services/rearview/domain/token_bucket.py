"""Token buckets, kept as one number each: the moment at which the bucket would be full again (GCRA)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something may happen: `per_second` on average (> 0), and at once as often as in `burst_seconds`, but
    once at least."""

    per_second: float
    burst_seconds: float = 1.0

    @property
    def burst(self) -> float:
        """How many tokens a full bucket holds."""
        return max(1.0, self.per_second * self.burst_seconds)


def take(full_at: float, now: float, rate: Rate) -> tuple[float, float]:
    """Return how many seconds there are until a token can be had, and when the bucket will be full again.

    With 0 seconds a token is taken; otherwise none is. A bucket that was never used is full at any moment that is past.
    """
    full_at = min(max(full_at, now), now + rate.burst / rate.per_second)
    after = full_at + 1.0 / rate.per_second
    wait = after - rate.burst / rate.per_second - now
    # Sums of many fractions: a token that is missing by less than a microsecond is there.
    return (wait, full_at) if wait > 1e-6 else (0.0, after)
