"""Reading MADial-Bench: memories with emotion and date, and dialogues that should bring some of them back.

Source of the format: He et al., "MADial-Bench: Towards Real-world Evaluation of Memory-Augmented Dialogue
Generation", 2025.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rearview.domain.text import Language

_TURN = re.compile(r"^<(?P<speaker>[^>]+)>\s*[:：]\s*(?P<text>.*)$", re.DOTALL)
ASSISTANT = "Assistant"


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory of a user, in one language."""

    number: int
    user: int
    text: str
    emotion: str
    scene: str
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The turns before the reply under test, oldest first, as (is assistant, text), and the memories it needs."""

    user: int
    language: Language
    turns: tuple[tuple[bool, str], ...]
    relevant: frozenset[int]


@dataclass(frozen=True, slots=True)
class Madial:
    """Memories by language and number, and dialogues; every number of English stands in Chinese too."""

    statements: dict[Language, dict[int, Statement]]
    dialogues: tuple[Dialogue, ...]


def read_madial(folder: Path) -> Madial:
    """Return what `memories_{zh,en}.jsonl` and `dialogues_{zh,en}_*.jsonl` of the folder hold.

    English memories carry no user; they take that of the Chinese memory of the same number.

    Raises:
        ValueError: a file is missing or of another format.
    """
    chinese = _memories(folder / "memories_zh.jsonl")
    english = _memories(folder / "memories_en.jsonl")
    users = {number: int(entry["user-id"]) for number, entry in chinese.items()}
    statements = {
        Language.ZH: {n: _statement(n, users[n], e) for n, e in chinese.items()},
        Language.EN: {n: _statement(n, users[n], e) for n, e in english.items() if n in users},
    }
    dialogues = [
        dialogue
        for language in (Language.ZH, Language.EN)
        for file in sorted(folder.glob(f"dialogues_{language}_*.jsonl"))
        for entry in _lines(file)
        for dialogue in _dialogues(entry, language, frozenset(statements[language]))
    ]
    if not dialogues:
        raise ValueError(f"{folder} holds no dialogues_zh_*.jsonl or dialogues_en_*.jsonl")
    return Madial(statements, tuple(dialogues))


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        raise ValueError(f"{file} is missing")
    try:
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise ValueError(f"{file} is not JSON Lines: {error}") from error


def _memories(file: Path) -> dict[int, dict[str, Any]]:
    return {int(number): entry for line in _lines(file) for number, entry in line.items()}


def _statement(number: int, user: int, entry: dict[str, Any]) -> Statement:
    return Statement(
        number=number,
        user=user,
        text=str(entry["event"]),
        emotion=str(entry.get("emotion", "")),
        scene=str(entry.get("scene", "")),
        happened_at=_day(str(entry.get("time", ""))),
    )


def _day(text: str) -> datetime:
    match = re.search(r"(\d{4})-(\d{1,2})-(\d{1,2})", text)
    if not match:
        return datetime(2023, 1, 1, tzinfo=UTC)
    return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)


def _dialogues(entry: dict[str, Any], language: Language, known: frozenset[int]) -> list[Dialogue]:
    relevant = frozenset(int(number) for number in entry["relevant-id"]) & known
    turns = [_turn(text) for text in entry["dialogue"]]
    return [
        Dialogue(int(entry["user-id"]), language, tuple(turn for turn in turns[:place] if turn), relevant)
        for place in entry["test-turn"]
        if relevant and any(turns[:place])
    ]


def _turn(text: str) -> tuple[bool, str] | None:
    match = _TURN.match(text.strip())
    if not match or not match["text"].strip(' "“”\n'):
        return None
    return match["speaker"].strip() == ASSISTANT, match["text"].strip(' "“”\n')
