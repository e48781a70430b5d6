"""Which queries ask the same by their words, in Chinese, English and both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.canonical_query import Refusal, hidden_token, refusal
from rearview.evaluation.cache_pairs import read_query_pairs, upper_bound
from rearview.language.canonical_text import canonical_query

SAME = [
    ("请问我妈妈的生日是哪天？", "我母亲的生日是什么时候"),
    ("我昨天花了多少钱", "昨天我花了多少钱？"),
    ("怎么重启打印机", "打印机如何重启"),
    ("我是不是对花生过敏", "我对花生过敏吗"),
    ("下午三点的会议", "下午3点的会议呢"),
    ("公司第二季度的收入是多少", "第二季度公司的收入有多少"),
    ("Can you tell me what Alice told me last Wednesday?", "what did Alice tell me last Wednesday"),
    ("What's my favourite restaurant?", "what is my favorite restaurant"),
    ("in Paris where did I stay", "Where did I stay in Paris?"),
    ("Is my budget $500?", "is my budget five hundred dollars"),
    ("请问 Kyoto 的 ryokan 订了哪一家？", "Kyoto 的 ryokan 订了哪家"),
]
DIFFERENT = [
    ("我喜欢吃香菜吗", "我不喜欢吃香菜吗"),
    ("从北京到上海的航班", "从上海到北京的航班"),
    ("我欠黄勇多少钱", "黄勇欠我多少钱"),
    ("我2022年去了哪里", "我2023年去了哪里"),
    ("我说昨天要去", "昨天我说要去"),
    ("会议几点开始", "会议哪天开始"),
    ("上海有多少员工", "上海有哪些员工"),
    ("我不要去医院吗", "我不需要去医院吗"),
    ("What did Alice tell me", "Did Alice tell me"),
    ("where do I live", "where did I live"),
    ("the US office", "the us office"),
    ("C++ tutorial notes", "C tutorial notes"),
    ("is it -5 degrees outside", "is it 5 degrees outside"),
    ("what did I say about yesterday", "yesterday what did I say about"),
    ("Kyoto 的 hotel 订了哪家", "Osaka 的 hotel 订了哪家"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_manner_makes_no_difference(one: str, other: str) -> None:
    assert refusal(canonical_query(one), canonical_query(other)) is None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_whatever_is_not_listed_makes_a_difference(one: str, other: str) -> None:
    assert refusal(canonical_query(one), canonical_query(other)) is not None


@pytest.mark.parametrize("query", ["那个呢？", "what about it?", "他住在哪里", "where does she live", "这个多少钱"])
def test_what_points_at_what_was_said_is_never_shared(query: str) -> None:
    assert refusal(canonical_query(query), canonical_query(query)) is Refusal.DEICTIC


@pytest.mark.parametrize(
    "query", ["这份合同的总金额是多少", "What is the total amount of this contract", "钥匙在谁那里"]
)
def test_what_names_its_object_does_not_point(query: str) -> None:
    assert not canonical_query(query).deictic


def test_no_near_miss_of_the_held_out_half_passes_and_most_paraphrases_do() -> None:
    pairs = read_query_pairs(None)
    passed = [pair for pair in pairs if refusal(canonical_query(pair.one), canonical_query(pair.other)) is None]
    assert sum(not pair.same for pair in pairs) >= 500
    assert not [pair.kind for pair in passed if not pair.same]
    for language in ("zh", "en"):
        same = [pair for pair in pairs if pair.same and pair.language == language]
        assert sum(pair.language == language for pair in passed) >= 0.65 * len(same)


def test_whatever_passes_has_the_same_anagram_and_passes_hidden() -> None:
    for pair in read_query_pairs(None):
        one, other = canonical_query(pair.one), canonical_query(pair.other)
        if refusal(one, other) is None:
            assert one.anagram == other.anagram


@given(st.text(max_size=60))
def test_any_text_has_canonical_words(text: str) -> None:
    query = canonical_query(text)
    assert all(query.tokens)
    assert [hidden_token(token, lambda word: word) for token in query.tokens] == list(query.tokens)


def test_the_bound_of_a_rate_that_was_never_seen() -> None:
    assert upper_bound(0, 500) == pytest.approx(0.00597, abs=1e-4)
    assert upper_bound(590, 798) == pytest.approx(0.7648, abs=2e-3)
    assert upper_bound(500, 500) == 1.0
