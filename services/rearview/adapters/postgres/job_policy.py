"""How jobs are tried, tried again and taken over."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """All times in seconds.

    A worker that is silent for `silent_seconds` counts as dead, and its jobs run again elsewhere after at most
    `silent_seconds + heartbeat_seconds + poll_seconds`. Handlers must not block the event loop for that long.
    Fifteen attempts take about an hour: an outage of that length makes no dead letters.
    """

    max_attempts: int = 15
    first_retry_seconds: float = 1.0
    longest_retry_seconds: float = 600.0
    heartbeat_seconds: float = 2.5
    silent_seconds: float = 10.0
    poll_seconds: float = 1.0
    drain_seconds: float = 10.0
    longest_restart_seconds: float = 15.0

    def retry_delay_seconds(self, attempts: int) -> float:
        """Return the wait after attempt number `attempts` (from 1): exponential, halved at most by chance."""
        wait = min(self.longest_retry_seconds, self.first_retry_seconds * 2.0 ** min(attempts - 1, 30))
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 -- spreads load, keeps no secret
