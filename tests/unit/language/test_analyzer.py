"""A turn as a whole."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.importance import is_droppable
from rearview.domain.text import EntityType, Intent, Language
from rearview.language.analyzer import RuleAnalyzer
from rearview.language.facts import RuleFactExtractor
from rearview.language.pii import PatternRedactor
from rearview.language.tokens import KeywordTokenizer
from rearview.ports.analyzer import Analyzer
from rearview.ports.fact_extractor import FactExtractor
from rearview.ports.redactor import Redactor
from rearview.ports.tokenizer import Tokenizer

SHANGHAI = ZoneInfo("Asia/Shanghai")
REFERENCE = datetime(2024, 5, 15, 0, 30, tzinfo=SHANGHAI)

analyzer: Analyzer = RuleAnalyzer()


def test_the_implementations_fit_their_ports() -> None:
    redactor: Redactor = PatternRedactor()
    tokenizer: Tokenizer = KeywordTokenizer()
    extractor: FactExtractor = RuleFactExtractor()
    assert redactor.redact("", ()).text == ""
    assert tokenizer.tokens("预算") == ["预算"]
    assert extractor.extract_facts("我叫李雷", "user")


def test_a_mixed_turn() -> None:
    turn = analyzer.analyze("昨天和王芳去了Paris，我很开心，预算8000元", reference=REFERENCE)
    assert Language.ZH in turn.languages
    assert {(entity.text, entity.type) for entity in turn.entities} >= {
        ("王芳", EntityType.PERSON),
        ("Paris", EntityType.PLACE),
        ("8000元", EntityType.QUANTITY),
    }
    assert turn.sentiment.valence > 0.1
    assert turn.signals.fact_count == 1
    assert turn.signals.name_count >= 2
    assert [time.start for time in turn.time_ranges] == [datetime(2024, 5, 13, 16, tzinfo=UTC)]
    assert not is_droppable(turn.signals)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("帮我查一下订单", Intent.REQUEST),
        ("Please book a table", Intent.REQUEST),
        ("决定了，就用拿铁", Intent.DECIDE),
        ("We decided to use Postgres", Intent.DECIDE),
        ("我住在哪里？", Intent.ASK),
        ("Where do I live?", Intent.ASK),
        ("我喜欢美式", Intent.PREFER),
        ("I love hiking", Intent.PREFER),
        ("我打算换工作", Intent.PLAN),
        ("I'm going to move next month", Intent.PLAN),
        ("我叫李雷", Intent.INFORM),
        ("My name is Li Lei", Intent.INFORM),
        ("好的", Intent.OTHER),
        ("thanks!", Intent.OTHER),
    ],
)
def test_intents(text: str, expected: Intent) -> None:
    assert analyzer.analyze(text, reference=REFERENCE).intent is expected


def test_what_assistants_say_is_no_fact_of_the_user() -> None:
    (turn,) = RuleAnalyzer().analyze_batch(["My budget is 8000"], references=[REFERENCE], roles=["assistant"])
    assert turn.signals.fact_count == 0


def test_a_batch_gives_what_single_turns_give() -> None:
    texts = ["我叫李雷", "Alice moved to Paris last week", "ok"]
    batch = RuleAnalyzer().analyze_batch(texts, references=[REFERENCE] * 3, roles=["user"] * 3)
    assert batch == [analyzer.analyze(text, reference=REFERENCE) for text in texts]


@given(st.text(max_size=100))
def test_never_raises(text: str) -> None:
    analyzer.analyze(text, reference=REFERENCE)
