"""What the words of a text may be called in the other language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.tokens import tokens
from rearview.language.translations import translated_tokens


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("The mangoes tasted wonderful", "芒果"),
        ("my BUDGET for Kyoto", "预算"),
        ("He went climbing on the glacier", "冰川"),
        ("yesterday's umbrella", "雨伞"),
    ],
)
def test_words_of_either_language_lead_to_the_other(english: str, chinese: str) -> None:
    assert set(tokens(chinese)) <= translated_tokens(english).keys()
    assert translated_tokens(f"我说的是{chinese}。").keys() & set(tokens(english))


def test_traditional_characters_lead_to_the_same_words() -> None:
    assert translated_tokens("預算") == translated_tokens("预算") != {}


def test_of_mixed_text_both_parts_are_looked_for() -> None:
    found = translated_tokens("我的 umbrella 在冰川上丢了")
    assert {"雨伞", "glacier"} <= found.keys()


def test_the_more_words_may_stand_for_one_the_less_each_weighs() -> None:
    found = translated_tokens("mango")
    assert len(found) > 1
    assert list(found.values()) == pytest.approx([len(found) ** -0.5] * len(found))


@pytest.mark.parametrize("text", ["", "   ", "A2024-0815 8,000 12:30", "☃️ ---", "qzxv", "㐀㐁", "的了吗", "the of and"])
def test_what_no_dictionary_explains_has_no_translation(text: str) -> None:
    assert translated_tokens(text) == {}


@given(st.text())
def test_any_text_is_taken_and_weights_are_positive(text: str) -> None:
    assert all(weight > 0 for weight in translated_tokens(text).values())
