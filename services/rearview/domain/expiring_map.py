"""Things that are good for a while, and no more of them than there is room for."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ExpiringMap(Generic[T]):
    """Keeps `most` values that were put in last, each for a time of its own."""

    def __init__(self, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._monotonic = monotonic
        self._kept: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return the value, None if there is none or its time is over."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept[1] <= self._monotonic():
            del self._kept[key]
            return None
        return kept[0]

    def put(self, key: Hashable, value: T, seconds: float) -> None:
        """Keep a value for `seconds`."""
        self._kept[key] = value, self._monotonic() + seconds
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
