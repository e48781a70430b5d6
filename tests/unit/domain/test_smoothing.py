"""Neighbour smoothing of turn vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.smoothing import NeighbourWeights, smooth, smooth_turn


def random_turns(count: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, 6)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def test_weights_land_on_the_right_neighbours() -> None:
    """With orthogonal turns each component of the middle row is its neighbour's weight."""
    middle = smooth(np.eye(7, dtype=np.float32))[3]
    expected = np.array([0.0, 0.4, 0.7, 1.0, 0.5, 0.3, 0.0], dtype=np.float32)
    np.testing.assert_allclose(middle, expected / np.linalg.norm(expected), atol=1e-6)


def test_ends_of_the_session_have_fewer_neighbours() -> None:
    rows = smooth(np.eye(3, dtype=np.float32))
    first, last = np.array([1.0, 0.5, 0.3]), np.array([0.4, 0.7, 1.0])
    np.testing.assert_allclose(rows[0], first / np.linalg.norm(first), atol=1e-6)
    np.testing.assert_allclose(rows[2], last / np.linalg.norm(last), atol=1e-6)


def test_a_lone_turn_is_itself() -> None:
    turn = random_turns(1, seed=1)
    np.testing.assert_allclose(smooth(turn), turn, atol=1e-6)


def test_no_turns_give_no_rows() -> None:
    assert smooth(np.empty((0, 6), dtype=np.float32)).shape == (0, 6)


@given(st.integers(1, 9), st.integers(0, 1000))
def test_one_turn_equals_its_row(count: int, seed: int) -> None:
    turns = random_turns(count, seed)
    rows = smooth(turns)
    for position in range(count):
        np.testing.assert_allclose(smooth_turn(turns, position), rows[position], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_smoothing_the_vector_is_smoothing_the_scores() -> None:
    turns, query = random_turns(5, seed=2), random_turns(1, seed=3)[0]
    scores = turns @ query
    weighted = 0.4 * scores[0] + 0.7 * scores[1] + 1.0 * scores[2] + 0.5 * scores[3] + 0.3 * scores[4]
    length = np.linalg.norm(np.array([0.4, 0.7, 1.0, 0.5, 0.3]) @ turns)
    assert smooth_turn(turns, 2) @ query == pytest.approx(weighted / length, abs=1e-5)


def test_own_weights_are_used() -> None:
    turns = random_turns(4, seed=4)
    alone = NeighbourWeights(two_before=0, before=0, itself=1, after=0, two_after=0)
    np.testing.assert_allclose(smooth(turns, alone), turns, atol=1e-6)


@pytest.mark.parametrize("bad", [{"itself": 0.0}, {"before": -0.1}, {"two_after": -1.0}])
def test_senseless_weights_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidModelInput):
        NeighbourWeights(**bad)


@pytest.mark.parametrize("position", [-1, 3])
def test_position_outside_the_session_is_refused(position: int) -> None:
    with pytest.raises(InvalidModelInput, match="outside"):
        smooth_turn(random_turns(3, seed=5), position)
