"""Scenario files say exactly what is wrong with them, and every expectation can fail."""

from pathlib import Path

import pytest

from rearview.domain.errors import NotFound, RearviewError, invalid_field
from rearview.evaluation.scenarios.answer import Answer
from rearview.evaluation.scenarios.expectations import broken
from rearview.evaluation.scenarios.files import read_scenarios
from rearview.evaluation.scenarios.scenario import Expect

HEAD = "title: t\nlanguage: zh\nabout: [x]\n"

BAD_FILES = {
    "title: [": "while parsing",
    "just text": "file: Input should be a valid dictionary",
    HEAD: "steps: Field required",
    HEAD + "steps: [{recall: {query: x}}]": "expects something",
    HEAD
    + "steps: [{recall: {query: x}, expect: {frist: [y]}}]": "steps.0.expect.frist: Extra inputs are not permitted",
    HEAD + "steps: [{recall: {query: x}, end: s, expect: {any: [y]}}]": "exactly one thing",
    HEAD + "steps: [{recall: {query: x}, by: bob, expect: {any: [y]}}]": "nobody here is called bob",
    HEAD + "steps: [{append: {session: s, turns: [{user: a, tool: b}]}, expect: {count: 1}}]": "exactly one of",
    HEAD
    + "steps: [{append: {session: s, turns: [{user: a, at: 2026-01-01T10:00:00}]}, expect: {count: 1}}]": "timezone",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.yaml") as refused:
        read_scenarios(tmp_path)
    assert BAD_FILES[content] in str(refused.value)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no scenario in it"):
        read_scenarios(tmp_path)


def test_the_shipped_files_are_scenarios_in_both_languages() -> None:
    languages = {file.scenario.language for file in read_scenarios(None)}
    assert languages == {"zh", "en", "mixed"}


ANSWER = Answer(
    results=["我喜欢绿茶 tea", "Budget is 8000"],
    context="[1] 我喜欢绿茶",
    cited="我喜欢绿茶",
    fields={"state": "active", "cached": False, "redactions": ["PHONE"], "context_tokens": 12},
)

EXPECTATIONS: list[tuple[Expect, Expect]] = [
    (Expect(first=["绿茶", "TEA"]), Expect(first=["8000"])),
    (Expect(any=["8000", "绿茶"]), Expect(any=["8000", "咖啡"])),
    (Expect(none=["咖啡"]), Expect(none=["budget"])),
    (Expect(once=["8000"]), Expect(once=["e"])),
    (Expect(context=["绿茶"]), Expect(context=["8000"])),
    (Expect(count=2), Expect(count=1)),
    (Expect(at_least=2), Expect(at_least=3)),
    (Expect(at_most=2), Expect(at_most=1)),
    (Expect(cites="绿茶"), Expect(cites="8000")),
    (Expect(state="active"), Expect(state="superseded")),
    (Expect(cached=False), Expect(cached=True)),
    (Expect(redactions=["PHONE"]), Expect(redactions=[])),
    (Expect(context_tokens_at_most=12), Expect(context_tokens_at_most=11)),
]


@pytest.mark.parametrize(("holds", "fails"), EXPECTATIONS)
def test_each_expectation_can_hold_and_fail(holds: Expect, fails: Expect) -> None:
    assert broken(holds, ANSWER) == []
    assert len(broken(fails, ANSWER)) == 1


@pytest.mark.parametrize(
    ("expect", "error", "complaints"),
    [
        (None, NotFound("gone"), 1),
        (Expect(count=0), NotFound("gone"), 1),
        (Expect(error="RESOURCE_NOT_FOUND"), NotFound("gone"), 0),
        (Expect(error="INVALID_FIELD"), NotFound("gone"), 1),
        (Expect(error="INVALID_FIELD", field="query"), invalid_field("query", "empty"), 0),
        (Expect(error="INVALID_FIELD", field="top_k"), invalid_field("query", "empty"), 1),
    ],
)
def test_an_error_must_be_the_expected_one(expect: Expect | None, error: RearviewError, complaints: int) -> None:
    assert len(broken(expect, Answer(error=error))) == complaints


def test_a_call_that_should_fail_and_does_not_is_reported() -> None:
    assert len(broken(Expect(error="RESOURCE_NOT_FOUND"), ANSWER)) == 1
