"""What a query asks for."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.text import Language
from rearview.language.query import RuleQueryUnderstander
from rearview.ports.query_understander import QueryUnderstander, QueryUnderstanding, QuestionType

SHANGHAI = ZoneInfo("Asia/Shanghai")
REFERENCE = datetime(2024, 5, 15, 10, tzinfo=SHANGHAI)


understander: QueryUnderstander = RuleQueryUnderstander()


def understood(text: str, *speakers: str) -> QueryUnderstanding:
    return understander.understand_query(text, reference=REFERENCE, zone=SHANGHAI, known_speakers=speakers)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who went with Caroline?", QuestionType.WHO),
        ("What is my budget?", QuestionType.WHAT),
        ("When did Mel go camping?", QuestionType.WHEN),
        ("How long has she lived there?", QuestionType.WHEN),
        ("Which month did we move?", QuestionType.WHEN),
        ("Where do I live?", QuestionType.WHERE),
        ("Which city did she visit?", QuestionType.WHERE),
        ("Why did he leave?", QuestionType.WHY),
        ("How do I reset it?", QuestionType.HOW),
        ("How many dogs do I have?", QuestionType.HOW_MANY),
        ("Did I mention a dog?", QuestionType.YES_NO),
        ("And what did he say when we met?", QuestionType.WHAT),
        ("my budget for the trip", QuestionType.STATEMENT),
        ("谁和我去的上海", QuestionType.WHO),
        ("我的预算是多少", QuestionType.HOW_MANY),
        ("我喜欢什么咖啡", QuestionType.WHAT),
        ("我什么时候去的北京", QuestionType.WHEN),
        ("我们认识多久了", QuestionType.WHEN),
        ("哪天开会", QuestionType.WHEN),
        ("我住在哪里", QuestionType.WHERE),
        ("为什么退款", QuestionType.WHY),
        ("怎么重置密码", QuestionType.HOW),
        ("我喜欢香菜吗", QuestionType.YES_NO),
        ("上周的会议", QuestionType.STATEMENT),
        ("我的budget是多少", QuestionType.HOW_MANY),
        ("", QuestionType.STATEMENT),
    ],
)
def test_question_types(text: str, kind: QuestionType) -> None:
    assert understood(text).question_type is kind


@pytest.mark.parametrize(
    "text",
    [
        "When did we meet?",
        "订单什么时候到",
        "多久去一次健身房",
        "How often do I run?",
        "Tell me when we met",
        "what day is the party",
    ],
)
def test_asks_when(text: str) -> None:
    assert understood(text).asks_when


@pytest.mark.parametrize("text", ["What did I say when we met?", "who came", "我的预算", "我住在哪里"])
def test_does_not_ask_when(text: str) -> None:
    assert not understood(text).asks_when


def test_everything_at_once() -> None:
    query = understood("上周Caroline的订单A2024-0815为什么退款？", "Caroline", "Mel")
    assert query.languages == {Language.ZH, Language.EN} or query.languages == {Language.ZH}
    assert query.identifiers == ("a2024-0815",)
    assert query.named_speakers == ("Caroline",)
    assert "a2024-0815" in query.tokens
    (week,) = query.time_ranges
    assert week.start == datetime(2024, 5, 5, 16, tzinfo=UTC)
    assert "Caroline" in [entity.text for entity in query.entities]


def test_speakers_are_whole_words_in_any_case_and_in_order() -> None:
    assert understood("did MEL talk to caroline's friend?", "Caroline", "Mel").named_speakers == ("Mel", "Caroline")
    assert understood("a melon", "Mel").named_speakers == ()
    assert understood("王芳说了什么", "王芳", "李雷").named_speakers == ("王芳",)
    assert understood("anything", "", " ").named_speakers == ()


@given(st.text(max_size=120), st.lists(st.text(max_size=8), max_size=4))
def test_never_raises(text: str, speakers: list[str]) -> None:
    understood(text, *speakers)


@pytest.mark.parametrize("unit", ["when ", "what when ", "吗", "? ", "a", "which "])
@pytest.mark.timeout(20)
def test_hostile_text_is_read_in_bounded_time(unit: str) -> None:
    understood(unit * 20_000)
