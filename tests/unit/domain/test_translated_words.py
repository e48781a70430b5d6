"""How much of a query's translated words a namespace knows and a text says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.bm25 import inverse_document_frequency
from rearview.domain.translated_words import LEAST_KNOWN, TranslatedWords

words = st.lists(st.tuples(st.floats(0.1, 2), st.frozensets(st.integers(1, 99), min_size=1, max_size=9)), max_size=30)


def test_the_more_may_stand_for_a_word_the_less_each_weighs() -> None:
    asked = TranslatedWords(((1.0, frozenset({1, 2, 3, 4})), (0.5, frozenset({4}))))
    assert asked.terms == {1: 0.5, 2: 0.5, 3: 0.5, 4: 1.0}


def test_words_that_a_namespace_does_not_know_count_little() -> None:
    idf = inverse_document_frequency(100, 5)
    known, unknown = frozenset({1}), frozenset({2})
    frequencies = {1: 5}
    assert TranslatedWords(((1.0, known),)).mass(frequencies, 100) == pytest.approx(idf)
    assert TranslatedWords(((1.0, known), (1.0, unknown))).mass(frequencies, 100) == pytest.approx(
        max(idf, LEAST_KNOWN * (idf + inverse_document_frequency(100, 0)))
    )
    rare = TranslatedWords(((1.0, known), *[(1.0, unknown)] * 9)).mass(frequencies, 100)
    assert rare > 3 * idf  # one known word of ten is not all that was asked


def test_without_words_there_is_nothing_to_say() -> None:
    assert TranslatedWords().terms == {}
    assert TranslatedWords().mass({}, 10) == 0.0


@given(words, st.dictionaries(st.integers(1, 99), st.integers(0, 50)), st.integers(0, 50))
def test_any_words_have_a_mass(
    asked: list[tuple[float, frozenset[int]]], frequencies: dict[int, int], units: int
) -> None:
    translated = TranslatedWords(tuple(asked))
    assert (translated.mass(frequencies, units) > 0) is bool(asked)
    assert all(weight > 0 for weight in translated.terms.values())
