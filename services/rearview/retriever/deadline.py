"""How long a recall may still take."""

import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from rearview.domain.errors import DeadlineExceeded
from rearview.domain.patience import within

T = TypeVar("T")


class Deadline:
    """A moment after which the caller has gone."""

    def __init__(self, seconds: float) -> None:
        """Raises: DeadlineExceeded: `seconds` are none."""
        if seconds <= 0.0:
            raise DeadlineExceeded("no time is left for a recall", stage="recall")
        self._moment = time.monotonic() + seconds

    def left_seconds(self) -> float:
        """Return what is left, at least a millisecond: to the database, 0 would mean for ever."""
        return max(self._moment - time.monotonic(), 0.001)

    async def keep(self, answer: Coroutine[Any, Any, T]) -> T:
        """Await an answer as long as there is time. Raises: DeadlineExceeded."""
        try:
            return await within(self.left_seconds(), answer)
        except TimeoutError:
            raise DeadlineExceeded("the recall did not end within the deadline", stage="recall") from None
