"""Vectors as they are stored."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rearview.domain.stored_vector import coded, decoded, stored_vector

DIMENSION = 384


def unit_vectors(count: int, spread: float = 1.0) -> NDArray[np.float32]:
    random = np.random.default_rng(11)
    drawn = random.standard_normal((count, DIMENSION)) * np.exp(spread * random.standard_normal((count, DIMENSION)))
    vectors: NDArray[np.float32] = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return vectors


@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
def test_codes_and_a_scale_hold_every_bit_of_a_stored_vector(spread: float) -> None:
    for vector in unit_vectors(300, spread):
        stored = stored_vector(vector)
        again = decoded(*coded(stored[None, :]))[0]
        assert again.tobytes() == stored.tobytes()
        assert stored_vector(stored.astype(np.float32)).tobytes() == stored.tobytes()


def test_a_stored_vector_is_next_to_the_one_it_stands_for() -> None:
    vectors = unit_vectors(300, 0.0)
    stored = np.stack([stored_vector(vector) for vector in vectors]).astype(np.float32)
    cosines = (vectors * stored).sum(axis=1) / np.linalg.norm(stored, axis=1)
    assert cosines.min() > 0.9999
    others = vectors[1:] @ vectors[:-1].T
    assert np.abs(stored[1:] @ stored[:-1].T - others).max() < 0.004


def test_a_vector_of_zeros_is_stored_as_it_is() -> None:
    assert not stored_vector(np.zeros(DIMENSION, dtype=np.float32)).any()
