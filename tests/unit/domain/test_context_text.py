"""The context text: within its budget, citing what it holds, never cutting what was explicitly remembered."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.context_text import ELLIPSIS, ContextEntry, compose, estimate_tokens
from rearview.domain.text import Language

WHEN = datetime(2024, 1, 15, 20, 0, tzinfo=UTC)

texts = st.text(
    alphabet=st.sampled_from(list("预算是一万二。我喜欢咖啡！the budget is 12,000. Ok?\n\t🙂é")), max_size=300
)
entries = st.lists(
    st.builds(ContextEntry, texts, st.just(WHEN), whole=st.booleans(), speaker=st.sampled_from(["", "李雷", "Ana"])),
    max_size=12,
)


@given(entries=entries, budget=st.integers(0, 400), language=st.sampled_from(list(Language)))
def test_the_budget_is_kept_and_citations_resolve(entries: list[ContextEntry], budget: int, language: Language) -> None:
    context = compose(entries, budget=budget, language=language, zone=UTC)
    assert estimate_tokens(context.text) == context.tokens
    assert context.tokens <= budget or not context.text
    lines = context.text.splitlines()[1:]
    marks = [mark for mark in context.citations if mark]
    assert marks == [f"[{at}]" for at in range(1, len(lines) + 1)]
    cited = iter(lines)
    for entry, mark in zip(entries, context.citations, strict=True):
        if mark:
            line = next(cited)
            assert line.endswith(f" {mark}")
            said = " ".join(entry.text.split())
            body = line.removesuffix(f" {mark}").partition(": ")[2]
            if entry.whole:
                assert body.endswith(said)
            else:
                bare = body.removesuffix(ELLIPSIS)
                spoken = bare.removeprefix(f"{entry.speaker}：").removeprefix(f"{entry.speaker}: ")
                assert said.startswith(spoken)


def test_chinese_and_english() -> None:
    entry = ContextEntry("预算是12000元。", WHEN, speaker="李雷")
    chinese = compose([entry], budget=100, language=Language.ZH, zone=ZoneInfo("Asia/Shanghai"))
    assert chinese.text == "[相关记忆]\n- 2024-01-16: 李雷：预算是12000元。 [1]"
    english = compose([ContextEntry("The budget is 12,000.", WHEN)], budget=100, language=Language.EN, zone=UTC)
    assert english.text == "[Related memories]\n- 2024-01-15: The budget is 12,000. [1]"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("我喜欢喝美式咖啡。" + "后来又说了很多别的事情，" * 20 + "完。", "我喜欢喝美式咖啡。"),
        ("I drink americano. " + "Then a great many other things were said, " * 10 + "end.", "I drink americano."),
        ("Version 1.2.3 shipped. " + "and then more words came " * 20 + ".", "Version 1.2.3 shipped."),
    ],
)
def test_long_text_is_cut_after_a_sentence(text: str, kept: str) -> None:
    context = compose([ContextEntry(text, WHEN)], budget=60, language=Language.EN, zone=UTC)
    assert f": {kept}{ELLIPSIS} [1]" in context.text


def test_explicit_memories_are_whole_or_absent_and_the_next_one_is_tried() -> None:
    explicit = ContextEntry("第一条。" * 40, WHEN, whole=True)
    short = ContextEntry("短的一条。", WHEN)
    context = compose([explicit, short], budget=60, language=Language.ZH, zone=UTC)
    assert context.citations == ("", "[1]")
    assert "第一条" not in context.text


def test_no_budget_and_no_entries_give_no_text() -> None:
    assert compose([ContextEntry("text", WHEN)], budget=0, language=Language.EN, zone=UTC).text == ""
    assert compose([], budget=100, language=Language.EN, zone=UTC).text == ""


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("预算", 2), ("budget", 2), ("12000", 3), ("a b", 2), ("你好, world!", 6)]
)
def test_token_estimates(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.lists(texts, max_size=6))
def test_estimates_of_lines_add_up(lines: list[str]) -> None:
    assert estimate_tokens("\n".join(lines)) == sum(map(estimate_tokens, lines))


def test_no_citation_mark_can_come_from_a_memory_unnoticed() -> None:
    context = compose([ContextEntry("see [7] there.", WHEN)], budget=50, language=Language.EN, zone=UTC)
    assert re.findall(r"\[\d+\]$", context.text) == ["[1]"]
