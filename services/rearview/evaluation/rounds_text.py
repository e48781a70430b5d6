"""A thousand rounds of dialogue in two languages, made from templates and a seed, and what is asked about them.

Every person has a value of every attribute, so each answer stands among many that differ in one word alone.
"""

import random
from calendar import month_name
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import yaml

from rearview.client import Turn

HALVES = ("tuning", "held_out")
KINDS = ("single_fact", "changed_fact", "time_range", "exact_id", "across_languages", "several_sessions")
QUESTIONS_A_KIND = {"single_fact": 40, "changed_fact": 35, "time_range": 30, "exact_id": 35, "across_languages": 35}
QUESTIONS_A_KIND["several_sessions"] = 25
ROUNDS, ROUNDS_A_SESSION = 1_000, 10
IDS_A_HALF, MONTHS_A_PERSON, RETRACTIONS = 450, 7, 40
SMALL_TALK_SHARE = 0.1
FIRST_DAY = datetime(2025, 1, 2, 9, tzinfo=UTC)
DAYS_BETWEEN_SESSIONS = 3.6
ENDED_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The "now" of the questions."""

_ZH, _EN = 0, 1


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said in a round, and at which of the sessions at the earliest and the latest."""

    key: int
    text: str
    first_session: int = 0
    last_session: int = ROUNDS // ROUNDS_A_SESSION - 1


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the statements (by key) that answer it, and those that no longer hold."""

    kind: str
    half: str
    text: str
    evidence: tuple[int, ...]
    outdated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """Turns with the statements that they make; None for what is only polite."""

    name: str
    turns: tuple[Turn, ...]
    keys: tuple[int | None, ...]


def make_rounds(seed: int = 0) -> tuple[list[Session], list[Question]]:
    """Return the sessions and the questions, the same for the same seed."""
    content = yaml.safe_load((files("rearview.evaluation") / "data" / "rounds.yaml").read_text(encoding="utf-8"))
    maker = _Maker(content, random.Random(seed))
    for half in HALVES:
        maker.attributes(half)
        maker.changes(half)
        maker.outings(half)
        maker.ids(half)
        maker.sets(half)
    maker.retractions()
    return list(maker.sessions()), maker.chosen()


class _Maker:
    """Makes statements, and for each the questions that could be asked about it."""

    def __init__(self, content: Mapping[str, Any], chance: random.Random) -> None:
        self._content, self._chance = content, chance
        self._people: list[str] = content["people"]
        self._statements: list[Statement] = []
        self._questions: list[Question] = []

    def attributes(self, half: str) -> None:
        for topic in self._content[half]["attributes"]:
            for who in self._people:
                value = self._chance.choice(topic["values"])
                language = self._chance.choice((_ZH, _EN))
                mixed = self._chance.random() < 0.25
                template = topic["mixed"] if mixed else topic["say"][language]
                said = self._say(template.format(who=who, value=value[language]))
                if not mixed:
                    self._ask("single_fact", half, topic["ask"][language].format(who=who), [said])
                    self._ask("across_languages", half, topic["ask"][1 - language].format(who=who), [said])

    def changes(self, half: str) -> None:
        half_of_sessions = ROUNDS // ROUNDS_A_SESSION // 2
        for topic in self._content[half]["changes"]:
            for who in self._people:
                before, after = self._chance.sample(topic["values"], 2)
                first, second, asked = self._chance.choices((_ZH, _EN), k=3)
                old = self._say(topic["say"][first].format(who=who, value=before[first]), last=half_of_sessions - 1)
                new = self._say(topic["change"][second].format(who=who, value=after[second]), first=half_of_sessions)
                self._ask("changed_fact", half, topic["ask"][asked].format(who=who), [new], [old])

    def outings(self, half: str) -> None:
        topic = self._content[half]["outings"]
        for who in self._people:
            months = self._chance.sample(range(12), MONTHS_A_PERSON)
            for month, value in zip(months, self._chance.sample(topic["values"], MONTHS_A_PERSON), strict=True):
                language = self._chance.choice((_ZH, _EN))
                sessions = [at for at in range(ROUNDS // ROUNDS_A_SESSION) if _day_of(at).month == month + 1]
                text = topic["say"][language].format(who=who, value=value[language])
                said = self._say(text, first=sessions[0], last=sessions[-1])
                named = f"2025年{month + 1}月" if language == _ZH else f"{month_name[month + 1]} 2025"
                self._ask("time_range", half, topic["ask"][language].format(who=who, month=named), [said])

    def ids(self, half: str) -> None:
        topic = self._content[half]["ids"]
        for number in self._chance.sample(range(10_000, 99_999), IDS_A_HALF):
            value, language = self._chance.choice(topic["values"]), self._chance.choice((_ZH, _EN))
            name = f"{topic['prefix']}-{number}"
            said = self._say(topic["say"][language].format(id=name, value=value[language]))
            self._ask("exact_id", half, topic["ask"][language].format(id=name), [said])

    def sets(self, half: str) -> None:
        """Three or four values that hold together, said in different thirds or quarters of the year."""
        topic = self._content[half]["sets"]
        for who in self._people:
            values = self._chance.sample(topic["values"], self._chance.choice((3, 4)))
            sessions = ROUNDS // ROUNDS_A_SESSION // len(values)
            said = []
            for at, value in enumerate(values):
                language = self._chance.choice((_ZH, _EN))
                text = topic["say"][language].format(who=who, value=value[language])
                said.append(self._say(text, first=at * sessions, last=(at + 1) * sessions - 1))
            self._ask("several_sessions", half, self._chance.choice(topic["ask"]).format(who=who), said)

    def retractions(self) -> None:
        for _ in range(RETRACTIONS):
            self._say(self._chance.choice(self._content["retraction"]).format(who=self._chance.choice(self._people)))

    def chosen(self) -> list[Question]:
        """Return as many questions of each kind as are asked, half of them from each half of the templates; no
        statement is asked for in two kinds."""
        asked: set[int] = set()
        chosen = []
        self._chance.shuffle(self._questions)
        for kind in KINDS:
            for half, share in zip(HALVES, (QUESTIONS_A_KIND[kind] + 1, QUESTIONS_A_KIND[kind]), strict=True):
                own = [one for one in self._questions if (one.kind, one.half) == (kind, half)]
                fresh = [one for one in own if asked.isdisjoint(one.evidence)][: share // 2]
                asked.update(key for one in fresh for key in one.evidence)
                chosen += fresh
        return chosen

    def sessions(self) -> Iterator[Session]:
        """Yield the statements in rounds of two or three, each round with an answer of the assistant's."""
        for number, statements in enumerate(self._placed()):
            turns: list[Turn] = []
            keys: list[int | None] = []
            begins = _day_of(number)
            for start in range(ROUNDS_A_SESSION):
                said = statements[start::ROUNDS_A_SESSION]
                turns += [Turn("user", one.text) for one in said]
                keys += [one.key for one in said]
                if self._chance.random() < SMALL_TALK_SHARE:
                    turns.append(Turn("user", self._chance.choice(self._content["small_talk"])))
                    keys.append(None)
                turns.append(Turn("assistant", self._chance.choice(self._content["acknowledgements"])))
                keys.append(None)
            dated = [replace(turn, occurred_at=begins + timedelta(minutes=minute)) for minute, turn in enumerate(turns)]
            yield Session(f"day-{number:03}", tuple(dated), tuple(keys))

    def _placed(self) -> list[list[Statement]]:
        """Spread the statements over the sessions, two or three a round: those with the least choice first."""
        sessions: list[list[Statement]] = [[] for _ in range(ROUNDS // ROUNDS_A_SESSION)]
        for one in sorted(self._statements, key=lambda one: one.last_session - one.first_session):
            least = min(len(sessions[at]) for at in range(one.first_session, one.last_session + 1))
            free = [at for at in range(one.first_session, one.last_session + 1) if len(sessions[at]) == least]
            sessions[self._chance.choice(free)].append(one)
        for statements in sessions:
            self._chance.shuffle(statements)
        return sessions

    def _say(self, text: str, *, first: int = 0, last: int = ROUNDS // ROUNDS_A_SESSION - 1) -> int:
        self._statements.append(Statement(len(self._statements), text, first, last))
        return len(self._statements) - 1

    def _ask(self, kind: str, half: str, text: str, evidence: Sequence[int], outdated: Sequence[int] = ()) -> None:
        self._questions.append(Question(kind, half, text, tuple(evidence), tuple(outdated)))


def _day_of(session: int) -> datetime:
    return FIRST_DAY + timedelta(days=session * DAYS_BETWEEN_SESSIONS)
