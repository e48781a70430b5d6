"""Windows grown turn by turn equal windows computed at once."""

from uuid import UUID

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rearview.domain import keyword_bag
from rearview.domain.context_window import KEPT, OpenWindows, WindowedTurn, alone
from rearview.domain.generation import normalise_rows
from rearview.domain.smoothing import smooth

MEMORY = UUID(int=1)
KEYWORDS = st.lists(st.integers(1, 30), max_size=90).map(tuple)


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    return normalise_rows(np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32))


def grown(plain: NDArray[np.float32], keywords: list[tuple[int, ...]]) -> list[WindowedTurn]:
    windows = OpenWindows()
    finished: list[WindowedTurn] = []
    for at, own in enumerate(keywords):
        windows, done = windows.extended(alone(UUID(int=at + 2), MEMORY, at + 1, plain[at], own))
        finished.extend(done)
        assert len(windows.turns) <= KEPT
    return [*finished, *windows.closed()]


def bag_at_once(keywords: list[tuple[int, ...]], at: int) -> tuple[dict[int, float], int]:
    """The definition, spelled out: own terms, then the neighbours in order, while there is room."""
    weights: dict[int, float] = {}
    count = 0
    for offset, weight in ((0, 1.0), (-1, 0.6), (-2, 0.3), (1, 0.3), (2, 0.2)):
        if not 0 <= at + offset < len(keywords):
            continue
        for term in keywords[at + offset]:
            if count >= 150 and offset != 0:
                break
            weights[term] = weights.get(term, 0.0) + weight
            count += 1
    return weights, count


@given(st.lists(KEYWORDS, min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_windows_grown_one_by_one_equal_windows_computed_at_once(keywords: list[tuple[int, ...]], seed: int) -> None:
    plain = vectors(len(keywords), seed)
    turns = grown(plain, keywords)

    assert [turn.sequence for turn in turns] == list(range(1, len(keywords) + 1))
    np.testing.assert_allclose(np.stack([turn.vector for turn in turns]), smooth(plain), atol=1e-5)
    for at, turn in enumerate(turns):
        weights, count = bag_at_once(keywords, at)
        assert turn.bag.token_count == count
        assert turn.bag.weights.keys() == weights.keys()
        np.testing.assert_allclose([turn.bag.weights[term] for term in weights], list(weights.values()), atol=1e-9)


@given(st.lists(KEYWORDS, min_size=1, max_size=12), st.integers(0, 11))
def test_a_window_stored_and_read_back_grows_alike(keywords: list[tuple[int, ...]], cut: int) -> None:
    """Only the turns in `OpenWindows` are needed to go on: a restart between any two turns changes nothing."""
    plain = vectors(len(keywords), 7)
    windows = OpenWindows()
    finished: list[WindowedTurn] = []
    for at, own in enumerate(keywords):
        if at == cut:
            windows = OpenWindows(tuple(windows.turns))
        windows, done = windows.extended(alone(UUID(int=at + 2), MEMORY, at + 1, plain[at], own))
        finished.extend(done)
    turns = [*finished, *windows.closed()]
    for one, other in zip(turns, grown(plain, keywords), strict=True):
        np.testing.assert_array_equal(one.vector, other.vector)
        assert one.bag == other.bag


def test_neighbours_that_cancel_a_turn_leave_it_its_own_vector() -> None:
    plain = np.array([[1.0, 0.0]], dtype=np.float32)
    turn = alone(UUID(int=2), MEMORY, 1, plain[0], ())
    cancelled = turn.with_neighbour(alone(UUID(int=3), MEMORY, 2, -plain[0], ()), 1.0, 0.3)
    np.testing.assert_array_equal(cancelled.vector, plain[0])


def test_a_turn_has_one_window_and_no_more_than_its_cap() -> None:
    turn = alone(UUID(int=2), MEMORY, 1, np.ones(2, dtype=np.float32), tuple(range(1, 3_000)))
    assert turn.bag.token_count == keyword_bag.MAX_OWN_TOKENS
    assert turn.bag.including((5_000,), 0.3) is turn.bag
