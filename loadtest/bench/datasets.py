"""What is kept and asked, in the words of `Contender`: LoCoMo, MADial-Bench, and made-up turns for times."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from loadtest.bench.contender import Item, Query
from rearview.domain.text import Language
from rearview.evaluation.bench_texts import bench_questions, bench_sessions
from rearview.evaluation.locomo_file import read_locomo
from rearview.evaluation.madial_files import read_madial

MOST_TURNS_OF_A_DIALOGUE = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the space it is asked in, and the source ids that answer it (none where only the time counts)."""

    space: str
    query: Query
    relevant: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items by space, and what is asked of them."""

    spaces: dict[str, list[Item]]
    asked: list[Asked]

    @property
    def size(self) -> int:
        """How many items there are."""
        return sum(map(len, self.spaces.values()))


def locomo(file: Path, corrections: Path | None) -> Dataset:
    """Return the conversations, each a space, and the questions of categories 1 to 4, as `rearview eval locomo` does.

    Raises:
        ValueError: as of `read_locomo`.
    """
    conversations, questions = read_locomo(file, corrections)
    spaces = {
        f"locomo-{number}": [
            Item(turn.turn_id, turn.text, session, turn.speaker, turn.said_at.isoformat(), turn.image_caption)
            for session, turns in conversation.sessions
            for turn in turns
        ]
        for number, conversation in enumerate(conversations)
    }
    asked_at = [conversation.ended_at.isoformat() for conversation in conversations]
    asked = [
        Asked(f"locomo-{q.conversation}", Query(q.text, asked_at=asked_at[q.conversation]), q.evidence)
        for q in questions
    ]
    return Dataset(spaces, asked)


def madial(folder: Path, language: Language) -> Dataset:
    """Return a language's memories, each user's a space, and its dialogues, as `rearview eval madial` does.

    Raises:
        ValueError: as of `read_madial`.
    """
    data = read_madial(folder)
    spaces: dict[str, list[Item]] = {}
    for statement in data.statements[language].values():
        labels = {"emotion": statement.emotion, "scene": statement.scene}
        spaces.setdefault(f"madial-{language}-{statement.user}", []).append(
            Item(str(statement.number), statement.text, said_at=statement.happened_at.isoformat(), labels=labels)
        )
    asked = [
        Asked(
            f"madial-{language}-{dialogue.user}",
            Query(
                dialogue=tuple(
                    ("assistant" if mine else "user", text) for mine, text in dialogue.turns[-MOST_TURNS_OF_A_DIALOGUE:]
                )
            ),
            frozenset(map(str, dialogue.relevant)),
        )
        for dialogue in data.dialogues
        if dialogue.language is language
    ]
    return Dataset(spaces, asked)


def made_up(space: str, turns: int, questions: int) -> Dataset:
    """Return made-up turns, half Chinese, half English, in one space, and questions about them."""
    items = [
        Item(f"{session.name}:{place}", turn.content, session.name, turn.speaker, _iso(turn.occurred_at))
        for session in bench_sessions(turns)
        for place, turn in enumerate(session.turns)
    ]
    return Dataset({space: items}, [Asked(space, Query(text)) for text in _distinct(bench_questions(turns, questions))])


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment is not None else ""
