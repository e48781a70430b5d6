"""Rounds over all tenants in PostgreSQL. What they find is enqueued in a transaction of its tenant."""

from datetime import timedelta
from typing import Any

from rearview.adapters.postgres.consequences import enqueue_close_windows, enqueue_merge, enqueue_purge
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.clock import Clock

_SQL = load_queries("upkeep")


class PostgresUpkeep:
    """The `Upkeep` port."""

    def __init__(self, database: Database, clock: Clock, *, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._clock = clock
        self._timeout_seconds = timeout_seconds

    async def expire_requests(self, *, limit: int) -> int:
        """Forget the outcomes of old requests."""
        ((count,),) = await self._find("expire_requests", limit=limit)
        return int(count)

    async def expire_recall_traces(self, *, limit: int) -> int:
        """Delete old recall traces."""
        ((count,),) = await self._find("expire_recall_traces", limit=limit)
        return int(count)

    async def expire_unit_changes(self, *, limit: int) -> int:
        """Delete old changes of vectors."""
        ((count,),) = await self._find("expire_unit_changes", limit=limit)
        return int(count)

    async def drop_generations(self, *, superseded: timedelta) -> int:
        """Drop tables and functions of generations that nothing needs."""
        ((count,),) = await self._find("drop_generations", age=superseded)
        return int(count)

    async def close_silent_sessions(self, *, silent: timedelta, limit: int) -> int:
        """Enqueue the closing of silent sessions' windows."""
        found = await self._find("silent_sessions", age=silent, limit=limit)
        for tenant_id, namespace_id, session_id in found:
            async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
                await enqueue_close_windows(connection, tenant_id, namespace_id, session_id, self._clock.now())
        return len(found)

    async def merge_old_units(self, *, age: timedelta, limit: int) -> int:
        """Enqueue merges of namespaces."""
        found = await self._find("unmerged_namespaces", age=age, limit=limit)
        for tenant_id, namespace_id in found:
            async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
                await enqueue_merge(connection, tenant_id, namespace_id, None)
        return len(found)

    async def resume_purges(self, *, overdue: timedelta, limit: int) -> int:
        """Enqueue purges that are overdue."""
        found = await self._find("overdue_purges", age=overdue, limit=limit)
        for tenant_id, receipt_id in found:
            async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
                await enqueue_purge(connection, tenant_id, receipt_id, self._clock.now())
        return len(found)

    async def _find(self, name: str, **parameters: object) -> list[tuple[Any, ...]]:
        async with self._database.transaction(None, timeout_seconds=self._timeout_seconds) as connection:
            return await (await connection.execute(_SQL[name], parameters)).fetchall()
