"""Listing memories."""

from collections.abc import Collection
from datetime import datetime

from rearview.domain.memory import Memory, MemoryState
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter
from rearview.ports.memory_reader import MemoryReader
from rearview.ports.query_reader import QueryReader


class ListMemories:
    """Lists memories page by page; lists are for people and tools, and do not count as accesses."""

    def __init__(self, memories: MemoryReader, reader: QueryReader) -> None:
        self._memories = memories
        self._reader = reader

    async def page(
        self,
        scope: Scope,
        memory_filter: MemoryFilter,
        states: Collection[MemoryState],
        page: PageRequest,
        as_of: datetime | None = None,
    ) -> Page[Memory]:
        """Return a page of memories, newest first. Raises: Unavailable."""
        keys = tuple(self._reader.canonical_entity(entity) for entity in memory_filter.entities)
        return await self._memories.list_page(scope, memory_filter, keys, states, page, as_of)
