"""Leaves an endpoint alone that keeps failing, and tries it with a single request later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rearview.domain.extraction_errors import ExtractionFailure, ExtractorUnavailable


class CircuitBreaker:
    """Closed until `failures` attempts in a row have failed; then open for `open_seconds`; then one attempt decides.

    `seconds` tells a time that only grows.
    """

    def __init__(self, failures: int, open_seconds: float, seconds: Callable[[], float]) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._seconds = seconds
        self._failed = 0
        self._open_until: float | None = None
        self._trying = False

    @property
    def is_open(self) -> bool:
        """Whether attempts are refused now."""
        return self._open_until is not None and (self._trying or self._seconds() < self._open_until)

    def check(self) -> None:
        """Raises: ExtractorUnavailable: the endpoint is being left alone. Says for how long."""
        if self.is_open:
            left = max((self._open_until or 0.0) - self._seconds(), 0.0)
            raise ExtractorUnavailable(ExtractionFailure.BREAKER_OPEN, retry_after_seconds=left)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Hold one attempt. Its outcome is told by `succeeded`, `failed` or `open`; without one it decides nothing.

        Raises:
            ExtractorUnavailable: the endpoint is being left alone.
        """
        self.check()
        trial = self._open_until is not None
        self._trying = trial
        try:
            yield
        finally:
            if trial:
                self._trying = False

    def succeeded(self) -> None:
        """The endpoint answered as it should."""
        self._failed = 0
        self._open_until = None

    def failed(self) -> None:
        """The endpoint did not; opens at the limit, and at once when this was the attempt that was to decide."""
        self._failed += 1
        if self._failed >= self._limit:
            self.open(self._open_seconds)

    def open(self, seconds: float) -> None:
        """Leave the endpoint alone for so long, or longer if that was decided before."""
        self._failed = max(self._failed, self._limit)
        self._open_until = max(self._open_until or 0.0, self._seconds() + seconds)
