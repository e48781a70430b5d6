"""Parts of segments near at hand: index parts in files without a name, payload in memory, both bounded."""

import mmap
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from rearview.adapters.cold.payload_block import PayloadBlock
from rearview.adapters.cold.segment_index import SegmentIndex


@dataclass(slots=True)
class _Kept:
    value: SegmentIndex | PayloadBlock | bytes
    size_bytes: int
    used_at: float


Key = tuple[UUID, int]
INDEX = -1
"""Stands for the index part; payload blocks are numbered by where they begin, stretches of them below it."""


class SegmentFiles:
    """What was read of segments, the least recently used given up first, and everything once it falls silent.

    Index parts lie in files that have no name, so that they go with the process however it ends; they are mapped, and
    take memory only while they are searched. Of the payload, stretches are kept as they were read, and the blocks
    in them that were asked for ready for use. Nothing is kept of segments that nobody asks for.
    """

    def __init__(
        self,
        *,
        folder: Path | None = None,
        index_bytes: int,
        payload_bytes: int,
        idle_seconds: float,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._idle_seconds = idle_seconds
        self._now = monotonic_seconds
        self._limits = {True: index_bytes, False: payload_bytes}
        self._kept: dict[bool, OrderedDict[Key, _Kept]] = {True: OrderedDict(), False: OrderedDict()}
        self._sizes = {True: 0, False: 0}

    def index(self, segment_id: UUID) -> SegmentIndex | None:
        """Return a segment's index part if it is at hand."""
        found = self._find(True, (segment_id, INDEX))
        return found if isinstance(found, SegmentIndex) else None

    def block(self, segment_id: UUID, offset: int) -> PayloadBlock | None:
        """Return a payload block if it is at hand."""
        found = self._find(False, (segment_id, offset))
        return found if isinstance(found, PayloadBlock) else None

    def keep_index(self, segment_id: UUID, data: bytes) -> SegmentIndex:
        """Keep an index part and return it; blocking, as it writes a file. Raises: SegmentDamaged."""
        with tempfile.TemporaryFile(dir=self._folder) as file:
            file.write(data)
            file.flush()
            index = SegmentIndex(mmap.mmap(file.fileno(), len(data), access=mmap.ACCESS_READ))
        self._keep(True, (segment_id, INDEX), index, len(data))
        return index

    def keep_block(self, segment_id: UUID, offset: int, data: bytes) -> PayloadBlock:
        """Keep a payload block and return it. Raises: SegmentDamaged."""
        block = PayloadBlock(data)
        self._keep(False, (segment_id, offset), block, block.size_bytes)
        return block

    def stretch(self, segment_id: UUID, offset: int) -> bytes | None:
        """Return the stretch of the payload that begins at an offset, if it is at hand."""
        found = self._find(False, (segment_id, INDEX - offset))
        return found if isinstance(found, bytes) else None

    def keep_stretch(self, segment_id: UUID, offset: int, data: bytes) -> bytes:
        """Keep a stretch of the payload and return it."""
        self._keep(False, (segment_id, INDEX - offset), data, len(data))
        return data

    def drop_stretch(self, segment_id: UUID, offset: int) -> None:
        """Give up a stretch of the payload, if it is at hand."""
        if (segment_id, INDEX - offset) in self._kept[False]:
            self._give_up(False, (segment_id, INDEX - offset))

    def segment_ids(self) -> frozenset[UUID]:
        """Return the segments of which anything is kept."""
        return frozenset(segment_id for kept in self._kept.values() for segment_id, _ in kept)

    def drop(self, segment_ids: Collection[UUID]) -> None:
        """Give up everything of these segments."""
        for kind, kept in self._kept.items():
            for key in [key for key in kept if key[0] in segment_ids]:
                self._give_up(kind, key)

    def drop_idle(self) -> None:
        """Give up what nobody used for the time that is set."""
        until = self._now() - self._idle_seconds
        for kind, kept in self._kept.items():
            for key in [key for key, one in kept.items() if one.used_at < until]:
                self._give_up(kind, key)

    @property
    def payload_limit_bytes(self) -> int:
        """How many bytes of payload are kept at most."""
        return self._limits[False]

    @property
    def size_bytes(self) -> int:
        """How many bytes are kept, in files and in memory."""
        return sum(self._sizes.values())

    def _find(self, kind: bool, key: Key) -> SegmentIndex | PayloadBlock | bytes | None:
        found = self._kept[kind].get(key)
        if found is None:
            return None
        found.used_at = self._now()
        self._kept[kind].move_to_end(key)
        return found.value

    def _keep(self, kind: bool, key: Key, value: SegmentIndex | PayloadBlock | bytes, size_bytes: int) -> None:
        if key in self._kept[kind]:
            self._give_up(kind, key)
        self._kept[kind][key] = _Kept(value, size_bytes, self._now())
        self._sizes[kind] += size_bytes
        while self._sizes[kind] > self._limits[kind]:
            self._give_up(kind, next(iter(self._kept[kind])))

    def _give_up(self, kind: bool, key: Key) -> None:
        self._sizes[kind] -= self._kept[kind].pop(key).size_bytes
