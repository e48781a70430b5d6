"""Reading cold segments: search over index parts, content by ranged reads of the payload."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Self
from uuid import UUID

from rearview.adapters.cold.payload_block import PayloadBlock
from rearview.adapters.cold.read_ahead import ReadAhead
from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_format import units_of
from rearview.adapters.cold.segment_index import SegmentIndex
from rearview.adapters.cold.segment_layout import SegmentDamaged
from rearview.adapters.cold.segment_search import SegmentSearch
from rearview.domain.cold import ColdContent, ColdPointer, ColdQuestion, Segment
from rearview.domain.errors import NotFound, Unavailable
from rearview.ports.cold_recall import SegmentsReplaced
from rearview.ports.cold_store import ColdObjects
from rearview.ports.tiering import Restored


class _Part(NamedTuple):
    """Bytes of a segment that are on their way."""

    segment_id: UUID
    offset: int
    size: int


class ColdReader:
    """Searches and reads segments through bounded local copies of what was read last."""

    def __init__(self, objects: ColdObjects, files: SegmentFiles, *, at_once: int = 8) -> None:
        self._objects = objects
        self._files = files
        self._slots = asyncio.Semaphore(at_once)
        self._reading: dict[_Part, asyncio.Task[SegmentIndex | bytes]] = {}
        self._read_ahead = ReadAhead(objects, files)

    async def close(self) -> None:
        """End what is being read."""
        await self._read_ahead.close()
        for task in list(self._reading.values()):
            task.cancel()

    async def search(self, segments: Sequence[Segment], question: ColdQuestion) -> SegmentSearch:
        """Look through the segments for a question.

        Raises:
            SegmentsReplaced: a segment was replaced since the catalog was read.
            Unavailable: a segment cannot be read.
        """
        wanted = [segment for segment in segments if _may_hold(segment, question)]
        indexes = await asyncio.gather(*(self._index(segment) for segment in wanted))
        parts = [(segment, index) for segment, index in zip(wanted, indexes, strict=True) if index is not None]
        if len(parts) < len(wanted):
            raise SegmentsReplaced("cold segments are being rewritten", dependency="object_storage")
        found = await asyncio.to_thread(SegmentSearch, parts, question)
        self._read_ahead.begin(parts)
        return found

    async def contents(self, pointers: Sequence[ColdPointer]) -> dict[UUID, ColdContent]:
        """Return what segments keep of memories, by memory id; what was compacted meanwhile is left out.

        Raises:
            Unavailable: a segment cannot be read.
        """

        async def one(pointer: ColdPointer) -> tuple[UUID, PayloadBlock | None, int]:
            block = await self._block(pointer.segment_id, pointer.object_key, pointer.offset, pointer.size)
            return pointer.memory_id, block, pointer.row

        # Most are at hand, and waiting for each of them costs more than looking.
        found = [
            (pointer.memory_id, self._files.block(pointer.segment_id, pointer.offset), pointer.row)
            for pointer in pointers
        ]
        absent = [pointer for pointer, (_, block, _) in zip(pointers, found, strict=True) if block is None]
        found += await asyncio.gather(*(one(pointer) for pointer in absent))
        try:
            return {memory_id: block.content(row) for memory_id, block, row in found if block is not None}
        except SegmentDamaged as error:
            raise _damaged() from error

    async def restored(self, segment: Segment, pointers: Sequence[ColdPointer]) -> list[Restored]:
        """Return memories of one segment with their units; what was compacted meanwhile is left out.

        Raises:
            Unavailable: the segment cannot be read.
        """
        index = await self._index(segment)
        if index is None:
            return []
        terms, weights, bounds = index.terms_by_unit()
        found = []
        for pointer in pointers:
            block = await self._block(pointer.segment_id, pointer.object_key, pointer.offset, pointer.size)
            if block is None:
                continue
            try:
                units = units_of(index, block, pointer.row, terms, weights, bounds)
                found.append(Restored(pointer, block.content(pointer.row), units))
            except SegmentDamaged as error:
                raise _damaged() from error
        return found

    async def _index(self, segment: Segment) -> SegmentIndex | None:
        known = self._files.index(segment.segment_id)
        if known is not None:
            return known

        async def read() -> SegmentIndex:
            data = await self._objects.get_range(segment.object_key, 0, segment.index_bytes)
            return await asyncio.to_thread(self._files.keep_index, segment.segment_id, data)

        found = await self._once(_Part(segment.segment_id, 0, segment.index_bytes), read)
        return found if isinstance(found, SegmentIndex) else None

    async def _block(self, segment_id: UUID, key: str, offset: int, size: int) -> PayloadBlock | None:
        known = self._files.block(segment_id, offset)
        if known is not None:
            return known

        # Whoever searched will ask for its neighbours, too; a memory that is asked for by name comes alone.
        index = self._files.index(segment_id)
        begins, length = (offset, size) if index is None else index.stretch_around(offset)
        data = self._files.stretch(segment_id, begins)
        if data is None:

            async def read() -> bytes:
                payload = await self._objects.get_range(key, begins, length)
                return payload if index is None else self._files.keep_stretch(segment_id, begins, payload)

            found = await self._once(_Part(segment_id, begins, length), read)
            if not isinstance(found, bytes):
                return None
            data = found
        # Who read at the same time may have kept the block meanwhile.
        try:
            return self._files.block(segment_id, offset) or self._files.keep_block(
                segment_id, offset, data[offset - begins : offset - begins + size]
            )
        except SegmentDamaged as error:
            self._files.drop_stretch(segment_id, begins)  # it may have been damaged on its way
            raise _damaged() from error

    async def _once(
        self, part: _Part, read: Callable[[], Awaitable[SegmentIndex | bytes]]
    ) -> SegmentIndex | bytes | None:
        """Read for all who ask at the same time; None when the object is gone: compacted or purged meanwhile."""
        task = self._reading.get(part)
        if task is None:

            async def bounded() -> SegmentIndex | bytes:
                async with self._slots:
                    return await read()

            task = asyncio.create_task(bounded())
            self._reading[part] = task
            task.add_done_callback(lambda done: (self._reading.pop(part, None), done.cancelled() or done.exception()))
        try:
            return await asyncio.shield(task)
        except NotFound:
            return None
        except SegmentDamaged as error:
            raise _damaged() from error


def _damaged() -> Unavailable:
    return Unavailable("a cold segment is damaged", dependency="object_storage")


def _may_hold(segment: Segment, question: ColdQuestion) -> bool:
    if question.start is not None and segment.last < question.start:
        return False
    return question.end is None or segment.first < question.end


class ColdReaderRounds:
    """Gives up local copies of what was erased or fell silent, until it is closed."""

    def __init__(
        self,
        files: SegmentFiles,
        gone: Callable[[list[UUID]], Awaitable[list[UUID]]],
        *,
        interval_seconds: float,
    ) -> None:
        self._files = files
        self._gone = gone
        self._interval_seconds = interval_seconds
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> None:
        """Give up what no catalog holds any more, and what nobody used lately. Raises: Unavailable."""
        self._files.drop_idle()
        held = sorted(self._files.segment_ids())
        if held:
            self._files.drop(frozenset(await self._gone(held)))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_seconds)
            try:
                await self.look()
            except Exception:  # noqa: BLE001 -- whatever is not known to be there still must not be read from a copy
                self._files.drop(self._files.segment_ids())
