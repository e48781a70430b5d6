"""The memory score and relevance: bounds, monotony, profiles."""

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import InvalidFields
from rearview.domain.relevance import Floor, blend, logistic, logit_terms, relevance
from rearview.domain.scoring import (
    ACCESS_CAP,
    ASSISTANT,
    HIGH_PRIORITY,
    PROFILES,
    SUPPORT,
    TASK,
    Profile,
    Standing,
    memory_score,
    profile_named,
)

unit = st.floats(0, 1)
ages = st.timedeltas(timedelta(0), timedelta(days=4_000))
profiles = st.sampled_from(list(PROFILES.values()))
standings = st.builds(
    Standing, age=ages, access_count=st.integers(0, 10_000), intensity=unit, pinned=st.booleans(), priority=unit
)


@given(relevant=unit, standing=standings, profile=profiles)
def test_a_score_lies_in_bounds_and_is_the_sum_of_its_parts(
    relevant: float, standing: Standing, profile: Profile
) -> None:
    score = memory_score(relevant, standing, profile)
    for part in (score.total, score.relevance, score.recency, score.frequency, score.emotion):
        assert 0.0 <= part <= 1.0
    assert score.total == pytest.approx(
        profile.relevance * score.relevance
        + profile.recency * score.recency
        + profile.frequency * score.frequency
        + profile.emotion * score.emotion
    )


@given(first=unit, second=unit, standing=standings, profile=profiles)
def test_more_relevant_never_scores_less(first: float, second: float, standing: Standing, profile: Profile) -> None:
    low, high = sorted((first, second))
    assert memory_score(low, standing, profile).total <= memory_score(high, standing, profile).total


@given(first=ages, second=ages, profile=profiles)
def test_older_never_scores_more(first: timedelta, second: timedelta, profile: Profile) -> None:
    young, old = sorted((first, second))
    assert memory_score(0.5, Standing(old), profile).total <= memory_score(0.5, Standing(young), profile).total


def test_after_a_half_life_recency_is_half() -> None:
    assert memory_score(0.0, Standing(timedelta(days=60))).recency == pytest.approx(0.5)
    assert memory_score(0.0, Standing(timedelta(days=7)), SUPPORT).recency == pytest.approx(0.5)
    assert memory_score(0.0, Standing(timedelta(minutes=30)), TASK).recency == pytest.approx(0.5)


def test_frequency_is_logarithmic_and_capped() -> None:
    assert memory_score(0.0, Standing(timedelta(0), access_count=0)).frequency == 0.0
    assert memory_score(0.0, Standing(timedelta(0), access_count=ACCESS_CAP)).frequency == pytest.approx(1.0)
    assert memory_score(0.0, Standing(timedelta(0), access_count=10**9)).frequency == 1.0
    assert memory_score(0.0, Standing(timedelta(0), access_count=9)).frequency == pytest.approx(
        math.log(10) / math.log(101)
    )


def test_pinned_and_high_priority_memories_do_not_decay() -> None:
    ancient = timedelta(days=5_000)
    assert memory_score(0.0, Standing(ancient)).recency < 1e-6
    assert memory_score(0.0, Standing(ancient, pinned=True)).recency == 1.0
    assert memory_score(0.0, Standing(ancient, priority=HIGH_PRIORITY)).recency == 1.0


def test_a_clock_ahead_is_no_bonus() -> None:
    assert memory_score(0.0, Standing(timedelta(days=-3))).recency == 1.0


def test_profiles_have_the_documented_numbers() -> None:
    assert (ASSISTANT.relevance, ASSISTANT.recency, ASSISTANT.frequency, ASSISTANT.emotion) == (0.975, 0.01, 0.0075, 0.0075)
    assert (SUPPORT.relevance, SUPPORT.recency, SUPPORT.frequency, SUPPORT.emotion) == (0.80, 0.12, 0.05, 0.03)
    assert (TASK.relevance, TASK.recency) == (0.70, 0.30)
    assert PROFILES["long_task"].half_life == timedelta(hours=4)
    assert profile_named("") is ASSISTANT
    with pytest.raises(InvalidFields, match="profile"):
        profile_named("no-such")
    with pytest.raises(ValueError, match="add up to 1"):
        Profile("own", 0.9, 0.4, 0.0, 0.0, timedelta(days=1))


@given(first=st.floats(-400, 400), second=st.floats(-400, 400))
def test_relevance_is_bounded_and_grows(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0.0 <= relevance(low) <= relevance(high) <= 1.0


@given(values=st.lists(st.floats(-20, 20), min_size=1, max_size=7))
def test_the_terms_of_the_logit_add_up_to_relevance(values: list[float]) -> None:
    terms = {f"term{at}": value for at, value in enumerate(values)}
    assert logistic(sum(logit_terms(terms).values())) == pytest.approx(relevance(sum(values)))


@given(features=unit, reranked=unit, weight=unit)
def test_a_blend_lies_between(features: float, reranked: float, weight: float) -> None:
    low, high = sorted((features, reranked))
    assert low - 1e-9 <= blend(features, reranked, weight) <= high + 1e-9


def test_the_floor_keeps_what_anything_speaks_for() -> None:
    floor = Floor(relevance=0.1, vector_z=1.0)
    assert floor.admits(relevance=0.5, keyword_score=1.0, vector_z=-0.3)
    assert floor.admits(relevance=0.5, keyword_score=0.0, vector_z=1.5)
    assert floor.admits(relevance=0.5, keyword_score=0.0, vector_z=-1.0, rerank_score=0.9)
    assert floor.admits(relevance=0.5, asked_for=True)
    assert not floor.admits(relevance=0.5, keyword_score=0.0, vector_z=0.9, rerank_score=0.2)
    assert not floor.admits(relevance=0.05, keyword_score=9.0, vector_z=9.0, asked_for=True)
