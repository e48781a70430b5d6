"""Amounts in all their spellings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.facts.amounts import MONEY, ZH_NUMERALS, amount, currency, plain, spelled_number


@pytest.mark.parametrize(
    ("written", "value", "unit"),
    [
        ("8000", "8000", None),
        ("8,000", "8000", None),
        ("八千", "8000", None),
        ("八千五", "8500", None),
        ("8k", "8000", None),
        ("1.2万", "12000", None),
        ("一万二", "12000", None),
        ("1万2", "12000", None),
        ("两百万", "2000000", None),
        ("一万零五十", "10050", None),
        ("三十五", "35", None),
        ("十", "10", None),
        ("$1,200", "1200", "USD"),
        ("￥99.5", "99.5", "CNY"),
        ("12000元", "12000", "CNY"),
        ("3 thousand euros", "3000", "EUR"),
        ("1.5 million dollars", "1500000", "USD"),
    ],
)
def test_amounts(written: str, value: str, unit: str | None) -> None:
    match = re.fullmatch(MONEY, written, re.IGNORECASE)
    assert match is not None
    groups = {name: said for name, said in match.groupdict().items() if said}
    said = amount(groups)
    assert said is not None
    assert (plain(said), currency(groups)) == (value, unit)


@pytest.mark.parametrize("written", ["一二", "万", "千"])
def test_numerals_that_are_no_number(written: str) -> None:
    assert spelled_number(written) is None


@given(st.text(alphabet=ZH_NUMERALS, min_size=1, max_size=12))
def test_any_numerals_are_a_number_or_none(written: str) -> None:
    value = spelled_number(written)
    assert value is None or value >= 0
