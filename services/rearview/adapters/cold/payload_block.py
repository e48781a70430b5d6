"""Payload blocks: what a few memories keep beside the index, compressed with zstd, read one at a time.

    CRC-32 of the rest, number of memories, size of the first frame (uint32 each), frame of texts, frame of remainders

The first frame holds the lengths of three texts a memory (uint32), and the texts. The second holds what the codes of
the index lack to the exact vectors: the low bytes of all units, and the high bytes of all.
"""

import struct
import threading
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import zstandard
from numpy.typing import NDArray

from rearview.adapters.cold.segment_index import BLOCK_MEMORIES, SegmentIndex
from rearview.adapters.cold.segment_layout import SegmentDamaged
from rearview.domain.cold import ColdContent, ColdMemory
from rearview.domain.stored_vector import decoded

_PREFIX = struct.Struct("<III")
_SUMMED_FROM = 4
_TEXTS_EACH = 3
_LEVEL = 3


class _OfThread(threading.local):
    """What is made once a thread: it takes longer to make than a block to unpack, and no two may use it at once."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_OF_THREAD = _OfThread()


def encode_block(memories: Sequence[ColdMemory], missing: NDArray[np.uint16]) -> bytes:
    """Return the block of at most BLOCK_MEMORIES memories; `missing` (u, d) are the remainders of their units."""
    texts = [text.encode() for memory in memories for text in (memory.content, memory.metadata, memory.entities)]
    lengths = np.array([len(text) for text in texts], np.uint32).tobytes()
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    first = compressor.compress(b"".join([lengths, *texts]))
    halves = (missing & 0xFF).astype(np.uint8).tobytes() + (missing >> 8).astype(np.uint8).tobytes()
    body = _PREFIX.pack(0, len(memories), len(first))[_SUMMED_FROM:] + first + compressor.compress(halves)
    return zlib.crc32(body).to_bytes(_SUMMED_FROM, "little") + body


class PayloadBlock:
    """A payload block that was read; what its vectors lack is unpacked only when they are asked for."""

    def __init__(self, data: bytes) -> None:
        """Raises: SegmentDamaged."""
        if len(data) < _PREFIX.size:
            raise SegmentDamaged("a payload block ends too soon")
        expected, memories, size = _PREFIX.unpack_from(data)
        if zlib.crc32(memoryview(data)[_SUMMED_FROM:]) != expected:
            raise SegmentDamaged("a payload block is not as it was written")
        self._remainders = memoryview(data)[_PREFIX.size + size :]
        texts = memoryview(_OF_THREAD.decompressor.decompress(data[_PREFIX.size : _PREFIX.size + size]))
        count = _TEXTS_EACH * memories
        self._ends = np.cumsum(np.frombuffer(texts, np.uint32, count), dtype=np.int64).tolist()
        self._texts = texts[4 * count :]
        self.size_bytes = len(data) + len(texts)

    def content(self, row: int) -> ColdContent:
        """Return what a row of the segment (one of this block) keeps. Raises: SegmentDamaged: it is of another one."""
        first = _TEXTS_EACH * (row % BLOCK_MEMORIES)
        if first >= len(self._ends):
            raise SegmentDamaged("a payload block does not hold the memory")
        bounds = [self._ends[first - 1] if first else 0, *self._ends[first : first + _TEXTS_EACH]]
        return ColdContent(*(str(self._texts[start:end], "utf-8") for start, end in pairwise(bounds)))

    def embeddings(self, index: SegmentIndex, row: int) -> NDArray[np.float16]:
        """Return the exact vectors of a row's units: (u, d) float16. Raises: SegmentDamaged: it is of another one."""
        first = row - row % BLOCK_MEMORIES
        start, units = index.units_of(first).start, index.units_of(row)
        halves = np.frombuffer(_OF_THREAD.decompressor.decompress(self._remainders), np.uint8)
        low, high = halves.reshape(2, -1, index.dimension)[:, units.start - start : units.stop - start]
        missing = low.astype(np.uint16) | (high.astype(np.uint16) << np.uint16(8))
        exact: NDArray[np.float16] = (decoded(index.codes[units], index.scales[units]).view(np.uint16) + missing).view(
            np.float16
        )
        return exact
