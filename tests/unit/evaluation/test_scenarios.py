"""Scenario files say exactly what is wrong with them, and every expectation can fail."""

from pathlib import Path
from threading import Barrier

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.domain.errors import DeadlineExceeded, NotFound, RearviewError, invalid_field
from rearview.evaluation.scenarios.answer import Answer, of_import, of_receipt
from rearview.evaluation.scenarios.expectations import broken
from rearview.evaluation.scenarios.files import read_scenarios
from rearview.evaluation.scenarios.place import at_once
from rearview.evaluation.scenarios.scenario import Expect
from rearview.v1.forget_pb2 import FORGET_STATE_VERIFIED, ErasedPlace, ForgetReceipt
from rearview.v1.memory_service_pb2 import ImportMemoriesResponse

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
    HEAD + "steps: [{remember_many: {content: x, count: 0}, expect: {count: 0}}]": "count: Input should be greater",
    HEAD + "steps: [{move: hot, expect: {count: 0}}]": "steps.0.move: Input should be 'warm' or 'cold'",
    HEAD + "steps: [{remember: {content: x, at_once: 17}, expect: {count: 1}}]": "at_once: Input should be less than",
    HEAD + "steps: [{recall: {query: x, deadline_seconds: 0}, expect: {count: 1}}]": "deadline_seconds: Input",
    HEAD
    + "owned_namespaces: {theirs: bob}\nsteps: [{recall: {query: x}, expect: {any: [y]}}]": "nobody here is called",
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


ANSWER = Answer(
    results=["我喜欢绿茶 tea", "Budget is 8000"],
    context="[1] 我喜欢绿茶",
    cited="我喜欢绿茶",
    fields={
        "state": "active",
        "cached": False,
        "complete": True,
        "ranker": "features",
        "redactions": ["PHONE"],
        "degraded": ["vector"],
        "context_tokens": 12,
    },
)

EXPECTATIONS: list[tuple[Expect, Expect]] = [
    (Expect(first=["绿茶", "TEA"]), Expect(first=["8000"])),
    (Expect(any=["8000", "绿茶"]), Expect(any=["8000", "咖啡"])),
    (Expect(none=["咖啡"]), Expect(none=["budget"])),
    (Expect(once=["8000"]), Expect(once=["e"])),
    (Expect(in_order=["绿茶", "8000"]), Expect(in_order=["8000", "绿茶"])),
    (Expect(in_order=["tea", "budget"]), Expect(in_order=["tea", "绿茶"])),
    (Expect(context=["绿茶"]), Expect(context=["8000"])),
    (Expect(count=2), Expect(count=1)),
    (Expect(at_least=2), Expect(at_least=3)),
    (Expect(at_most=2), Expect(at_most=1)),
    (Expect(cites="绿茶"), Expect(cites="8000")),
    (Expect(state="active"), Expect(state="superseded")),
    (Expect(cached=False), Expect(cached=True)),
    (Expect(complete=True), Expect(complete=False)),
    (Expect(ranker="features"), Expect(ranker="bge")),
    (Expect(redactions=["PHONE"]), Expect(redactions=[])),
    (Expect(degraded=["vector"]), Expect(degraded=[])),
    (Expect(any=["咖啡"], or_says_why=True), Expect(any=["咖啡"])),
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
        (Expect(count=2, or_says_why=True), DeadlineExceeded("late", stage="recall"), 0),
        (Expect(count=2, or_says_why=True), NotFound("gone"), 1),
        (Expect(error="INVALID_FIELD", field="top_k"), invalid_field("query", "empty"), 1),
    ],
)
def test_an_error_must_be_the_expected_one(expect: Expect | None, error: RearviewError, complaints: int) -> None:
    assert len(broken(expect, Answer(error=error))) == complaints


def test_a_whole_answer_has_nothing_to_excuse() -> None:
    whole = Answer(results=["Budget is 8000"], fields={"degraded": []})
    assert len(broken(Expect(any=["咖啡"], or_says_why=True), whole)) == 1


def test_an_erasure_is_told_in_the_order_of_its_places() -> None:
    places = [
        ErasedPlace(place="postgres.memory", count=2, erase_time=Timestamp(seconds=9)),
        ErasedPlace(place="s3.cold_segment", count=1, erase_time=Timestamp(seconds=8)),
    ]
    told = of_receipt(ForgetReceipt(state=FORGET_STATE_VERIFIED, places=places))
    assert (told.results, told.fields) == (["s3.cold_segment=1", "postgres.memory=2"], {"state": "verified"})


def test_an_import_is_told_by_its_counts_and_problems() -> None:
    told = of_import(ImportMemoriesResponse(stored_count=7, problems=["line 3: content"], complete=True))
    assert broken(Expect(any=["stored_count=7", "refused_count=0", "line 3"], complete=True), told) == []
    assert len(broken(Expect(complete=False, any=["complete="]), told)) == 2


def test_calls_at_once_all_count_and_one_that_fails_is_told() -> None:
    together = Barrier(4)
    assert len(at_once(lambda: together.wait(timeout=60), 4)) == 4

    def fail() -> None:
        raise NotFound("gone")

    with pytest.raises(NotFound):
        at_once(fail, 2)


def test_a_call_that_should_fail_and_does_not_is_reported() -> None:
    assert len(broken(Expect(error="RESOURCE_NOT_FOUND"), ANSWER)) == 1
