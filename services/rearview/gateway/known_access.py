"""What was read of credentials and of what they reach, for as long as nothing has changed.

It is kept with the version of the tenant's access that was read before it. Every call reads the version of now before
it goes by any of this, and what was kept under another one is read anew: what was taken back is refused by the next
call, as if nothing were kept. What depends on time alone, the end of a key, is judged by every call.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from rearview.domain.expiring_map import ExpiringMap

MOST = 10_000
LIFETIME_SECONDS = 600.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """Something that holds under a version of its tenant's access."""

    version: UUID
    value: T


class KnownAccess(Generic[T]):
    """Keeps what is known, `most` that were kept last, each for `lifetime_seconds`."""

    def __init__(
        self,
        *,
        most: int = MOST,
        lifetime_seconds: float = LIFETIME_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lifetime_seconds = lifetime_seconds
        self._known: ExpiringMap[Known[T]] = ExpiringMap(most, monotonic)

    def get(self, key: Hashable) -> Known[T] | None:
        """Return what is known; it holds if its version is the tenant's of now."""
        return self._known.get(key)

    def keep(self, key: Hashable, version: UUID | None, value: T) -> None:
        """Keep what was read after `version` was; without a version nothing is kept."""
        if version is not None:
            self._known.put(key, Known(version, value), self._lifetime_seconds)
