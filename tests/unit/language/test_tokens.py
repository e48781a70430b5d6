"""Keyword tokens: the same on every machine, codes whole in any sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.tokens import FUNCTION_CHARACTERS, MAX_TOKEN_CHARACTERS, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I was running with John's dogs", ["run", "john", "dog"]),
        ("Hiking, hikes, hiked", ["hike", "hike", "hike"]),
        ("预算", ["预算"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("我的猫", ["猫"]),
        ("预算是8000元", ["预算", "8000", "元"]),
        ("8,000", ["8000"]),
        ("3.5", ["3.5"]),
        ("订单A2024-0815到了", ["订单", "a2024-0815", "a2024", "0815", "到"]),
        ("version 1.2.3", ["version", "1.2.3"]),
        ("SKU-88213-XL", ["sku-88213-xl", "sku", "88213", "xl"]),
        ("0x7ffee4c0", ["0x7ffee4c0"]),
        ("PROJ-12", ["proj-12", "proj", "12"]),
        ("Ｐｙｔｈｏｎ", ["python"]),
        ("Café", ["cafe"]),
        ("用Python写代码", ["用", "python", "写代", "代码"]),
        ("the of and", []),
        ("的了", []),
        ("", []),
        ("👍", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_negation_is_kept() -> None:
    assert any("不" in token for token in tokens("我不喜欢香菜"))


def test_a_code_is_found_inside_a_chinese_sentence() -> None:
    assert set(tokens("A2024-0815")) <= set(tokens("帮我查订单A2024-0815的物流"))


def test_very_long_runs_are_cut() -> None:
    assert all(len(token) <= MAX_TOKEN_CHARACTERS for token in tokens("a" * 5000 + " " + "1-" * 3000 + "1"))


@given(st.text(max_size=200))
def test_tokens_are_stable_and_clean(text: str) -> None:
    found = tokens(text)
    assert found == tokens(text)
    for token in found:
        assert token
        assert token == token.strip()
        assert not FUNCTION_CHARACTERS & set(token)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did she go?", "I went yesterday"),
        ("What did he buy?", "He bought a bike"),
        ("Which book did you write?", "the book I have written"),
        ("How many children?", "my child"),
    ],
)
def test_a_question_and_its_answer_share_an_irregular_word(question: str, answer: str) -> None:
    assert set(tokens(question)) & set(tokens(answer))
