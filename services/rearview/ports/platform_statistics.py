"""The port to figures about the whole platform: of all tenants together, of none by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The jobs of one task.

    Attributes:
        task: its name.
        waiting: jobs that could run now, retries that are due among them.
        scheduled: jobs whose time has not come.
        running: jobs that a worker has.
        dead: jobs that failed for good.
        oldest_id: of the waiting ones that were to run at once; ids grow with time. None when none waits.
        overdue_seconds: how long ago the first of the others was due.
    """

    task: str
    waiting: int
    scheduled: int
    running: int
    dead: int
    oldest_id: int | None
    overdue_seconds: float


@dataclass(frozen=True, slots=True)
class Queue:
    """All jobs, and the id that was given out last."""

    tasks: Sequence[QueueFigures]
    last_id: int


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """What is stored, by the database's own running counts, which may be some percent off.

    Attributes:
        hot_units, warm_units: search units of these tiers.
        hot_bytes, warm_bytes: what their tables and indexes take.
        cold_segments: objects in the catalog.
        cold_memories: memories that are pointers into them, as of the last vacuum or analyze of their table.
        memories: rows of memories of every tier and state.
    """

    hot_units: int
    warm_units: int
    hot_bytes: int
    warm_bytes: int
    cold_segments: int
    cold_memories: int
    memories: int


class PlatformStatistics(Protocol):
    """Reads them."""

    async def queue(self) -> Queue:
        """Return the queue. Raises: Unavailable."""
        ...

    async def stored(self) -> StoredFigures:
        """Return what is stored. Raises: Unavailable."""
        ...
