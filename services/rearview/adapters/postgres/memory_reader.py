"""Memories as they are read, one by one and by page."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Database, dict_rows
from rearview.adapters.postgres.memory_rows import memory_of
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import NotFound
from rearview.domain.memory import Memory, MemoryState
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter
from rearview.ports.clock import Clock, SystemClock


class PostgresMemoryReader:
    """The `MemoryReader` port."""

    def __init__(self, database: Database, clock: Clock | None = None, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._timeout_seconds = timeout_seconds
        self._queries = load_queries("memory_reading")

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return one memory in whatever state but tombstoned or expired."""
        found = await self._by_id(scope, [memory_id])
        if memory_id not in found:
            raise _not_found(scope, memory_id)
        return found[memory_id]

    async def list_page(
        self,
        scope: Scope,
        memory_filter: MemoryFilter,
        filter_entity_keys: tuple[str, ...],
        states: Collection[MemoryState],
        page: PageRequest,
        as_of: datetime | None = None,
    ) -> Page[Memory]:
        """Return a page of memories, newest first."""
        rows = await self._rows(
            "list_memories",
            scope,
            {
                "states": [int(state) for state in sorted(states)],
                "types": [int(kind) for kind in sorted(memory_filter.types)] or None,
                "as_of": as_of,
                "start": memory_filter.start,
                "end": memory_filter.end,
                "filter_entities": list(filter_entity_keys) or None,
                "session": memory_filter.session_id or None,
                "labels": Jsonb(dict(memory_filter.labels)) if memory_filter.labels else None,
                "origins": [int(origin) for origin in sorted(memory_filter.origins)] or None,
                **_position(page),
            },
        )
        return _page([memory_of(row) for row in rows], page)

    async def history(self, scope: Scope, memory_id: UUID, page: PageRequest) -> Page[Memory]:
        """Return a page of the chain of supersessions that a memory is part of, newest first."""
        await self.get(scope, memory_id)
        rows = await self._rows("history", scope, {"memory": memory_id, **_position(page)})
        ids = [row["memory_id"] for row in rows]
        found = await self._by_id(scope, ids)
        return _page([found[one] for one in ids if one in found], page)

    async def _by_id(self, scope: Scope, ids: list[UUID]) -> dict[UUID, Memory]:
        rows = await self._rows("memories_by_id", scope, {"memories": ids})
        return {row["memory_id"]: memory_of(row) for row in rows}

    async def _rows(self, name: str, scope: Scope, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        async with self._database.transaction(scope.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await dict_rows(
                connection,
                self._queries[name],
                {"tenant": scope.tenant_id, "namespace": scope.namespace_id, "now": self._clock.now(), **parameters},
            )
            return await cursor.fetchall()


def _position(page: PageRequest) -> dict[str, Any]:
    # One row more than asked for tells whether there is a next page.
    created, memory_id = page.after or (None, None)
    return {
        "after_created": datetime.fromisoformat(created) if created else None,
        "after_id": UUID(memory_id) if memory_id else None,
        "limit": page.size + 1,
    }


def _page(memories: list[Memory], page: PageRequest) -> Page[Memory]:
    rows = memories[: page.size]
    if len(memories) <= page.size:
        return Page(rows)
    return Page(rows, next_after=(rows[-1].created_at.isoformat(), str(rows[-1].memory_id)))


def _not_found(scope: Scope, memory_id: UUID) -> NotFound:
    name = f"namespaces/{scope.namespace}/memories/{memory_id}"
    return NotFound(f"{name} does not exist", resource_name=name)
