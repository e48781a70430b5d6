"""Edits are duplicates, different facts are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.near_duplicate import (
    SIGNATURE_SIZE,
    MinHashNearDuplicates,
    signature,
    similarity,
)
from rearview.ports.near_duplicates import NearDuplicates

near_duplicates: NearDuplicates = MinHashNearDuplicates()

SAME = [
    ("我下周三要去北京出差参加产品发布会。", "我下周三要去北京出差参加产品发布会！"),
    ("我下周三要去北京出差参加年度产品发布会和客户见面", "我下周三去北京出差参加年度产品发布会和客户见面"),
    (
        "I went hiking with my sister last weekend at the lake",
        "I went hiking with my sister last weekend at the lake!!",
    ),
    (
        "I went hiking with my sister last weekend at the big lake",
        "i went hiking with my sister last weekend at the lake",
    ),
]
DIFFERENT = [
    ("我的预算是8000元", "我的预算是12000元"),
    ("我住在北京市朝阳区", "我住在上海市浦东区"),
    ("My budget is 8000 yuan for the trip", "My budget is 9000 yuan for the trip"),
    ("I like coffee", "I hate coffee"),
    ("", ""),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_edits_are_duplicates(first: str, second: str) -> None:
    assert near_duplicates.are_duplicates(first, second)
    assert set(near_duplicates.bands(first)) & set(near_duplicates.bands(second))


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different_facts_are_not(first: str, second: str) -> None:
    assert not near_duplicates.are_duplicates(first, second)


def test_unrelated_texts_are_no_candidates() -> None:
    assert not set(near_duplicates.bands("我住在北京市朝阳区")) & set(near_duplicates.bands("I like coffee a lot"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The boiler trips.", "THE BOILER TRIPS"),
        ("阳台门锁坏了。", "阳台门锁坏了！"),
        ("请 ping Ａｌｉｃｅ，马上", "请ping alice 马上"),
    ],
)
def test_case_width_blanks_and_punctuation_are_no_words(first: str, second: str) -> None:
    assert near_duplicates.same_words(first, second)
    assert not near_duplicates.same_words(first, f"{second} 2")


def test_texts_without_words_are_not_the_same() -> None:
    assert not near_duplicates.same_words("!?", "。")


def test_a_signature_is_the_same_on_every_machine() -> None:
    assert signature("我叫李雷")[:2] == (3_302_950_378, 3_282_912_401)


@given(st.text(max_size=80), st.text(max_size=80))
def test_similarity_is_symmetric_and_bounded(first: str, second: str) -> None:
    assert similarity(first, second) == similarity(second, first)
    assert 0 <= similarity(first, second) <= 1
    assert len(signature(first)) == SIGNATURE_SIZE
