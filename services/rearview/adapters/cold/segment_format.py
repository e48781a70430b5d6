"""The bytes of a cold segment: one object, an index part in front that is searched, payload blocks behind it.

    magic, length of the header (uint32, little endian), header (JSON), index streams, payload blocks

Each index stream is an Arrow IPC stream, uncompressed, so that its columns are used where they lie; each payload block
is one of BLOCK_MEMORIES memories, compressed with zstd. Vectors are kept as int8 with a scale in the index, and what is
missing to their exact half-precision bits in the payload: nothing, of those that were stored on the grid of such codes.
docs/decisions/0007-cold-segments.md has the reasons.
"""

import json
import os
import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rearview.domain.cold import ColdContent, ColdMemory, ColdUnit
from rearview.domain.stored_vector import coded, decoded

MAGIC = b"RVCOLD01"
BLOCK_MEMORIES = 32
STRETCH_BYTES = 64 * 1024
"""Payload blocks are read in stretches of so many bytes: a request costs more than what it carries."""

ALIGNMENT = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PREFIX = struct.Struct("<8sI")
_MICROSECOND = timedelta(microseconds=1)

BLOCK_SCHEMA = pa.schema(
    [
        ("content", pa.large_utf8()),
        ("metadata", pa.large_utf8()),
        ("entities", pa.large_utf8()),
        ("low", pa.large_binary()),
        ("high", pa.large_binary()),
    ]
)
_TEXTS, _REMAINDERS = [0, 1, 2], [3, 4]
_COMPRESSED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=3))

_UNREADABLE = (pa.ArrowException, OSError, ValueError, IndexError)
"""What Arrow raises of bytes that are none of its streams, or that end too soon."""


class SegmentDamaged(Exception):
    """Bytes that are no segment, or not the whole of one."""


@dataclass(frozen=True, slots=True)
class EncodedSegment:
    """A segment's bytes; the first `index_bytes` are its index part."""

    data: bytes
    index_bytes: int
    block_offsets: tuple[int, ...]
    memories: int
    units: int


def encode_segment(memories: Sequence[ColdMemory], dimension: int) -> EncodedSegment:
    """Return the bytes of a segment of these memories, in this order. No two encodings have the same bytes: the header
    is salted, so that a late retry cannot bring back an object that was purged."""
    units = [unit for memory in memories for unit in memory.units]
    exact = _stacked([unit.embedding for unit in units], dimension)
    codes, scales = coded(exact)
    missing = exact.view(np.uint16) - decoded(codes, scales).view(np.uint16)
    starts = np.zeros(len(memories) + 1, np.int32)
    np.cumsum([len(memory.units) for memory in memories], out=starts[1:])
    streams = {
        "memories": {
            "memory_id": _ids([memory.memory_id.bytes for memory in memories]),
            "unit_end": pa.array(starts[1:]),
        },
        "units": {
            "unit_id": _ids([unit.unit_id.bytes for unit in units]),
            "memory": pa.array(np.repeat(np.arange(len(memories), dtype=np.int32), np.diff(starts))),
            "occurred": pa.array(np.array([microseconds(unit.occurred_at) for unit in units], np.int64)),
            "speaker": pa.array(np.array([unit.speaker for unit in units], np.int32)),
            "flags": pa.array(np.array([unit.flags for unit in units], np.int16)),
            "type": pa.array(np.array([unit.type for unit in units], np.int16)),
            "scale": pa.array(scales),
            "code": _fixed(codes.view(np.uint8), dimension),
        },
        **_postings([(unit.terms, unit.weights) for unit in units]),
    }
    encoded = {name: _stream(columns) for name, columns in streams.items()}
    blocks = []
    for first in range(0, len(memories), BLOCK_MEMORIES):
        chosen = memories[first : first + BLOCK_MEMORIES]
        at = [slice(starts[first + i], starts[first + i + 1]) for i in range(len(chosen))]
        batch = pa.record_batch(
            [
                pa.array([memory.content for memory in chosen], pa.large_utf8()),
                pa.array([memory.metadata for memory in chosen], pa.large_utf8()),
                pa.array([memory.entities for memory in chosen], pa.large_utf8()),
                pa.array([(missing[one] & 0xFF).astype(np.uint8).tobytes() for one in at], pa.large_binary()),
                pa.array([(missing[one] >> 8).astype(np.uint8).tobytes() for one in at], pa.large_binary()),
            ],
            schema=BLOCK_SCHEMA,
        )
        with pa.BufferOutputStream() as sink:
            with pa.ipc.new_stream(sink, BLOCK_SCHEMA, options=_COMPRESSED) as writer:
                writer.write_batch(batch)
            blocks.append(sink.getvalue().to_pybytes())
    return _assembled(encoded, blocks, len(memories), len(units), dimension)


