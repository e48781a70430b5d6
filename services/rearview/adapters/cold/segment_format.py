"""Cold segments: one object each, an index part in front that is searched, payload blocks behind it.

Vectors are kept as int8 with a scale in the index, and what is missing to their exact half-precision bits in the
payload: nothing, of those that were stored on the grid of such codes. docs/decisions/0007-cold-segments.md has the
reasons.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.payload_block import PayloadBlock, encode_block
from rearview.adapters.cold.segment_index import BLOCK_MEMORIES, EPOCH, SegmentIndex, microseconds, moment_of
from rearview.adapters.cold.segment_layout import laid_out
from rearview.domain.cold import ColdMemory, ColdUnit
from rearview.domain.stored_vector import coded, decoded


@dataclass(frozen=True, slots=True)
class EncodedSegment:
    """A segment's bytes; the first `index_bytes` are its index part."""

    data: bytes
    index_bytes: int
    block_offsets: tuple[int, ...]
    memories: int
    units: int


def encode_segment(memories: Sequence[ColdMemory], dimension: int) -> EncodedSegment:
    """Return the bytes of a segment of these memories, in this order. No two encodings have the same bytes."""
    units = [unit for memory in memories for unit in memory.units]
    exact = _stacked([unit.embedding for unit in units], dimension)
    codes, scales = coded(exact)
    missing = exact.view(np.uint16) - decoded(codes, scales).view(np.uint16)
    starts = np.zeros(len(memories) + 1, np.int32)
    np.cumsum([len(memory.units) for memory in memories], out=starts[1:])
    columns: dict[str, NDArray[Any]] = {
        "memory_id": _ids([memory.memory_id for memory in memories]),
        "unit_end": starts[1:],
        "unit_id": _ids([unit.unit_id for unit in units]),
        "unit_memory": np.repeat(np.arange(len(memories), dtype=np.int32), np.diff(starts)),
        "occurred": np.array([microseconds(unit.occurred_at) for unit in units], np.int64),
        "speaker": np.array([unit.speaker for unit in units], np.int32),
        "flags": np.array([unit.flags for unit in units], np.int16),
        "type": np.array([unit.type for unit in units], np.int16),
        "scale": scales,
        "code": codes,
        **_postings([(unit.terms, unit.weights) for unit in units]),
    }
    blocks = []
    for first in range(0, len(memories), BLOCK_MEMORIES):
        last = min(first + BLOCK_MEMORIES, len(memories))
        blocks.append(encode_block(memories[first:last], missing[starts[first] : starts[last]]))
    data, offsets = laid_out(columns, blocks, {"dimension": dimension})
    return EncodedSegment(data, offsets[0], offsets, len(memories), len(units))


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


def _stacked(vectors: Sequence[NDArray[np.float16]], dimension: int) -> NDArray[np.float16]:
    return np.stack(vectors) if vectors else np.zeros((0, dimension), np.float16)


def _postings(bags: Sequence[tuple[NDArray[np.int32], NDArray[np.float32]]]) -> dict[str, NDArray[Any]]:
    terms = np.concatenate([terms for terms, _ in bags]) if bags else np.zeros(0, np.int32)
    weights = np.concatenate([weights for _, weights in bags]) if bags else np.zeros(0, np.float32)
    units = np.repeat(np.arange(len(bags)), [len(terms) for terms, _ in bags]) if bags else np.zeros(0, np.int64)
    order = np.argsort(terms, kind="stable")
    distinct, counts = np.unique(terms, return_counts=True)
    narrow = np.uint16 if len(bags) <= np.iinfo(np.uint16).max else np.uint32
    return {
        "term": distinct.astype(np.int32),
        "term_end": np.cumsum(counts).astype(np.int32),
        "posting_unit": units[order].astype(narrow),
        "posting_weight": weights[order].astype(np.float32),
    }


def _ids(ids: Sequence[UUID]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(each.bytes for each in ids), np.uint8).reshape(-1, 16)
