"""When a crashed process is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Exponential back-off, and slow attempts once a process keeps crashing.

    `start_attempts` bounds the attempts before a process was ready for the first time: a stack that cannot start says
    so instead of trying on.
    """

    first_delay_seconds: float = 0.5
    factor: float = 2.0
    longest_delay_seconds: float = 30.0
    crash_loop_after: int = 6
    crash_loop_delay_seconds: float = 60.0
    stable_after_seconds: float = 60.0
    start_attempts: int = 3

    def delay_seconds(self, crashes: int) -> float:
        """Return the pause after the `crashes`-th crash in a row (1, 2, ...)."""
        if self.is_crash_loop(crashes):
            return self.crash_loop_delay_seconds
        return min(self.longest_delay_seconds, self.first_delay_seconds * self.factor ** (crashes - 1))

    def is_crash_loop(self, crashes: int) -> bool:
        return crashes >= self.crash_loop_after
