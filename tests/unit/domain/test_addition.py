"""What an addition may change."""

from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest

from rearview.domain.addition import MAX_ADDED_VECTORS, Addition, AskedIn, could_change, entity_hashes, noise_cosines
from rearview.domain.search_unit import UnitFlag

CHINESE, ENGLISH = int(UnitFlag.CHINESE), int(UnitFlag.ENGLISH)
ASKED = AskedIn(
    keywords=frozenset({1, 2}),
    entities=frozenset({7}),
    has_times=False,
    sessions=frozenset({"asking"}),
    vector=np.array([1.0, 0.0], dtype=np.float32),
    noise_cosines={CHINESE: 0.5},
)
FAR = Addition("other", frozenset({3}), frozenset({8}), np.array([[0.4, 0.9]], dtype=np.float32), (CHINESE,))


def test_what_is_below_everything_that_is_let_in_changes_nothing() -> None:
    assert not could_change([FAR], ASKED)
    assert not could_change([Addition("other", frozenset({3}))], replace(ASKED, noise_cosines={}, has_times=True))


@pytest.mark.parametrize(
    "addition",
    [
        replace(FAR, session_id="asking"),
        replace(FAR, keywords=frozenset({2, 3})),
        replace(FAR, entities=frozenset({7})),
        replace(FAR, vectors=np.array([[0.5, 0.9]], dtype=np.float32)),
        replace(FAR, languages=(ENGLISH,)),
        replace(FAR, languages=(CHINESE | ENGLISH,)),
        replace(FAR, languages=()),
        replace(FAR, vectors=np.zeros((1, 3), dtype=np.float32)),
    ],
)
def test_what_may_be_let_in_may_change_the_answer(addition: Addition) -> None:
    assert could_change([addition], ASKED)


@pytest.mark.parametrize("asked", [replace(ASKED, keywords=frozenset()), replace(ASKED, has_times=True)])
def test_a_query_that_finds_by_time_may_find_anything(asked: AskedIn) -> None:
    assert could_change([FAR], asked)


def test_turns_that_wait_for_indexing_may_be_in_any_answer_until_they_are_indexed() -> None:
    said = Addition("other", frozenset({3}), pending_to=4)
    assert could_change([said], ASKED)
    assert could_change([said, replace(FAR, indexed_to=3)], ASKED)
    assert could_change([said, replace(FAR, session_id="another", indexed_to=4)], ASKED)
    assert not could_change([said, replace(FAR, indexed_to=4)], ASKED)
    assert could_change([said, replace(FAR, indexed_to=4, keywords=frozenset({2}))], ASKED)


def test_noise_lies_below_the_pool_and_below_its_language() -> None:
    cosines = np.concatenate([0.5 + np.arange(20) / 100, 0.1 + np.arange(20) / 100, [np.nan]])
    flags = np.repeat([CHINESE, ENGLISH], [20, 21])
    noise = noise_cosines([(cosines, flags)])
    assert noise[ENGLISH] < 0.29 < noise[CHINESE] < 0.69
    assert noise_cosines([(cosines, flags), (cosines[:19], flags[:19])]) == {}
    assert ENGLISH not in noise_cosines([(cosines[:25], flags[:25])])


def test_what_is_too_large_does_not_fit() -> None:
    assert not Addition(vectors=np.zeros((MAX_ADDED_VECTORS + 1, 2), dtype=np.float32)).fits


def test_entities_are_hashed_by_namespace() -> None:
    assert entity_hashes(uuid4(), ["京都"]) != entity_hashes(uuid4(), ["京都"])
