"""The sign and the strength of feelings in both languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.language.sentiment import sentiment

GOOD = [
    "我今天很开心",
    "太棒了！",
    "这家店挺好的",
    "我喜欢喝美式",
    "会议很顺利",
    "I love it",
    "今天好累，but I'm so happy!",
]
BAD = [
    "我今天很不开心",
    "这家餐厅太难吃了",
    "服务态度很差，我要投诉",
    "不太好",
    "我不喜欢香菜",
    "I hate this",
    "我被裁了",
    "我 really hate 堵车",
]
CALM = [
    "我叫李雷",
    "预算是8000元",
    "会议安排在3楼",
    "订单A2024-0815什么时候发货",
    "My budget is 8000",
    "",
    "12345",
]


@pytest.mark.parametrize("text", GOOD)
def test_good(text: str) -> None:
    assert sentiment(text).valence > 0.1


@pytest.mark.parametrize("text", BAD)
def test_bad(text: str) -> None:
    assert sentiment(text).valence < -0.1


@pytest.mark.parametrize("text", CALM)
def test_statements_of_fact_are_calm(text: str) -> None:
    found = sentiment(text)
    assert abs(found.valence) < 0.1
    assert found.intensity < 0.1


def test_degree_words_strengthen() -> None:
    assert sentiment("非常开心").intensity > sentiment("开心").intensity
    assert sentiment("very happy").intensity > sentiment("happy").intensity


def test_opposite_feelings_cancel_in_valence_only() -> None:
    mixed = sentiment("开心，但是难过")
    assert abs(mixed.valence) < 0.1
    assert mixed.intensity > 0.5


@given(st.text(alphabet=st.sampled_from("我很不开心难过!！，happy sad 0"), max_size=60) | st.text(max_size=60))
def test_never_raises_and_stays_in_range(text: str) -> None:
    found = sentiment(text)
    assert -1 <= found.valence <= 1
    assert 0 <= found.intensity <= 1
