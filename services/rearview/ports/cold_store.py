"""Where cold segments are: an object store that may fail, stall, or say that it did what it did not."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One version of an object, or a deletion that covers the versions before it."""

    key: str
    version_id: str
    modified_at: datetime
    is_current: bool = True
    is_deletion: bool = False


class ColdObjects(Protocol):
    """Objects in one bucket. All methods raise Unavailable when the store does not do its part in time."""

    async def put(self, key: str, data: bytes) -> None:
        """Store an object. Whether it is there is to be found out by reading it."""
        ...

    async def get(self, key: str) -> bytes:
        """Return a whole object. Raises: NotFound."""
        ...

    async def get_range(self, key: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`. Raises: NotFound."""
        ...

    def versions(self, prefix: str) -> AsyncIterator[Sequence[ObjectVersion]]:
        """Yield all versions and delete markers of all objects under a prefix, a page at a time, by key."""
        ...

    async def delete_versions(self, versions: Collection[ObjectVersion]) -> None:
        """Delete exactly these versions; those that are gone are passed over."""
        ...

    async def erase(self, key: str) -> None:
        """Delete all versions of exactly this object, and see that none is left."""
        ...

    async def abort_uploads(self, prefix: str, *, before: datetime) -> int:
        """Abort multipart uploads that were begun and left before a moment; return how many."""
        ...
