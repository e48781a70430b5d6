"""Importance keeps what says something and lets small talk go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.importance import (
    DROP_BELOW,
    TASK_FACTOR,
    TurnSignals,
    density,
    importance,
    is_droppable,
    reference_counts,
)

signals = st.builds(
    TurnSignals,
    length=st.integers(0, 5000),
    small_talk=st.booleans(),
    acknowledgement=st.booleans(),
    number_count=st.integers(0, 20),
    name_count=st.integers(0, 20),
    preference_count=st.integers(0, 20),
    fact_count=st.integers(0, 5),
    explicit_remember=st.booleans(),
    decision=st.booleans(),
    constraint=st.booleans(),
    task_keyword=st.booleans(),
    forced_kind=st.booleans(),
)


def test_small_talk_is_dropped_even_with_a_task_word() -> None:
    assert is_droppable(TurnSignals(length=4, acknowledgement=True, task_keyword=True))
    assert is_droppable(TurnSignals(length=30, small_talk=True))
    assert is_droppable(TurnSignals())


@pytest.mark.parametrize("age_turns", [0, 5, 20])
def test_the_shortest_content_is_kept_within_a_segment(age_turns: int) -> None:
    assert not is_droppable(TurnSignals(length=1), age_turns)


@pytest.mark.parametrize(
    "kept",
    [
        TurnSignals(length=6, fact_count=1),
        TurnSignals(length=6, small_talk=True, explicit_remember=True),
        TurnSignals(length=6, acknowledgement=True, decision=True),
        TurnSignals(length=6, small_talk=True, constraint=True),
        TurnSignals(forced_kind=True),
    ],
)
def test_facts_and_forced_turns_never_fall_below(kept: TurnSignals) -> None:
    assert importance(kept, age_turns=10_000) >= DROP_BELOW


def test_the_formula() -> None:
    plain, task = TurnSignals(length=100), TurnSignals(length=100, task_keyword=True)
    assert importance(plain, 10) == pytest.approx(density(plain) / 4)
    assert importance(task, 10) == pytest.approx(TASK_FACTOR * importance(plain, 10))


def test_density_counts_content_before_length() -> None:
    dense = TurnSignals(length=20, number_count=2, name_count=1, fact_count=1)
    assert density(dense) > density(TurnSignals(length=400))


def test_negative_age_is_refused() -> None:
    with pytest.raises(ValueError, match="age_turns"):
        importance(TurnSignals(length=5), -1)


@given(signals, st.integers(0, 1000))
def test_importance_is_bounded_and_never_grows_with_age(turn: TurnSignals, age_turns: int) -> None:
    now, later = importance(turn, age_turns), importance(turn, age_turns + 1)
    assert 0 < later <= now <= TASK_FACTOR


def test_what_is_named_again_and_again_weighs_more_and_small_talk_never_enough() -> None:
    assert reference_counts([["redis"], ["redis", "杭州"], [], ["杭州"], ["redis"]]) == [2, 2, 0, 1, 2]
    assert importance(TurnSignals(length=40, reference_count=2)) == pytest.approx(
        1.2 * importance(TurnSignals(length=40))
    )
    assert importance(TurnSignals(length=40, reference_count=50)) == pytest.approx(
        1.5 * importance(TurnSignals(length=40))
    )
    assert importance(TurnSignals(length=9, small_talk=True, task_keyword=True, reference_count=50)) < DROP_BELOW
