"""Rows of tiers and segments, to and from the domain."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.postgres.records import SPARSE_DIMENSION, vector_text
from rearview.domain.cold import ColdMemory, ColdPointer, ColdUnit, Segment
from rearview.ports.tiering import ColdBatch, Restored

HALFVEC_HEADER = 4
_SPARSEVEC_HEADER = 12


def batch_of(generation: int, rows: Sequence[Sequence[Any]], unit_rows: Collection[Sequence[Any]]) -> ColdBatch:
    """Return the batch of rows of `cold_batch` and `read_warm`."""
    units: dict[UUID, list[ColdUnit]] = {}
    for memory_id, unit_id, occurred_at, speaker, flags, kind, vector, sparse in unit_rows:
        terms, weights = sparse_of(sparse)
        unit = ColdUnit(unit_id, occurred_at, speaker, flags, kind, halves_of(vector), terms, weights)
        units.setdefault(memory_id, []).append(unit)
    memories = tuple(
        ColdMemory(memory_id, content or "", metadata, entities, first, last, tuple(units.get(memory_id, ())))
        for memory_id, _, content, metadata, entities, _, first, last in rows
    )
    dimension = next((len(unit.embedding) for found in units.values() for unit in found), 1)
    return ColdBatch(generation, dimension, memories, tuple(row[1] for row in rows))


def segment_of(row: Sequence[Any]) -> Segment:
    """Return the segment of a row of `segments`."""
    segment_id, key, generation, memories, units, index_bytes, total_bytes, first, last, dead = row
    return Segment(
        segment_id, key, generation, memories, units, index_bytes, total_bytes, first, last, dead=tuple(dead)
    )


def segment_parameters(segment: Segment) -> dict[str, Any]:
    """Return the parameters of `insert_segment`."""
    return {
        "segment_id": segment.segment_id,
        "object_key": segment.object_key,
        "generation": segment.generation,
        "memories": segment.memories,
        "units": segment.units,
        "index_bytes": segment.index_bytes,
        "total_bytes": segment.total_bytes,
        "block_offsets": list(segment.block_offsets),
        "first": segment.first,
        "last": segment.last,
    }


def pointer_of(row: Sequence[Any]) -> ColdPointer:
    """Return the pointer of a row of `pointers`."""
    return ColdPointer(*row)


def restored_content(restored: Restored) -> dict[str, object]:
    """Return a record of `restore_content`; the JSON stays text until the database reads it."""
    return {
        "memory_id": restored.pointer.memory_id,
        "content": restored.content.content,
        "metadata": restored.content.metadata,
        "entities": restored.content.entities,
    }


def restored_units(restored: Restored, states: Mapping[UUID, int], now: datetime) -> list[dict[str, object]]:
    """Return records of `insert_fresh`."""
    memory_id = restored.pointer.memory_id
    return [unit_record(memory_id, unit, states[memory_id], now) for unit in restored.units]


def unit_record(memory_id: UUID, unit: ColdUnit, state: int, now: datetime) -> dict[str, object]:
    """Return a record of `insert_fresh`, bit for bit what the unit is."""
    return {
        "unit_id": unit.unit_id,
        "memory_id": memory_id,
        "occurred_at": unit.occurred_at,
        "speaker": unit.speaker,
        "flags": unit.flags,
        "state": state,
        "type": unit.type,
        "created_at": now,
        "embedding": vector_text(unit.embedding),
        "sv": _sparse_text(unit.terms, unit.weights),
    }


def halves_of(sent: bytes) -> NDArray[np.float16]:
    """Return the vector of what `halfvec_send` sends: (d,) float16."""
    return np.frombuffer(sent, ">f2", offset=HALFVEC_HEADER).astype(np.float16)


def sparse_of(sent: bytes) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return keyword hashes (from 1, as text has them) and weights of what `sparsevec_send` sends."""
    count = int.from_bytes(sent[4:8], "big")
    indices = np.frombuffer(sent, ">i4", count, _SPARSEVEC_HEADER)
    weights = np.frombuffer(sent, ">f4", count, _SPARSEVEC_HEADER + 4 * count)
    return indices.astype(np.int32) + np.int32(1), weights.astype(np.float32)


def _sparse_text(terms: NDArray[np.int32], weights: NDArray[np.float32]) -> str:
    # Nine digits are the exact float32.
    pairs = ",".join([f"{term}:{weight:.9g}" for term, weight in zip(terms.tolist(), weights.tolist(), strict=True)])
    return f"{{{pairs}}}/{SPARSE_DIMENSION}"
