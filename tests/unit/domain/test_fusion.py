"""Fusion: named terms that add up, z-scores within the pool and within a language."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rearview.domain.fusion import (
    ANSWER_WEIGHT,
    DIALOGUE_VECTOR_WEIGHT,
    ENTITY_WEIGHT,
    FULL_SAMPLE,
    QUESTION_WEIGHT,
    ROLE_WEIGHT,
    SAID_WEIGHT,
    SPEAKER_WEIGHT,
    TIME_WEIGHT,
    TRANSLATION_FROM,
    TRANSLATION_WEIGHT,
    TRANSLATION_WHOLLY,
    WHEN_WEIGHT,
    Pool,
    QueryFeatures,
    fuse,
    is_user_chat,
    widened,
)
from rearview.domain.search_unit import FULL_LENGTH, UnitFlag, said_flags, said_shares
from rearview.domain.text import TimeRange

ZH, EN = int(UnitFlag.CHINESE), int(UnitFlag.ENGLISH)
DAY = datetime(2024, 3, 10, tzinfo=UTC)


def pool(
    keyword: list[float],
    vector: list[float],
    *,
    flags: list[int] | None = None,
    speaker: list[int] | None = None,
    occurred_at: list[datetime] | None = None,
    user: list[bool] | None = None,
    entities: list[float] | None = None,
    translation: list[float] | None = None,
) -> Pool:
    count = len(keyword)
    return Pool(
        keyword=np.array(keyword, dtype=np.float64),
        vector=np.array(vector, dtype=np.float64),
        translation=np.array(translation or [0.0] * count, dtype=np.float64),
        flags=np.array(flags or [EN] * count, dtype=np.int64),
        speaker=np.array(speaker or [0] * count, dtype=np.int64),
        occurred_at=np.array([moment.timestamp() for moment in occurred_at or [DAY] * count], dtype=np.float64),
        voiced_by_user=np.array(user or [False] * count, dtype=np.bool_),
        entity_share=np.array(entities or [0.0] * count, dtype=np.float64),
    )


scores = hnp.arrays(np.float64, st.shared(st.integers(1, 40), key="n"), elements=st.floats(0, 60))
cosines = hnp.arrays(
    np.float64,
    st.shared(st.integers(1, 40), key="n"),
    elements=st.one_of(st.floats(-1, 1), st.just(float("nan"))),
)


@given(keyword=scores, vector=cosines, both=st.booleans(), seed=st.integers(0, 2**16))
def test_terms_add_up_and_are_finite(keyword: np.ndarray, vector: np.ndarray, both: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    count = len(keyword)
    fused = fuse(
        pool(
            keyword.tolist(),
            vector.tolist(),
            flags=random.integers(0, 1024, count).tolist(),
            speaker=random.integers(0, 3, count).tolist(),
            user=(random.random(count) < 0.5).tolist(),
            entities=random.random(count).tolist(),
        ),
        QueryFeatures(speakers=(1,), asks_when=True, both_languages=both, role_matters=True, is_dialogue=both),
    )
    assert set(fused.terms) == {
        "keyword",
        "translation",
        "vector",
        "speaker",
        "time",
        "when",
        "role",
        "entity",
        "question",
        "answer",
        "said",
    }
    assert np.isfinite(fused.total).all()
    np.testing.assert_allclose(fused.total, sum(fused.terms.values()), atol=1e-9)


@given(keyword=scores, at=st.data())
def test_a_higher_keyword_score_never_costs_a_unit_its_rank(keyword: np.ndarray, at: st.DataObject) -> None:
    place = at.draw(st.integers(0, len(keyword) - 1))
    raised = keyword.copy()
    raised[place] += 5.0
    vector = [0.5] * len(keyword)
    before = fuse(pool(keyword.tolist(), vector), QueryFeatures()).total
    after = fuse(pool(raised.tolist(), vector), QueryFeatures()).total
    others = np.arange(len(keyword)) != place
    assert (after[place] >= after[others]).sum() >= (before[place] >= before[others]).sum()


def test_each_feature_adds_its_weight() -> None:
    fused = fuse(
        pool(
            [1.0, 1.0],
            [0.2, 0.2],
            speaker=[7, 8],
            flags=[EN | int(UnitFlag.RESOLVABLE_TIME), EN],
            user=[True, False],
            occurred_at=[DAY, DAY - timedelta(days=90)],
            entities=[1.0, 0.5],
        ),
        QueryFeatures(
            speakers=(7,), time_ranges=(TimeRange(DAY, DAY + timedelta(days=1)),), asks_when=True, role_matters=True
        ),
    )
    terms = {name: values.tolist() for name, values in fused.terms.items()}
    assert terms["speaker"] == [SPEAKER_WEIGHT, 0.0]
    assert terms["time"] == [TIME_WEIGHT, 0.0]
    assert terms["when"] == [WHEN_WEIGHT, 0.0]
    assert terms["role"] == [ROLE_WEIGHT, 0.0]
    assert terms["entity"] == [ENTITY_WEIGHT, ENTITY_WEIGHT / 2]
    assert terms["keyword"][0] == terms["keyword"][1]
    assert terms["vector"][0] == terms["vector"][1]


def test_two_named_speakers_prefer_neither() -> None:
    fused = fuse(pool([1.0, 2.0], [0.1, 0.2], speaker=[7, 8]), QueryFeatures(speakers=(7, 8)))
    assert fused.terms["speaker"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("days", "near"), [(-4, False), (-2, True), (0, True), (10, True), (12, False)])
def test_what_happened_may_be_told_a_little_before_and_long_after(days: int, near: bool) -> None:
    fused = fuse(
        pool([1.0], [0.1], occurred_at=[DAY + timedelta(days=days, hours=1)]),
        QueryFeatures(time_ranges=(TimeRange(DAY, DAY + timedelta(days=1)),)),
    )
    assert bool(fused.terms["time"][0] > 0) is near


def test_ranges_at_the_edges_of_the_calendar_are_widened_without_overflow() -> None:
    first = TimeRange(datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC))
    last = TimeRange(datetime(9999, 12, 30, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
    assert widened(first).start == first.start
    assert widened(last).end > last.end


def test_within_its_language_the_best_of_the_other_language_stands_out() -> None:
    # A multilingual model rates every Chinese text above the English answer to a Chinese question.
    chinese, english = [0.50, 0.52, 0.54, 0.56, 0.58, 0.60], [0.10, 0.12, 0.11, 0.13, 0.12, 0.40]
    vector = chinese + english
    flags = [ZH] * 6 + [EN] * 6
    plain = fuse(pool([0.0] * 12, vector, flags=flags), QueryFeatures()).total
    corrected = fuse(pool([0.0] * 12, vector, flags=flags), QueryFeatures(both_languages=True)).total
    assert plain.argmax() != 11
    assert corrected.argmax() == 11


def test_mixed_text_takes_the_mean_of_both_languages() -> None:
    chinese, english = np.linspace(0.1, 0.5, FULL_SAMPLE), np.linspace(0.5, 0.9, FULL_SAMPLE)
    vector = [*chinese.tolist(), *english.tolist(), 0.55]
    flags = [ZH] * FULL_SAMPLE + [EN] * FULL_SAMPLE + [ZH | EN]
    fused = fuse(pool([0.0] * len(vector), vector, flags=flags), QueryFeatures(both_languages=True))
    zh, en = np.append(chinese, 0.55), np.append(english, 0.55)
    expected = ((0.55 - zh.mean()) / zh.std() + (0.55 - en.mean()) / en.std()) / 2
    assert fused.terms["vector"][-1] == pytest.approx(expected)


def test_in_a_small_pool_the_answer_is_far_above_the_rest_and_noise_is_not() -> None:
    answered = fuse(pool([6.0, 0.0, 0.0], [0.62, 0.21, 0.15]), QueryFeatures()).total
    noise = fuse(pool([0.0, 0.0, 0.0], [0.22, 0.21, 0.15]), QueryFeatures()).total
    assert answered[0] > 7.0
    assert answered[1:].max() < 1.0
    assert noise.max() < 2.0


def test_a_turn_without_vector_is_judged_by_its_words() -> None:
    fused = fuse(pool([9.0, 1.0, 0.0, 0.0], [float("nan"), 0.4, 0.1, 0.0]), QueryFeatures())
    assert fused.total.argmax() == 0
    assert fused.terms["vector"][0] == pytest.approx(fused.terms["keyword"][0] / 2)


def test_no_vectors_at_all() -> None:
    fused = fuse(pool([3.0, 1.0], [float("nan")] * 2), QueryFeatures())
    assert np.isfinite(fused.total).all()
    assert fused.total[0] > fused.total[1]


def test_user_chats_are_told_from_talks_among_people() -> None:
    assert is_user_chat(pool([1.0, 1.0], [0.1, 0.1], user=[True, False]))
    assert is_user_chat(pool([1.0, 1.0], [0.1, 0.1], user=[True, False], speaker=[5, 0]))
    assert not is_user_chat(pool([1.0, 1.0], [0.1, 0.1], user=[True, False], speaker=[5, 6]))
    assert not is_user_chat(pool([1.0], [0.1], user=[True]))
    assert not is_user_chat(pool([], []))


def test_what_a_turn_is_counts_beside_what_it_says() -> None:
    flags = [EN, EN | int(UnitFlag.QUESTION), EN | int(UnitFlag.ANSWER), EN | int(said_flags(FULL_LENGTH))]
    total = fuse(pool([1.0] * 4, [0.5] * 4, flags=flags), QueryFeatures()).total
    np.testing.assert_allclose(total - total[0], [0.0, QUESTION_WEIGHT, ANSWER_WEIGHT, SAID_WEIGHT])


def test_the_share_said_stands_beside_the_other_flags_and_stops_at_full_length() -> None:
    counts = [0, 1, FULL_LENGTH // 2, FULL_LENGTH, 50 * FULL_LENGTH]
    flags = np.array([int(UnitFlag.QUESTION | UnitFlag.CHINESE | said_flags(count)) for count in counts])
    np.testing.assert_allclose(said_shares(flags), [0.0, 0.0, 0.5, 1.0, 1.0])
    assert (flags < 2**15).all()
    assert all(UnitFlag(int(value)) & UnitFlag.QUESTION for value in flags)


def test_a_dialogue_trusts_its_vector_more_and_its_z_stays_as_it_is() -> None:
    candidates = pool([3.0, 2.0, 1.0], [0.2, 0.4, 0.6])
    plain, dialogue = (fuse(candidates, QueryFeatures(is_dialogue=value)) for value in (False, True))
    np.testing.assert_allclose(dialogue.terms["vector"], DIALOGUE_VECTOR_WEIGHT * plain.terms["vector"])
    np.testing.assert_allclose(dialogue.vector_z, plain.vector_z)


def test_the_other_language_gains_most_where_no_text_of_the_querys_own_matches_its_words() -> None:
    """An exact code in the query's own language is never preceded by what is merely alike in the other one."""
    own, other, rest = 40, 40, [-0.02, 0.02]
    flags = [ZH] * own + [EN] * other
    vector = [0.3, *(rest * own)[: own - 1], 0.2, *(rest * other)[: other - 1]]

    def first(best_keyword: float) -> tuple[int, float]:
        keyword = [best_keyword, *[0.0] * (own + other - 1)]
        features = QueryFeatures(languages=UnitFlag.CHINESE, both_languages=True, keyword_mass=10.0)
        fused = fuse(pool(keyword, vector, flags=flags), features)
        return int(np.argmax(fused.total)), float(fused.terms["keyword"][own] / fused.vector_z[own])

    assert first(8.0)[0] == 0
    assert first(8.0)[1] == pytest.approx(1.5)
    assert first(6.0)[1] == pytest.approx(2.25)
    assert first(2.0)[1] == pytest.approx(3.0)
    assert first(0.0)[1] == pytest.approx(3.0)
    unknown = fuse(
        pool([1.0, *[0.0] * (own + other - 1)], vector, flags=flags),
        QueryFeatures(languages=UnitFlag.CHINESE, both_languages=True),
    )
    assert unknown.terms["keyword"][own] == pytest.approx(1.5 * unknown.vector_z[own])


