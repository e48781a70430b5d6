"""Figures about the whole platform from PostgreSQL."""

from psycopg.rows import class_row

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.platform_statistics import Queue, QueueFigures, StoredFigures

_SQL = load_queries("platform_statistics")


class PostgresPlatformStatistics:
    """The `PlatformStatistics` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def queue(self) -> Queue:
        """Return the queue, read at one moment."""
        async with self._database.transaction(None, timeout_seconds=self._timeout_seconds) as connection:
            # The last id first: one that is given out in between is then older than no job, not younger than its own.
            ids = await connection.execute(_SQL["last_id"])
            tasks = await connection.execute(_SQL["queue"])
            row = await ids.fetchone()
            found = [QueueFigures(*task) for task in await tasks.fetchall()]
        return Queue(found, last_id=int(row[0]) if row else 0)

    async def stored(self) -> StoredFigures:
        """Return what is stored."""
        async with self._database.transaction(None, timeout_seconds=self._timeout_seconds) as connection:
            cursor = connection.cursor(row_factory=class_row(StoredFigures))
            await cursor.execute(_SQL["stored"])
            found = await cursor.fetchone()
        return found or StoredFigures(0, 0, 0, 0, 0, 0, 0)
