"""A generation's identity and its centring."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.generation import EmbeddingGeneration, ModelCard, Prompts, Thresholds
from rearview.domain.text import Language

THRESHOLDS = Thresholds(redundant_cosine=0.7, duplicate_cosine=0.9, segment_boundary_cosine=0.2, cache_cosine=0.8)


def card_with_mean(mean: NDArray[np.float32]) -> ModelCard:
    return ModelCard(
        model_name="small",
        revision="sha256:1",
        dimension=mean.shape[0],
        prompts=Prompts(query="query: ", passage="passage: "),
        mean_passage=mean,
        thresholds=THRESHOLDS,
    )


CARD = card_with_mean(np.array([0.5, 0.0, 0.25], dtype=np.float32))


def test_id_is_stable_across_processes() -> None:
    """The id is stored beside vectors, so it must never change for the same card."""
    assert EmbeddingGeneration(CARD).generation_id == "48aa4b8f99c66f9a"


@pytest.mark.parametrize(
    "changed",
    [
        replace(CARD, model_name="large"),
        replace(CARD, revision="sha256:2"),
        replace(CARD, prompts=Prompts(query="question: ", passage="passage: ")),
        replace(CARD, prompts=Prompts(query="query: ", passage="")),
        replace(CARD, prompts=Prompts(query="query: passage: ", passage="")),
        replace(CARD, mean_passage=np.array([0.5, 0.0, 0.26], dtype=np.float32)),
        replace(CARD, precision_family="binary"),
        card_with_mean(np.zeros(4, dtype=np.float32)),
    ],
)
def test_id_changes_with_anything_that_moves_a_vector(changed: ModelCard) -> None:
    assert EmbeddingGeneration(changed) != EmbeddingGeneration(CARD)


def test_recalibrated_thresholds_keep_the_id() -> None:
    recalibrated = replace(CARD, thresholds=replace(THRESHOLDS, redundant_cosine=0.71))
    assert EmbeddingGeneration(recalibrated) == EmbeddingGeneration(CARD)


def test_centre_subtracts_the_mean_and_normalises() -> None:
    centred = EmbeddingGeneration(CARD).centre(np.array([[0.5, 2.0, 0.25], [1.0, 0.0, 0.25]], dtype=np.float32))
    assert centred.dtype == np.float32
    np.testing.assert_allclose(centred, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], atol=1e-6)


def test_centre_one_is_the_row_of_centre() -> None:
    vector = np.array([0.1, 0.9, -0.3], dtype=np.float32)
    generation = EmbeddingGeneration(CARD)
    np.testing.assert_array_equal(generation.centre_one(vector), generation.centre(vector[np.newaxis])[0])


def test_centre_of_nothing_is_nothing() -> None:
    assert EmbeddingGeneration(CARD).centre(np.empty((0, 3), dtype=np.float32)).shape == (0, 3)


@given(st.lists(st.tuples(*[st.floats(-1, 1, width=32)] * 3), min_size=1, max_size=8))
def test_centred_rows_have_length_one(rows: list[tuple[float, float, float]]) -> None:
    vectors = np.array(rows, dtype=np.float32)
    distances = np.linalg.norm(vectors - CARD.mean_passage, axis=1)
    if (distances > 1e-3).all():
        centred = EmbeddingGeneration(CARD).centre(vectors)
        np.testing.assert_allclose(np.linalg.norm(centred, axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        (np.zeros((2, 4), dtype=np.float32), "expected shape"),
        (np.zeros(3, dtype=np.float32), "expected shape"),
        (np.array([[0.5, 0.0, 0.25]], dtype=np.float32), "no direction"),
        (np.array([[np.nan, 0.0, 0.25]], dtype=np.float32), "no direction"),
        (np.array([[np.inf, 0.0, 0.25]], dtype=np.float32), "no direction"),
    ],
)
def test_centre_refuses_what_has_no_answer(vectors: NDArray[np.float32], reason: str) -> None:
    with pytest.raises(InvalidModelInput, match=reason):
        EmbeddingGeneration(CARD).centre(vectors)


def test_card_keeps_its_own_read_only_mean() -> None:
    mean = np.array([0.5, 0.0, 0.25], dtype=np.float32)
    card = card_with_mean(mean)
    mean[0] = 9.0
    assert card.mean_passage[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        card.mean_passage[0] = 1.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model_name", ""),
        ("revision", ""),
        ("normalisation", "none"),
        ("mean_passage", np.zeros(2, dtype=np.float32)),
        ("mean_passage", np.full(3, np.nan, dtype=np.float32)),
    ],
)
def test_card_names_the_bad_field(field: str, value: object) -> None:
    with pytest.raises(InvalidModelInput) as refused:
        replace(CARD, **{field: value})  # type: ignore[arg-type]  # any field, on purpose
    assert refused.value.field == field


def test_threshold_outside_cosine_range_is_refused() -> None:
    with pytest.raises(InvalidModelInput, match="cache_cosine"):
        replace(THRESHOLDS, cache_cosine=1.2)


def test_uncalibrated_card_lets_nothing_pass() -> None:
    card = ModelCard.uncalibrated("new", "r1", 3, Prompts("", ""))
    assert card.thresholds.redundant_cosine == 1.0
    assert card.thresholds.segment_boundary_cosine == -1.0
    assert not card.mean_passage.any()


def test_corrected_vectors_lose_what_their_language_adds() -> None:
    means = np.array([[0.6, 0.0, 0.0], [-0.6, 0.0, 0.0]], dtype=np.float32)
    generation = EmbeddingGeneration(replace(CARD, language_means=means))
    plain = np.array([[0.6, 0.8, 0.0], [-0.6, 0.8, 0.0]], dtype=np.float32)
    both = [frozenset({Language.ZH}), frozenset({Language.EN})]
    np.testing.assert_allclose(generation.corrected(plain, both), [[0, 1, 0], [0, 1, 0]], atol=1e-6)
    mixed = [frozenset({Language.ZH, Language.EN}), frozenset()]
    np.testing.assert_allclose(generation.corrected(plain, mixed), plain, atol=1e-6)
    np.testing.assert_array_equal(EmbeddingGeneration(CARD).corrected(plain, both), plain)
    assert generation == EmbeddingGeneration(CARD)  # stored vectors stay valid


def test_language_means_must_fit_the_dimension() -> None:
    with pytest.raises(InvalidModelInput, match="language_means"):
        replace(CARD, language_means=np.zeros((2, 5), dtype=np.float32))