def test_the_answer_in_the_other_language_beats_what_only_shares_words() -> None:
    """A Chinese question; one of thirty Chinese texts shares many of its words, an English one means the same."""
    keyword = [18.0] + [2.0] * 29 + [0.5] * 30
    vector = [0.30] + [0.20, 0.10] * 14 + [0.15] + [0.45] + [0.05, 0.15] * 14 + [0.10]
    query = QueryFeatures(languages=UnitFlag.CHINESE, both_languages=True)
    total = fuse(pool(keyword, vector, flags=[ZH] * 30 + [EN] * 30), query).total
    assert int(np.argmax(total)) == 30


def test_a_text_of_the_other_language_gains_by_what_it_says_of_the_translated_words() -> None:
    """Of forty English texts two are as near to a Chinese question, and one of them says its words."""
    flags = [ZH] * 40 + [EN] * 40
    vector = [-0.02, 0.02] * 20 + [0.4, 0.4] + [-0.02, 0.02] * 19
    said = [0.0] * 40 + [10.0 * TRANSLATION_WHOLLY, 10.0 * TRANSLATION_FROM, 10.0] + [0.0] * 37
    query = QueryFeatures(languages=UnitFlag.CHINESE, both_languages=True, translation_mass=10.0)
    gained = fuse(pool([0.0] * 80, vector, flags=flags, translation=said), query).terms["translation"]
    assert gained[40] == pytest.approx(TRANSLATION_WEIGHT)
    assert not np.delete(gained, 40).any()  # nor what says them all and has another meaning


def test_nothing_is_gained_where_there_is_one_language_or_no_translated_word() -> None:
    vector = [0.4] + [-0.02, 0.02] * 20
    for query in (
        QueryFeatures(languages=UnitFlag.CHINESE, translation_mass=1.0),
        QueryFeatures(languages=UnitFlag.CHINESE, both_languages=True),
    ):
        assert not fuse(pool([0.0] * 41, vector, translation=[1.0] * 41), query).terms["translation"].any()
