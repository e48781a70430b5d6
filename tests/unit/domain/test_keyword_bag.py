import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.keyword_bag import (
    MAX_TERMS,
    KeywordBag,
    bm25_weights,
    count_units,
    inverse_document_frequency,
    top_terms,
)


def test_bm25_weight_of_a_bag_of_average_length_is_the_textbook_value() -> None:
    bag = KeywordBag.of((7, 7, 9))
    weights = bm25_weights(bag, average_length=3.0)
    assert weights[7] == pytest.approx(2 * 2.2 / (2 + 1.2))
    assert weights[9] == pytest.approx(1.0)


def test_long_bags_weigh_less_and_an_empty_namespace_is_no_division_by_zero() -> None:
    bag = KeywordBag.of((1, 2, 3, 4))
    assert bm25_weights(bag, 1.0)[1] < bm25_weights(bag, 4.0)[1] < bm25_weights(bag, 40.0)[1]
    assert bm25_weights(bag, 0.0) == bm25_weights(bag, 4.0)
    assert bm25_weights(KeywordBag(), 0.0) == {}


def test_rare_terms_are_kept_and_common_ones_go() -> None:
    weights = dict.fromkeys(range(1, MAX_TERMS + 3), 1.0)
    kept = top_terms(weights, {1: 900, 2: 900}, units=1_000)
    assert len(kept) == MAX_TERMS
    assert not kept.keys() & {1, 2}


def test_idf_follows_its_formula_and_survives_counts_that_disagree() -> None:
    assert inverse_document_frequency(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert inverse_document_frequency(20, 10) == inverse_document_frequency(10, 10) > 0


@given(st.lists(st.lists(st.integers(1, 20), max_size=30).map(tuple), max_size=8))
def test_each_bag_counts_once_for_each_of_its_terms(texts: list[tuple[int, ...]]) -> None:
    counts = count_units(KeywordBag.of(text) for text in texts)
    assert counts == {term: sum(term in text for text in texts) for text in texts for term in text}
    assert list(counts) == sorted(counts)
