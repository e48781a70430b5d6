"""Language flags and folding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.text import Language
from rearview.language.scripts import fold_width_in_place, languages, script_shares

ZH, EN = Language.ZH, Language.EN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我叫李雷", {ZH}),
        ("My name is Li Lei", {EN}),
        ("我用Python", {ZH, EN}),
        ("昨天和王芳一起去了上海迪士尼乐园，玩得很开心，还买了iPhone", {ZH}),
        ("hello 世界, how are you", {ZH, EN}),
        ("订单A2024-0815到了", {ZH}),
        ("8000", set()),
        ("", set()),
    ],
)
def test_languages(text: str, expected: set[Language]) -> None:
    assert languages(text) == expected


@given(st.text())
def test_shares_add_up(text: str) -> None:
    assert sum(script_shares(text)) in (0, pytest.approx(1))


@given(st.text())
def test_folding_in_place_keeps_offsets(text: str) -> None:
    assert len(fold_width_in_place(text)) == len(text)