class SegmentIndex:
    """The index part of a segment, over bytes that stay where they are.

    Attributes:
        memory_ids: (m,) of 16 bytes. unit_ids: (n,) of 16 bytes.
        unit_memory: (n,) int32 rows. occurred: (n,) int64 microseconds since 1970.
        codes: (n, d) int8, to be multiplied by scales (n,) float32.
    """

    def __init__(self, buffer: Any) -> None:
        """Read the index; `buffer` holds at least the index part.

        Raises:
            SegmentDamaged: these are not the bytes of an index part.
        """
        view = memoryview(buffer)
        try:
            magic, length = _PREFIX.unpack_from(view, 0)
            if magic != MAGIC:
                raise SegmentDamaged("not a segment")
            header = json.loads(bytes(view[_PREFIX.size : _PREFIX.size + length]))
            tables = {name: _batch(view[at : at + size]) for name, (at, size) in header["streams"].items()}
        except (*_UNREADABLE, struct.error, KeyError) as error:
            raise SegmentDamaged("the index part cannot be read") from error
        self.dimension: int = header["dimension"]
        self.block_offsets: list[int] = header["blocks"]
        self.total_bytes: int = header["blocks"][-1]
        memories, units = tables["memories"], tables["units"]
        self.memory_ids = _fixed_view(memories["memory_id"], 16).view("S16").reshape(-1)
        self.unit_ends = memories["unit_end"].to_numpy()
        self.unit_ids = _fixed_view(units["unit_id"], 16)
        self.unit_memory = units["memory"].to_numpy()
        self.occurred = units["occurred"].to_numpy()
        self.speakers = units["speaker"].to_numpy()
        self.flags = units["flags"].to_numpy()
        self.types = units["type"].to_numpy()
        self.scales = units["scale"].to_numpy()
        self.codes = _fixed_view(units["code"], self.dimension).view(np.int8)
        self.terms = tables["terms"]["term"].to_numpy()
        self.term_ends = tables["terms"]["end"].to_numpy()
        self.posting_units = tables["postings"]["unit"].to_numpy()
        self.posting_weights = tables["postings"]["weight"].to_numpy()

    @property
    def memory_count(self) -> int:
        """How many memories the segment was written with."""
        return len(self.memory_ids)

    @cached_property
    def _rows_by_end(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        ends = _ends(self.memory_ids)
        order = np.argsort(ends)
        return ends[order], order

    def rows_of(self, memory_ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """Return the rows of those of the memories, (k,) ids of 16 bytes, that the segment holds."""
        ends, order = self._rows_by_end
        wanted = _ends(memory_ids)
        first, last = np.searchsorted(ends, wanted), np.searchsorted(ends, wanted, side="right")
        # Two ids may end alike, if hardly ever.
        counts = last - first
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: NDArray[np.int64] = order[np.repeat(first, counts) + within]
        held: NDArray[np.int64] = rows[self.memory_ids[rows] == np.repeat(memory_ids, counts)]
        return held

    def memory_bytes(self, row: int) -> bytes:
        """Return the id of a row's memory."""
        return self.memory_ids[row : row + 1].tobytes()

    def block_range(self, row: int) -> tuple[int, int]:
        """Return where the block of a row lies: offset and size in the object."""
        block = row // BLOCK_MEMORIES
        start = self.block_offsets[block]
        return start, self.block_offsets[block + 1] - start

    @cached_property
    def stretch_bounds(self) -> list[int]:
        """Where the stretches of the payload begin, and where the last one ends: as many blocks each as fit into
        STRETCH_BYTES, or one."""
        bounds = [self.block_offsets[0]]
        for begins, ends in pairwise(self.block_offsets):
            if ends - bounds[-1] > STRETCH_BYTES and begins > bounds[-1]:
                bounds.append(begins)
        return [*bounds, self.block_offsets[-1]]

    def stretch_around(self, offset: int) -> tuple[int, int]:
        """Return offset and size of the stretch that holds the block at `offset`."""
        at = bisect_right(self.stretch_bounds, offset)
        begins, ends = self.stretch_bounds[at - 1 : at + 1]
        return begins, ends - begins

    def units_of(self, row: int) -> slice:
        """Return which units are a row's."""
        return slice(int(self.unit_ends[row - 1]) if row else 0, int(self.unit_ends[row]))

    def postings_of(self, term: int) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the units that hold a keyword, and its weights in them."""
        at = int(np.searchsorted(self.terms, term))
        if at >= len(self.terms) or int(self.terms[at]) != term:
            return self.posting_units[:0], self.posting_weights[:0]
        start = int(self.term_ends[at - 1]) if at else 0
        end = int(self.term_ends[at])
        return self.posting_units[start:end], self.posting_weights[start:end]

    def terms_by_unit(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
        """Return all postings by unit: terms, weights, and (n + 1,) where each unit's begin; terms ascend in each."""
        terms = np.repeat(self.terms, np.diff(self.term_ends, prepend=np.int64(0)))
        order = np.argsort(self.posting_units, kind="stable")
        bounds = np.searchsorted(self.posting_units[order], np.arange(len(self.scales) + 1))
        return terms[order], self.posting_weights[order], bounds


class PayloadBlock:
    """A payload block that was read; what its vectors lack is unpacked only when they are asked for."""

    def __init__(self, data: bytes) -> None:
        """Raises: SegmentDamaged."""
        self._data = data
        self._texts = self._unpacked(_TEXTS)
        self.size_bytes = len(data) + self._texts.nbytes

    def content(self, row: int) -> ColdContent:
        """Return what a row of the segment (one of this block) keeps. Raises: SegmentDamaged."""
        at = row % BLOCK_MEMORIES
        try:
            return ColdContent(*(column[at].as_py() for column in self._texts.columns))
        except _UNREADABLE as error:
            raise SegmentDamaged("a payload block cannot be read") from error

    def embeddings(self, index: SegmentIndex, row: int) -> NDArray[np.float16]:
        """Return the exact vectors of a row's units: (u, d) float16. Raises: SegmentDamaged."""
        at, units = row % BLOCK_MEMORIES, index.units_of(row)
        low, high = (
            np.frombuffer(column[at].as_buffer(), np.uint8).reshape(-1, index.dimension)
            for column in self._unpacked(_REMAINDERS).columns
        )
        missing = low.astype(np.uint16) | (high.astype(np.uint16) << np.uint16(8))
        return (decoded(index.codes[units], index.scales[units]).view(np.uint16) + missing).view(np.float16)

    def _unpacked(self, columns: list[int]) -> Any:
        try:
            return _batch(memoryview(self._data), columns)
        except _UNREADABLE as error:
            raise SegmentDamaged("a payload block cannot be read") from error


def units_of(
    index: SegmentIndex,
    block: PayloadBlock,
    row: int,
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    bounds: NDArray[np.int64],
) -> tuple[ColdUnit, ...]:
    """Return a row's units as they were; the last three are `terms_by_unit` of the index. Raises: SegmentDamaged."""
    vectors, at = block.embeddings(index, row), index.units_of(row)
    return tuple(
        ColdUnit(
            unit_id=UUID(bytes=index.unit_ids[unit].tobytes()),
            occurred_at=moment_of(index.occurred[unit]),
            speaker=int(index.speakers[unit]),
            flags=int(index.flags[unit]),
            type=int(index.types[unit]),
            embedding=vectors[unit - at.start],
            terms=terms[bounds[unit] : bounds[unit + 1]],
            weights=weights[bounds[unit] : bounds[unit + 1]],
        )
        for unit in range(at.start, at.stop)
    )


def decode_segment(data: bytes) -> list[ColdMemory]:
    """Return all memories of a segment, by row. Raises: SegmentDamaged."""
    index = SegmentIndex(data)
    terms, weights, bounds = index.terms_by_unit()
    memories: list[ColdMemory] = []
    for start, end in pairwise(index.block_offsets):
        block = PayloadBlock(data[start:end])
        for row in range(len(memories), min(len(memories) + BLOCK_MEMORIES, index.memory_count)):
            units = units_of(index, block, row, terms, weights, bounds)
            times = [unit.occurred_at for unit in units]
            kept = block.content(row)
            memories.append(
                ColdMemory(
                    memory_id=UUID(bytes=index.memory_bytes(row)),
                    content=kept.content,
                    metadata=kept.metadata,
                    entities=kept.entities,
                    first=min(times, default=EPOCH),
                    last=max(times, default=EPOCH),
                    units=units,
                )
            )
    return memories


def microseconds(moment: datetime) -> int:
    """Return the microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def moment_of(value: int) -> datetime:
    """Return the moment so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=int(value))


def _stacked(vectors: Sequence[NDArray[np.float16]], dimension: int) -> NDArray[np.float16]:
    return np.stack(vectors) if vectors else np.zeros((0, dimension), np.float16)


def _postings(bags: Sequence[tuple[NDArray[np.int32], NDArray[np.float32]]]) -> dict[str, dict[str, Any]]:
    terms = np.concatenate([terms for terms, _ in bags]) if bags else np.zeros(0, np.int32)
    weights = np.concatenate([weights for _, weights in bags]) if bags else np.zeros(0, np.float32)
    units = np.repeat(np.arange(len(bags)), [len(terms) for terms, _ in bags]) if bags else np.zeros(0, np.int64)
    order = np.argsort(terms, kind="stable")
    distinct, counts = np.unique(terms, return_counts=True)
    narrow = np.uint16 if len(bags) <= np.iinfo(np.uint16).max else np.uint32
    return {
        "terms": {"term": pa.array(distinct.astype(np.int32)), "end": pa.array(np.cumsum(counts).astype(np.int32))},
        "postings": {
            "unit": pa.array(units[order].astype(narrow)),
            "weight": pa.array(weights[order].astype(np.float32)),
        },
    }


def _assembled(
    streams: dict[str, bytes], blocks: Sequence[bytes], memories: int, units: int, dimension: int
) -> EncodedSegment:
    def header(start: int) -> tuple[bytes, list[int]]:
        directory, at = {}, start
        for name, stream in streams.items():
            directory[name] = (at, len(stream))
            at = _aligned(at + len(stream))
        offsets = [at]
        for block in blocks:
            offsets.append(offsets[-1] + len(block))
        text = json.dumps(
            {"salt": salt, "dimension": dimension, "streams": directory, "blocks": offsets}, separators=(",", ":")
        )
        return text.encode(), offsets

    salt = os.urandom(16).hex()
    start = ALIGNMENT
    while True:
        text, offsets = header(start)
        needed = _aligned(_PREFIX.size + len(text))
        if needed <= start:
            break
        start = needed
    parts = [_PREFIX.pack(MAGIC, len(text)), text, bytes(start - _PREFIX.size - len(text))]
    for stream in streams.values():
        parts += [stream, bytes(_aligned(len(stream)) - len(stream))]
    return EncodedSegment(b"".join([*parts, *blocks]), offsets[0], tuple(offsets), memories, units)


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


def _stream(columns: dict[str, Any]) -> bytes:
    batch = pa.record_batch(columns)
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        data: bytes = sink.getvalue().to_pybytes()
    return data


def _ends(memory_ids: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """Return the last eight bytes of ids as numbers: random, and sorted ten times as fast as the ids."""
    halves: NDArray[np.uint64] = np.ascontiguousarray(memory_ids).view(np.uint64).reshape(-1, 2)
    return halves[:, 1].copy()


def _batch(view: memoryview, columns: list[int] | None = None) -> Any:
    # Of a few kilobytes, to hand the work to threads costs more than the work.
    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=columns)
    with pa.ipc.open_stream(pa.py_buffer(view), options=options) as reader:
        batch = reader.read_next_batch()
    batch.validate()
    return batch


def _ids(ids: Sequence[bytes]) -> Any:
    return _fixed(np.frombuffer(b"".join(ids), np.uint8), 16)


def _fixed(values: NDArray[np.uint8], width: int) -> Any:
    data = np.ascontiguousarray(values)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), data.size // width, [None, pa.py_buffer(data)])


def _fixed_view(column: Any, width: int) -> NDArray[np.uint8]:
    start = column.offset * width
    return np.frombuffer(column.buffers()[1], np.uint8)[start : start + len(column) * width].reshape(-1, width)
