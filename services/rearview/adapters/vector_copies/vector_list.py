"""Vectors as eight-bit numbers, compared with a query all at once."""

from dataclasses import dataclass, replace

import numkong
import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS = 16_384
"""What is added lies in a block that is packed anew each time, until it has so many rows."""

BYTES_BESIDE = 24
"""What a row takes beside a byte for each dimension: its id, its scale and its offset."""

_LARGEST = 127.0
_SMALLEST = np.float32(1e-12)  # so that a vector of zeros has a scale


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rows that are compared at once.

    Attributes:
        ids: (n, 16) uint8.
        codes: (n, d) int8 of a block that may grow; empty of others.
        scales: (n,) float32; the product of two rows of codes times it is proportional to the cosine.
        offsets: (n,) float32, 0, or negative infinity where a row was discarded.
    """

    ids: NDArray[np.uint8]
    codes: NDArray[np.int8]
    packed: numkong.PackedMatrix
    scales: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class VectorList:
    """Units with their vectors. It does not change: what adds or discards returns another one, which shares most."""

    dimension: int
    blocks: tuple[_Block, ...] = ()
    discarded: int = 0

    def __len__(self) -> int:
        return sum(map(len, self.blocks)) - self.discarded

    @property
    def bytes(self) -> int:
        """What it takes in memory, about."""
        rows = sum(map(len, self.blocks))
        return rows * (self.dimension + BYTES_BESIDE) + sum(block.codes.nbytes for block in self.blocks)

    def adding(self, ids: NDArray[np.uint8], vectors: NDArray[np.float32]) -> "VectorList":
        """Return it with more units, none of which it has. `ids`: (n, 16); `vectors`: (n, d), of any length."""
        if not len(ids):
            return self
        blocks = list(self.blocks)
        codes, scales = _coded(vectors)
        offsets = np.zeros(len(ids), dtype=np.float32)
        if blocks and len(blocks[-1]) < BLOCK_ROWS:
            last = blocks.pop()
            ids = np.concatenate([last.ids, ids])
            codes = np.concatenate([last.codes, codes])
            scales = np.concatenate([last.scales, scales])
            offsets = np.concatenate([last.offsets, offsets])
        for first in range(0, len(ids), BLOCK_ROWS):
            rows = slice(first, first + BLOCK_ROWS)
            blocks.append(_block(ids[rows], codes[rows], scales[rows], offsets[rows]))
        return replace(self, blocks=tuple(blocks))

    def discarding(self, ids: NDArray[np.uint8]) -> "VectorList":
        """Return it without some units, (n, 16); what it has not is let be. A block goes of which nothing is left."""
        gone = {one.tobytes() for one in ids}
        if not gone or not self.blocks:
            return self
        halves = np.ascontiguousarray(ids).view(np.uint64)[:, 1]
        blocks, discarded = [], self.discarded
        for block in self.blocks:
            # The second half of an id is all but unique, and numbers are compared at once.
            likely = np.flatnonzero(np.isin(block.ids.view(np.uint64)[:, 1], halves) & np.isfinite(block.offsets))
            rows = [row for row in likely.tolist() if block.ids[row].tobytes() in gone]
            if rows:
                offsets = block.offsets.copy()
                offsets[rows] = -np.inf
                block = replace(block, offsets=offsets)
                discarded += len(rows)
                if not np.isfinite(offsets).any():
                    discarded -= len(block)
                    continue
            blocks.append(block)
        return replace(self, blocks=tuple(blocks), discarded=discarded)

    def nearest(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.uint8]:
        """Return the ids, (m, 16), of the units that are likely the `limit` nearest by cosine, in no order."""
        if not self.blocks or limit <= 0:
            return np.empty((0, 16), dtype=np.uint8)
        codes, _ = _coded(vector[None, :])
        scores = np.concatenate([_scores(block, codes) for block in self.blocks])
        if limit < len(scores):
            chosen = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
        else:
            chosen = np.arange(len(scores))
        return self._ids(chosen[np.isfinite(scores[chosen])])

    def _ids(self, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
        parts: list[NDArray[np.uint8]] = [np.empty((0, 16), dtype=np.uint8)]
        first = 0
        for block in self.blocks:
            parts.append(block.ids[rows[(rows >= first) & (rows < first + len(block))] - first])
            first += len(block)
        return np.concatenate(parts)


def _block(
    ids: NDArray[np.uint8], codes: NDArray[np.int8], scales: NDArray[np.float32], offsets: NDArray[np.float32]
) -> _Block:
    packed = numkong.dots_pack(np.ascontiguousarray(codes))
    kept = codes.copy() if len(ids) < BLOCK_ROWS else codes[:0].copy()
    return _Block(np.ascontiguousarray(ids), kept, packed, scales.copy(), offsets.copy())


def _coded(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return codes, (n, d), and scales, (n,), of vectors, (n, d)."""
    largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), _SMALLEST)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1), _SMALLEST)
    codes = np.rint(vectors * (_LARGEST / largest)[:, None]).astype(np.int8)
    return codes, (largest / lengths).astype(np.float32)


def _scores(block: _Block, codes: NDArray[np.int8]) -> NDArray[np.float32]:
    dots: NDArray[np.int32] = np.asarray(numkong.dots_packed(codes, block.packed))
    scores: NDArray[np.float32] = dots[0] * block.scales + block.offsets
    return scores
