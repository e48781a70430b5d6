"""Reading cold segments: search over index parts, content by one ranged read of a payload block."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Self
from uuid import UUID

import numpy as np

from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_format import PayloadBlock, SegmentDamaged, SegmentIndex, moment_of, units_of
from rearview.adapters.cold.segment_search import ENTITY, KEYWORD, TIME, VECTOR, SegmentHits, search_segment
from rearview.domain.cold import ColdContent, ColdHit, ColdPointer, ColdQuestion, Segment
from rearview.domain.errors import NotFound, Unavailable
from rearview.ports.cold_store import ColdObjects
from rearview.ports.tiering import Restored

RESCORED = 24
"""So many of the best by their int8 codes are compared again by their exact vectors; of 15, the true ten are among."""


class ColdReader:
    """Searches and reads segments through bounded local copies of what was read last."""

    def __init__(self, objects: ColdObjects, files: SegmentFiles, *, at_once: int = 8) -> None:
        self._objects = objects
        self._files = files
        self._slots = asyncio.Semaphore(at_once)
        self._reading: dict[tuple[UUID, int], asyncio.Task[SegmentIndex | PayloadBlock]] = {}

    async def search(self, segments: Sequence[Segment], question: ColdQuestion) -> list[ColdHit]:
        """Return the units that the segments hold for a question, at most `limit` a route over all of them.

        Raises:
            Unavailable: a segment cannot be read.
        """
        wanted = [segment for segment in segments if _may_hold(segment, question)]
        indexes = await asyncio.gather(*(self._index(segment) for segment in wanted))
        found = await asyncio.to_thread(
            lambda: [
                search_segment(segment, index, question)
                for segment, index in zip(wanted, indexes, strict=True)
                if index is not None
            ]
        )
        exact = await self._exact(found, question)
        return _hits(found, exact, question.limit, question.languages)

    async def contents(self, pointers: Sequence[ColdPointer]) -> dict[UUID, ColdContent]:
        """Return what segments keep of memories, by memory id; what was compacted meanwhile is left out.

        Raises:
            Unavailable: a segment cannot be read.
        """

        async def one(pointer: ColdPointer) -> tuple[UUID, ColdContent] | None:
            block = await self._block(pointer.segment_id, pointer.object_key, pointer.offset, pointer.size)
            return None if block is None else (pointer.memory_id, block.content(pointer.row))

        found = await asyncio.gather(*(one(pointer) for pointer in pointers))
        return dict(each for each in found if each is not None)

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
            if block is not None:
                units = units_of(index, block, pointer.row, terms, weights, bounds)
                found.append(Restored(pointer, block.content(pointer.row), units))
        return found

    async def _exact(self, found: Sequence[SegmentHits], question: ColdQuestion) -> dict[tuple[UUID, int], float]:
        if question.vector is None:
            return {}
        ranked = sorted(
            (
                (float(hits.similarities[at]), part, int(unit))
                for part, hits in enumerate(found)
                if hits.similarities is not None
                for at, unit in enumerate(hits.units)
                if hits.routes[at] & VECTOR
            ),
            reverse=True,
        )[:RESCORED]

        async def one(part: int, unit: int) -> tuple[tuple[UUID, int], float] | None:
            hits = found[part]
            row = int(hits.index.unit_memory[unit])
            block = await self._block(hits.segment.segment_id, hits.segment.object_key, *hits.index.block_range(row))
            if block is None or question.vector is None:
                return None
            vectors = block.embeddings(hits.index, row).astype(np.float32)
            exact = vectors[unit - hits.index.units_of(row).start]
            norm = float(np.linalg.norm(exact)) or 1.0
            return (hits.segment.segment_id, unit), float(exact @ question.vector) / norm

        rescored = await asyncio.gather(*(one(part, unit) for _, part, unit in ranked))
        return dict(each for each in rescored if each is not None)

    async def _index(self, segment: Segment) -> SegmentIndex | None:
        known = self._files.index(segment.segment_id)
        if known is not None:
            return known

        async def read() -> SegmentIndex:
            data = await self._objects.get_range(segment.object_key, 0, segment.index_bytes)
            return await asyncio.to_thread(self._files.keep_index, segment.segment_id, data)

        found = await self._once((segment.segment_id, -1), read)
        return found if isinstance(found, SegmentIndex) else None

    async def _block(self, segment_id: UUID, key: str, offset: int, size: int) -> PayloadBlock | None:
        known = self._files.block(segment_id, offset)
        if known is not None:
            return known

        async def read() -> PayloadBlock:
            data = await self._objects.get_range(key, offset, size)
            return self._files.keep_block(segment_id, offset, data)

        found = await self._once((segment_id, offset), read)
        return found if isinstance(found, PayloadBlock) else None

    async def _once(
        self, key: tuple[UUID, int], read: Callable[[], Awaitable[SegmentIndex | PayloadBlock]]
    ) -> SegmentIndex | PayloadBlock | None:
        """Read for all who ask at the same time; None when the object is gone: compacted or purged meanwhile."""
        task = self._reading.get(key)
        if task is None:

            async def bounded() -> SegmentIndex | PayloadBlock:
                async with self._slots:
                    return await read()

            task = asyncio.create_task(bounded())
            self._reading[key] = task
            task.add_done_callback(lambda done: (self._reading.pop(key, None), done.cancelled() or done.exception()))
        try:
            return await asyncio.shield(task)
        except NotFound:
            return None
        except SegmentDamaged as error:
            raise Unavailable("a cold segment is damaged", dependency="object_storage") from error


def _may_hold(segment: Segment, question: ColdQuestion) -> bool:
    if question.start is not None and segment.last < question.start:
        return False
    return question.end is None or segment.first < question.end


def _hits(
    found: Sequence[SegmentHits], exact: Mapping[tuple[UUID, int], float], limit: int, languages: Sequence[int]
) -> list[ColdHit]:
    hits = [
        ColdHit(
            memory_id=UUID(bytes=hits.index.memory_bytes(int(hits.index.unit_memory[unit]))),
            unit_id=UUID(bytes=hits.index.unit_ids[unit].tobytes()),
            occurred_at=moment_of(hits.index.occurred[unit]),
            speaker=int(hits.index.speakers[unit]),
            flags=int(hits.index.flags[unit]),
            routes=int(hits.routes[at]),
            similarity=None
            if hits.similarities is None
            else exact.get((hits.segment.segment_id, int(unit)), float(hits.similarities[at])),
            keyword_score=float(hits.keywords[at]),
        )
        for hits in found
        for at, unit in enumerate(hits.units)
    ]
    return _best(hits, limit, languages)


def _best(hits: list[ColdHit], limit: int, languages: Sequence[int]) -> list[ColdHit]:
    """Keep the best of each route over all segments; a unit stays while one route keeps it."""
    kept: set[int] = set()
    for route in (VECTOR, KEYWORD, ENTITY, TIME):
        of_route = [at for at, hit in enumerate(hits) if hit.routes & route]
        of_route.sort(key=lambda at: _rank(hits[at], route), reverse=True)
        for language in languages if route == VECTOR else (0,):
            kept.update([at for at in of_route if not language or hits[at].flags & language][:limit])
    return [hits[at] for at in sorted(kept)]


def _rank(hit: ColdHit, route: int) -> float:
    return hit.keyword_score if route == KEYWORD or hit.similarity is None else hit.similarity


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
