"""Reading the payload of what was searched before it is asked for."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from weakref import WeakSet

from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_index import SegmentIndex
from rearview.domain.cold import Segment
from rearview.domain.errors import RearviewError
from rearview.ports.cold_store import ColdObjects

REQUEST_BYTES = 1024 * 1024

LARGEST_SHARE = 0.25
"""Of the memory for payload: what one search has there, and what is unpacked of it, must not push out all that others
have."""

MOST_WAITING = 256
"""Segments. Those that come when so many wait are read when they are asked for."""


class ReadAhead:
    """Reads the payload of searched segments in the background, once each while their index parts are at hand.

    The next questions then find nearly all content in memory, where each would have waited for a few dozen requests.
    One request is made at a time, so that those who wait for an answer come first.
    """

    def __init__(self, objects: ColdObjects, files: SegmentFiles) -> None:
        self._objects = objects
        self._files = files
        self._begun: WeakSet[SegmentIndex] = WeakSet()
        self._waiting: list[Segment] = []
        self._task: asyncio.Task[None] | None = None

    def begin(self, parts: Sequence[tuple[Segment, SegmentIndex]]) -> None:
        """Have the payload of segments read, if there is room for that of all of them."""
        fresh = [(segment, index) for segment, index in parts if index not in self._begun]
        payload_bytes = sum(segment.total_bytes - segment.index_bytes for segment, _ in parts)
        if not fresh or payload_bytes > LARGEST_SHARE * self._files.payload_limit_bytes:
            return
        for segment, index in fresh[: MOST_WAITING - len(self._waiting)]:
            self._begun.add(index)
            self._waiting.append(segment)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())

    async def close(self) -> None:
        """End what is being read."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        while self._waiting:
            try:
                await self._read_payload(self._waiting.pop(0))
            except RearviewError:  # whoever needs it will read it, and be told
                continue

    async def _read_payload(self, segment: Segment) -> None:
        first = 0
        # Asked for before each request and after it: it may be erased, compacted or given up meanwhile.
        while (index := self._files.index(segment.segment_id)) is not None:
            bounds = index.stretch_bounds
            if first >= len(bounds) - 1:
                return
            last = first + 1
            while last < len(bounds) - 1 and bounds[last + 1] - bounds[first] <= REQUEST_BYTES:
                last += 1
            begins = bounds[first]
            data = await self._objects.get_range(segment.object_key, begins, bounds[last] - begins)
            if self._files.index(segment.segment_id) is not index:
                return
            for start, end in pairwise(bounds[first : last + 1]):
                self._files.keep_stretch(segment.segment_id, start, data[start - begins : end - begins])
            first = last
