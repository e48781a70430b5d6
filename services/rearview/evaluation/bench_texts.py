"""What benchmarks store and ask: distinct, sensible turns, half Chinese and half English, the same at each run."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files

import yaml

from rearview.client import Turn

TURNS_PER_SESSION = 10
"""Sessions take turns in Chinese and in English."""

_FIRST_DAY = datetime(2024, 1, 1, 8, tzinfo=UTC)
_DAYS = 500
_MINUTES_BETWEEN_SESSIONS = 97
_SECONDS_BETWEEN_TURNS = 40
_MONTH_DAYS = (3, 8, 12, 17, 21, 26)
_NUMBERS = [str(number) for number in range(1_100, 99_000, 370)]


@dataclass(frozen=True, slots=True)
class BenchSession:
    """A session's name, its turns, and for each of them a question that it answers."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A statement with gaps, and a question that it answers."""

    statement: str
    question: str


@dataclass(frozen=True, slots=True)
class _Words:
    """What goes into the gaps of one language's statements."""

    kinds: Sequence[_Kind]
    gaps: Mapping[str, Sequence[str]]


@cache
def _languages() -> tuple[_Words, _Words]:
    """Return what fills Chinese and English statements."""
    content = yaml.safe_load((files("rearview.evaluation") / "data" / "bench_texts.yaml").read_text(encoding="utf-8"))
    days = {
        "zh": [f"{month}月{day}日" for month in range(1, 13) for day in _MONTH_DAYS],
        "en": [f"{name} {day}" for name in content["months"] for day in _MONTH_DAYS],
    }
    zh, en = (
        _Words(
            [_Kind(**kind) for kind in content[language]["kinds"]],
            {**content[language]["words"], "day": days[language], "number": _NUMBERS},
        )
        for language in ("zh", "en")
    )
    return zh, en


def bench_sessions(turns: int, *, seed: int = 0) -> Iterator[BenchSession]:
    """Yield sessions with `turns` turns in all, no two of them alike."""
    said: set[str] = set()
    for number, start in enumerate(range(0, turns, TURNS_PER_SESSION)):
        begins = _FIRST_DAY + timedelta(minutes=number * _MINUTES_BETWEEN_SESSIONS % (_DAYS * 24 * 60))
        made, questions = [], []
        for at in range(min(TURNS_PER_SESSION, turns - start)):
            statement, question = _distinct(number, start + at, seed, said)
            made.append(Turn("user", statement, occurred_at=begins + timedelta(seconds=at * _SECONDS_BETWEEN_TURNS)))
            questions.append(question)
        yield BenchSession(f"bench-{seed}-{number}", tuple(made), tuple(questions))


def bench_questions(turns: int, count: int, *, seed: int = 0) -> list[str]:
    """Return `count` questions, spread over what `bench_sessions(turns)` says."""
    asked = [question for session in bench_sessions(turns, seed=seed) for question in session.questions]
    return [asked[place * turns // count % turns] for place in range(count)]


def _distinct(session: int, turn: int, seed: int, said: set[str]) -> tuple[str, str]:
    """Return a statement that was not said yet, and its question."""
    words = _languages()[session % 2]
    chance = random.Random(f"{seed}/{turn}")
    while True:
        kind = chance.choice(words.kinds)
        gaps = {name: chance.choice(values) for name, values in words.gaps.items()}
        statement = kind.statement.format_map(gaps)
        if statement not in said:
            said.add(statement)
            return statement, kind.question.format_map(gaps)
