"""Reading memories by name and by page, wherever their content is."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from rearview.domain.cold import filled
from rearview.domain.memory import Memory, MemoryState, Tier
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter
from rearview.ports.memory_reader import MemoryReader
from rearview.ports.tiering import ColdContents


class TieredMemoryReader:
    """The `MemoryReader` port over another one: fills in what segments keep of cold memories."""

    def __init__(self, reader: MemoryReader, contents: ColdContents) -> None:
        self._reader = reader
        self._contents = contents

    async def get(self, scope: Scope, memory_id: UUID) -> Memory:
        """Return one memory; see `MemoryReader.get`."""
        memory = await self._reader.get(scope, memory_id)
        if memory.tier is not Tier.COLD:
            return memory
        found = (await self._contents.contents(scope.tenant_id, scope.namespace_id, [memory_id])).get(memory_id)
        # Not cold any more: it came back between the two reads.
        return await self._reader.get(scope, memory_id) if found is None else filled(memory, found)

    async def list_page(
        self,
        scope: Scope,
        memory_filter: MemoryFilter,
        filter_entity_keys: tuple[str, ...],
        states: Collection[MemoryState],
        page: PageRequest,
        as_of: datetime | None = None,
    ) -> Page[Memory]:
        """Return a page of memories; see `MemoryReader.list_page`."""
        found = await self._reader.list_page(scope, memory_filter, filter_entity_keys, states, page, as_of)
        return Page(await self._filled(scope, found.rows), next_after=found.next_after)

    async def history(self, scope: Scope, memory_id: UUID, page: PageRequest) -> Page[Memory]:
        """Return a page of a chain of supersessions; see `MemoryReader.history`."""
        found = await self._reader.history(scope, memory_id, page)
        return Page(await self._filled(scope, found.rows), next_after=found.next_after)

    async def _filled(self, scope: Scope, memories: Sequence[Memory]) -> list[Memory]:
        cold = [memory.memory_id for memory in memories if memory.tier is Tier.COLD]
        if not cold:
            return list(memories)
        contents = await self._contents.contents(scope.tenant_id, scope.namespace_id, cold)
        return [
            filled(memory, contents[memory.memory_id])
            if memory.memory_id in contents
            else memory
            if memory.tier is not Tier.COLD
            else await self._reader.get(scope, memory.memory_id)
            for memory in memories
        ]
