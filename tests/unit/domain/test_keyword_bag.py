from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.keyword_bag import KeywordBag, count_units


@given(st.lists(st.lists(st.integers(1, 20), max_size=30).map(tuple), max_size=8))
def test_each_bag_counts_once_for_each_of_its_terms(texts: list[tuple[int, ...]]) -> None:
    counts = count_units(KeywordBag.of(text) for text in texts)
    assert counts == {term: sum(term in text for text in texts) for text in texts for term in text}
    assert list(counts) == sorted(counts)
