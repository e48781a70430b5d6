"""What is tried again, how soon, and until when. The same for blocking and asynchronous calls."""

import time
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, retry_if_exception, wait_random_exponential

from rearview.domain.errors import Conflict, EtagMismatch, ResourceExhausted, Unavailable

FIRST_WAIT_SECONDS = 0.1
LONGEST_WAIT_SECONDS = 2.0

_backoff = wait_random_exponential(multiplier=FIRST_WAIT_SECONDS, max=LONGEST_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock."""

    at_monotonic: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline that lies so many seconds ahead."""
        return cls(time.monotonic() + seconds)

    def left_seconds(self) -> float:
        """Return the time that is left, at least 0."""
        return max(self.at_monotonic - time.monotonic(), 0.0)


def retry_arguments(*, repeatable: bool, deadline: Deadline) -> dict[str, Any]:
    """Return the arguments of tenacity's Retrying and AsyncRetrying.

    Exponential back-off with full jitter, from 0.1 s to 2 s, not before the service asks for it (RetryInfo), and until
    no further attempt would begin before the deadline; then the last error is raised. So a caller with a minute to
    spare outlasts a service that is being replaced.
    """

    def exhausted(state: RetryCallState) -> bool:
        return state.upcoming_sleep >= deadline.left_seconds()

    return {
        "retry": retry_if_exception(lambda error: repeatable and is_transient(error)),
        "wait": _wait_seconds,
        "stop": exhausted,
        "reraise": True,
    }


def is_transient(error: BaseException) -> bool:
    """True if the same request may succeed later: nobody answered, a write conflict, or a limit with a time given."""
    if isinstance(error, ResourceExhausted):
        return error.retry_after_seconds is not None
    return isinstance(error, Unavailable) or (isinstance(error, Conflict) and not isinstance(error, EtagMismatch))


def _wait_seconds(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked_for: float = getattr(error, "retry_after_seconds", None) or 0.0
    return asked_for + _backoff(state)
