"""Access counts in PostgreSQL."""

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.access_counts import AccessBatch

_SQL = load_queries("access_counts")


class PostgresAccessCounts:
    """The `AccessCountStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 30.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def add(self, batch: AccessBatch) -> int:
        """Add the counts once; see `AccessCountStore.add`."""
        async with self._database.transaction(batch.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            place = {"tenant_id": batch.tenant_id, "number": batch.number}
            if await (await connection.execute(_SQL["advance"], place)).fetchone() is None:
                return 0
            cursor = await connection.execute(
                _SQL["add"],
                {
                    **place,
                    "namespaces": [count.namespace_id for count in batch.counts],
                    "memories": [count.memory_id for count in batch.counts],
                    "counts": [count.count for count in batch.counts],
                    "times": [count.last_accessed_at for count in batch.counts],
                },
            )
            row = await cursor.fetchone()
            await connection.execute(_SQL["analyze"])
        return int(row[0]) if row else 0
