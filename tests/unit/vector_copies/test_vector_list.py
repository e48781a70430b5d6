"""Vectors as eight-bit numbers, against the same vectors as they were."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rearview.adapters.vector_copies.vector_list import BLOCK_ROWS, VectorList
from rearview.domain.ids import new_id

DIMENSION = 64


def some(count: int, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Ids, and vectors of different lengths around a few points, as those of texts are."""
    rng = np.random.default_rng(seed)
    ids = np.frombuffer(b"".join(new_id().bytes for _ in range(count)), dtype=np.uint8).reshape(count, 16)
    points = rng.normal(size=(20, DIMENSION))
    vectors = points[rng.integers(0, 20, count)] + 0.5 * rng.normal(size=(count, DIMENSION))
    return ids, (vectors * rng.uniform(0.1, 9.0, (count, 1))).astype(np.float32)


def names(ids: NDArray[np.uint8]) -> set[bytes]:
    return {one.tobytes() for one in ids}


def truly_nearest(
    ids: NDArray[np.uint8], vectors: NDArray[np.float32], query: NDArray[np.float32], limit: int
) -> set[bytes]:
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
    return names(ids[np.argsort(-cosines)[:limit]])


@pytest.mark.parametrize("count", [1, 300, BLOCK_ROWS, BLOCK_ROWS + 5_000])
def test_among_twice_as_many_are_the_nearest(count: int) -> None:
    ids, vectors = some(count)
    whole = VectorList(DIMENSION).adding(ids, vectors)
    assert len(whole) == count
    for query in some(20, seed=1)[1]:
        found = whole.nearest(query, 200)
        assert len(found) == min(count, 200)
        assert truly_nearest(ids, vectors, query, 100) <= names(found)


def test_what_is_added_piece_by_piece_is_as_if_at_once() -> None:
    ids, vectors = some(BLOCK_ROWS + 3_000)
    query = some(1, seed=2)[1][0]
    grown = VectorList(DIMENSION)
    for first in range(0, len(ids), 1_700):
        grown = grown.adding(ids[first : first + 1_700], vectors[first : first + 1_700])
    at_once = VectorList(DIMENSION).adding(ids, vectors)
    assert names(grown.nearest(query, 50)) == names(at_once.nearest(query, 50))
    assert [len(block.codes) for block in grown.blocks] == [0, 3_000], "only what may grow is kept unpacked"


def test_what_is_discarded_is_not_found_and_an_older_list_has_it_still() -> None:
    ids, vectors = some(BLOCK_ROWS + 1_000)
    whole = VectorList(DIMENSION).adding(ids, vectors)
    query = some(1, seed=3)[1][0]
    best = whole.nearest(query, 60)
    less = whole.discarding(np.concatenate([best, some(5)[0]]))
    assert (len(less), less.discarded) == (len(ids) - 60, 60)
    assert names(less.nearest(query, 60)).isdisjoint(names(best))
    assert len(less.discarding(best)) == len(less)
    assert names(whole.nearest(query, 60)) == names(best)
    again = less.adding(best, vectors[[names(ids[[at]]) <= names(best) for at in range(len(ids))]])
    assert len(again) == len(whole)


def test_a_block_of_which_nothing_is_left_takes_no_room() -> None:
    ids, vectors = some(2 * BLOCK_ROWS + 1_000)
    whole = VectorList(DIMENSION).adding(ids, vectors)
    less = whole.discarding(ids[: BLOCK_ROWS + 50])
    assert (len(less.blocks), less.discarded, len(less)) == (2, 50, BLOCK_ROWS + 950)
    query = some(1, seed=3)[1][0]
    assert names(less.nearest(query, len(ids))) == names(ids[BLOCK_ROWS + 50 :])
    assert len(less.discarding(ids).blocks) == 0


def test_nothing_and_vectors_that_are_all_zero() -> None:
    empty = VectorList(DIMENSION)
    query = some(1)[1][0]
    assert empty.nearest(query, 10).shape == (0, 16)
    ids, vectors = some(30)
    vectors[:10] = 0.0
    mixed = empty.adding(ids, vectors)
    assert len(mixed.nearest(query, 30)) == 30
    assert len(mixed.nearest(np.zeros(DIMENSION, dtype=np.float32), 5)) == 5
    assert mixed.nearest(query, 0).shape == (0, 16)
    assert len(mixed.adding(ids[:0], vectors[:0])) == 30
    assert mixed.discarding(ids).nearest(query, 5).shape == (0, 16)
