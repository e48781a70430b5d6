"""What has to be looked after for all tenants, and whom nobody calls for it."""

from datetime import timedelta
from typing import Protocol


class Upkeep(Protocol):
    """Rounds over all tenants. Each returns how much there was to do, `limit` at most, and may be repeated by several
    at a time. All raise Unavailable."""

    async def expire_requests(self, *, limit: int) -> int:
        """Forget the outcomes of requests older than a day: none of them is repeated any more."""
        ...

    async def expire_recall_traces(self, *, limit: int) -> int:
        """Delete recall traces older than a week."""
        ...

    async def expire_unit_changes(self, *, limit: int) -> int:
        """Forget which vectors changed longer than half an hour ago; copies that do not know of it were dropped."""
        ...

    async def drop_generations(self, *, superseded: timedelta) -> int:
        """Drop what is left of model generations that were superseded so long ago and that no tenant needs."""
        ...

    async def close_silent_sessions(self, *, silent: timedelta, limit: int) -> int:
        """Have the context windows of sessions closed that are silent for so long and that no job looks after."""
        ...

    async def merge_old_units(self, *, age: timedelta, limit: int) -> int:
        """Have closed search units merged that are older than this and that no job looks after."""
        ...

    async def resume_purges(self, *, overdue: timedelta, limit: int) -> int:
        """Have purges done that are overdue for so long and that no job looks after."""
        ...
