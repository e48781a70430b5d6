"""The test of a thousand rounds: what it says and asks, and what it takes for a right answer."""

from __future__ import annotations

from collections import Counter

import pytest

from rearview.evaluation.rounds import figures_of, judged
from rearview.evaluation.rounds_text import HALVES, KINDS, QUESTIONS_A_KIND, Question, make_rounds
from rearview.v1 import memory_pb2, recall_pb2

KEYS = {name: key for key, name in enumerate(("new", "old", "other", "more"))}


def hit(*events: str) -> recall_pb2.RecallHit:
    return recall_pb2.RecallHit(
        memory=memory_pb2.Memory(content=" ".join(events)), events=events, routes=[recall_pb2.RECALL_ROUTE_VECTOR]
    )


def test_the_same_seed_says_and_asks_the_same() -> None:
    sessions, questions = make_rounds(3)
    assert (sessions, questions) == make_rounds(3)
    assert questions != make_rounds(4)[1]


def test_what_is_said_and_asked() -> None:
    sessions, questions = make_rounds()
    texts = {key: turn.content for session in sessions for turn, key in zip(session.turns, session.keys, strict=True)}
    texts.pop(None)
    assert len(sessions) == 100
    assert 2_000 <= len(texts) <= 3_000
    assert len(questions) == 200
    for kind in KINDS:
        halves = Counter(one.half for one in questions if one.kind == kind)
        assert sum(halves.values()) == QUESTIONS_A_KIND[kind]
        assert abs(halves[HALVES[0]] - halves[HALVES[1]]) <= 1
    assert all(key in texts for one in questions for key in (*one.evidence, *one.outdated))
    asked = Counter(key for one in questions for key in one.evidence)
    assert set(asked.values()) == {1}


def test_each_question_has_one_answer() -> None:
    _, questions = make_rounds()
    assert max(Counter(one.text for one in questions).values()) == 1


@pytest.mark.parametrize(
    ("hits", "right"),
    [
        ([hit("new")], True),
        ([hit("other"), hit("new"), hit("old")], True),
        ([hit("old"), hit("new")], False),
        ([hit("new", "old")], False),
        ([hit("other")], False),
        ([], False),
        ([*[hit("more")] * 4, hit("new")], True),
        ([*[hit("more")] * 5, hit("new")], False),
        ([hit("more", "other", "more", "new")], False),
    ],
)
def test_a_changed_fact_is_right_when_its_present_value_comes_first(
    hits: list[recall_pb2.RecallHit], right: bool
) -> None:
    question = Question("changed_fact", "tuning", "?", (KEYS["new"],), (KEYS["old"],))
    assert judged(question, hits, KEYS).right is right


def test_all_turns_that_answer_are_needed() -> None:
    question = Question("several_sessions", "held_out", "?", (KEYS["new"], KEYS["more"]))
    assert judged(question, [hit("more"), hit("other"), hit("new")], KEYS).right
    assert not judged(question, [hit("more"), hit("other")], KEYS).right


def test_the_figures_name_what_went_wrong_for_one_half_alone() -> None:
    questions = [Question("exact_id", half, f"{half}?", (KEYS["new"],)) for half in HALVES]
    figures = figures_of([judged(one, [hit("other")], KEYS) for one in questions])
    assert figures["accuracy"] == 0.0
    assert [wrong["question"] for wrong in figures["wrong"]] == ["tuning?"]  # type: ignore[attr-defined]
    right = figures_of([judged(one, [hit("new")], KEYS) for one in questions])
    assert (right["by_half"], right["routes"]) == (dict.fromkeys(HALVES, 1.0), {"exact_id": {"vector": 2}})
