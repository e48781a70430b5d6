import pytest

from rearview.domain.keyword_bag import MAX_TERMS, KeywordBag
from rearview.domain.unit_projection import KeywordStatistics, indexed_terms


def test_the_weight_of_a_bag_of_average_length_is_the_textbook_value() -> None:
    terms = indexed_terms(KeywordBag.of((7, 7, 9)), KeywordStatistics(units=10, keyword_total=30.0))
    assert terms[7] == pytest.approx(2 * 2.2 / (2 + 1.2))
    assert terms[9] == pytest.approx(1.0)


def test_in_an_empty_namespace_every_bag_is_of_average_length() -> None:
    bag = KeywordBag.of((1, 2, 3, 4))
    assert indexed_terms(bag, KeywordStatistics()) == indexed_terms(bag, KeywordStatistics(1, 4.0))
    assert indexed_terms(KeywordBag(), KeywordStatistics()) == {}


def test_rare_terms_are_kept_and_common_ones_go() -> None:
    bag = KeywordBag.of(tuple(range(1, MAX_TERMS + 3)))
    kept = indexed_terms(bag, KeywordStatistics(1_000, 50_000.0, {1: 900, 2: 900}))
    assert len(kept) == MAX_TERMS
    assert not kept.keys() & {1, 2}


def test_neighbours_weigh_less_than_own_terms() -> None:
    bag = KeywordBag.of((1,)).including((2,), 0.3)
    terms = indexed_terms(bag, KeywordStatistics(10, 13.0))
    assert terms[1] > terms[2] > 0
