"""Exporting a namespace, line by line: what is held at any moment is one part of it."""

from collections.abc import AsyncIterator
from uuid import UUID

from rearview.domain.exchange.records import EMPTY_CHECKSUM, End, ExportedEvent, ExportedMemory, Record, chained
from rearview.domain.exchange.writing import written
from rearview.domain.memory import MemoryState
from rearview.domain.principal import Scope
from rearview.ports.exporting import EventPlace, ExportReader

_PAST = frozenset({MemoryState.SUPERSEDED, MemoryState.INACTIVE})
_FIRST_EVENT: EventPlace = ("", 0)
_FIRST_MEMORY = UUID(int=0)


class ExportMemories:
    """The use case of `ExportMemories`."""

    def __init__(self, reader: ExportReader) -> None:
        self._reader = reader

    async def lines(self, scope: Scope, *, include_history: bool) -> AsyncIterator[str]:
        """Yield the lines of an export, no faster than they are taken.

        What is written meanwhile may be in it or not; what is forgotten meanwhile may be in it. End what appends first
        where the export is to be of one moment.

        Raises:
            Unavailable, DeadlineExceeded: the export has to begin anew.
        """
        checksum, events, memories = EMPTY_CHECKSUM, 0, 0
        async for record in self._records(scope, include_history=include_history):
            events += isinstance(record, ExportedEvent)
            memories += isinstance(record, ExportedMemory)
            line = written(record)
            checksum = chained(checksum, line)
            yield line
        yield written(End(events, memories, checksum))

    async def _records(self, scope: Scope, *, include_history: bool) -> AsyncIterator[Record]:
        states = {MemoryState.ACTIVE} | (_PAST if include_history else frozenset())
        yield await self._reader.begin(scope, states)
        place = _FIRST_EVENT
        while events := await self._reader.events(scope, place):
            for event in events:
                yield event
            place = (events[-1].session_id, events[-1].event.sequence)
        after = _FIRST_MEMORY
        while memories := await self._reader.memories(scope, states, after):
            for memory in memories:
                yield memory
            after = memories[-1].memory.memory_id
