"""The turns of benchmarks: what a measurement stores must be what it says it stores."""

from uuid import UUID

from rearview.domain.capture import decide
from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.text import Language
from rearview.evaluation.bench_texts import TURNS_PER_SESSION, bench_questions, bench_sessions
from rearview.language.scripts import languages
from rearview.language.signals import turn_signals

TURNS = 5_000


def contents(turns: int, seed: int = 0) -> list[str]:
    return [turn.content for session in bench_sessions(turns, seed=seed) for turn in session.turns]


def test_turns_are_distinct_and_half_chinese_half_english() -> None:
    said = contents(TURNS)
    assert len(said) == len(set(said)) == TURNS
    assert not [text for text in said if "{" in text or "}" in text]
    spoken = [languages(text) for text in said]
    assert spoken.count(frozenset({Language.ZH})) == spoken.count(frozenset({Language.EN})) == TURNS // 2


def test_every_run_says_the_same_and_another_seed_something_else() -> None:
    assert contents(60) == contents(60) == contents(200)[:60]
    assert contents(60, seed=1) != contents(60)


def test_each_turn_is_worth_a_search_unit() -> None:
    dropped = []
    for session in bench_sessions(1_000):
        for turn in session.turns:
            assert turn.occurred_at is not None
            event = Event(UUID(int=1), EventRole.USER, turn.content, turn.occurred_at)
            if decide(event, turn_signals(turn.content)).outcome is not CaptureOutcome.KEPT:
                dropped.append(turn.content)
    assert dropped == []


def test_the_last_session_takes_what_is_left() -> None:
    sizes = [len(session.turns) for session in bench_sessions(2 * TURNS_PER_SESSION + 3)]
    assert sizes == [TURNS_PER_SESSION, TURNS_PER_SESSION, 3]


def test_there_are_as_many_questions_as_asked_for() -> None:
    assert len(bench_questions(7, 30)) == 30
    assert len(set(bench_questions(1_000, 200))) > 150
    assert all(question.endswith(("？", "?")) for question in bench_questions(400, 100))
