"""BM25 as the index and the database compute it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.bm25 import MAX_QUERY_TERMS, inverse_document_frequency, query_terms, score, term_weight


@given(units=st.integers(0, 10**7), holding=st.integers(0, 10**8))
def test_idf_is_positive_and_falls_with_frequency(units: int, holding: int) -> None:
    assert inverse_document_frequency(units, holding) > 0
    assert inverse_document_frequency(units, holding) >= inverse_document_frequency(units, holding + 1)


def test_idf_by_hand() -> None:
    assert inverse_document_frequency(100, 3) == pytest.approx(math.log(1 + 97.5 / 3.5))


@given(tf=st.floats(0.1, 50), length=st.floats(1, 1_000), average=st.one_of(st.just(0.0), st.floats(1, 500)))
def test_weights_are_bounded_and_grow_with_the_term(tf: float, length: float, average: float) -> None:
    assert 0 < term_weight(tf, length, average) < 2.2
    assert term_weight(tf, length, average) < term_weight(tf * 2, length, average)


def test_weight_by_hand() -> None:
    assert term_weight(2.0, 30.0, 20.0) == pytest.approx(2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 1.5)))
    assert term_weight(0.0, 30.0, 20.0) == 0.0


def test_query_terms_count_and_are_bounded() -> None:
    assert query_terms([(5, 1.0), (6, 1.0), (5, 0.5)]) == {5: 1.5, 6: 1.0}
    assert len(query_terms((term, 1.0) for term in range(10_000))) == MAX_QUERY_TERMS


def test_a_document_scores_by_what_it_shares() -> None:
    terms, frequencies = {1: 1.0, 2: 1.0}, {1: 1, 2: 50}
    rare = score(terms, frequencies, 100, [1, 9, 9], 3.0)
    common = score(terms, frequencies, 100, [2, 9, 9], 3.0)
    both = score(terms, frequencies, 100, [1, 2, 9], 3.0)
    assert score(terms, frequencies, 100, [8, 9], 3.0) == 0.0
    assert both > rare > common > 0.0
