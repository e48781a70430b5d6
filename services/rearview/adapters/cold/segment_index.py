"""The index part of a segment, which is searched."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_layout import read_layout

BLOCK_MEMORIES = 32
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STRETCH_BYTES = 64 * 1024
"""Payload blocks are read in stretches of so many bytes: a request costs more than what it carries."""

_MICROSECOND = timedelta(microseconds=1)


class SegmentIndex:
    """The index part of a segment, over bytes that stay where they are.

    Attributes:
        memory_ids: (m,) of 16 bytes. unit_ids: (n,) of 16 bytes.
        unit_memory: (n,) int32 rows. occurred: (n,) int64 microseconds since 1970.
        codes: (n, d) int8, to be multiplied by scales (n,) float32.
    """

    def __init__(self, buffer: Any) -> None:
        """Read the index; `buffer` holds at least the index part, and has to stay.

        Raises:
            SegmentDamaged: these are not the bytes of an index part.
        """
        layout = read_layout(buffer)
        columns = layout.columns
        self.block_offsets = layout.block_offsets
        self.dimension: int = layout.facts["dimension"]
        self.memory_ids = columns["memory_id"].view("S16").reshape(-1)
        self.unit_ends = columns["unit_end"]
        self.unit_ids = columns["unit_id"]
        self.unit_memory = columns["unit_memory"]
        self.occurred = columns["occurred"]
        self.speakers = columns["speaker"]
        self.flags = columns["flags"]
        self.types = columns["type"]
        self.scales = columns["scale"]
        self.codes = columns["code"]
        self.terms = columns["term"]
        self.term_ends = columns["term_end"]
        self.posting_units = columns["posting_unit"]
        self.posting_weights = columns["posting_weight"]

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


def microseconds(moment: datetime) -> int:
    """Return the microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def moment_of(value: int) -> datetime:
    """Return the moment so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=int(value))


def _ends(memory_ids: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """Return the last eight bytes of ids as numbers: random, and sorted ten times as fast as the ids."""
    halves: NDArray[np.uint64] = np.ascontiguousarray(memory_ids).view(np.uint64).reshape(-1, 2)
    return halves[:, 1].copy()
