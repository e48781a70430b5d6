"""What the words of a text may be called in the other language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.tokens import tokens
from rearview.language.translations import translated_tokens


def all_of(text: str) -> set[str]:
    return set().union(*translated_tokens(text))


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
    assert set(tokens(chinese)) <= all_of(english)
    assert all_of(f"我说的是{chinese}。") & set(tokens(english))


def test_each_word_has_its_own_alternatives() -> None:
    mango, umbrella = translated_tokens("mango umbrella")
    assert "芒果" in mango
    assert "雨伞" in umbrella
    assert not mango & umbrella


def test_traditional_characters_lead_to_the_same_words() -> None:
    assert translated_tokens("預算") == translated_tokens("预算") != ()


def test_of_mixed_text_both_parts_are_looked_for() -> None:
    assert {"雨伞", "glacier"} <= all_of("我的 umbrella 在冰川上丢了")


@pytest.mark.parametrize("text", ["", "   ", "A2024-0815 8,000 12:30", "☃️ ---", "qzxv", "㐀㐁", "的了吗", "the of and"])
def test_what_no_dictionary_explains_has_no_translation(text: str) -> None:
    assert translated_tokens(text) == ()


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    assert all(translated_tokens(text))
