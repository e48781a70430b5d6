"""Reading LoCoMo: very long two-person conversations with questions and the turns that answer them.

Source of the format: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.client import Turn as ClientTurn
from rearview.client.transcripts import Said
from rearview.client.transcripts.said import numbered, session_of

_TURN = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"
# Turns carry no time of their own; sessions do. Turns of a session are set this far apart.
TURN_INTERVAL = timedelta(seconds=20)
EVALUATED_CATEGORIES = frozenset({1, 2, 3, 4})


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn; `turn_id` is the file's `D1:3`."""

    turn_id: str
    speaker: str
    text: str
    image_caption: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sessions in order, each a list of turns, and the moment after the last of them."""

    name: str
    sessions: tuple[tuple[str, tuple[Turn, ...]], ...]

    @property
    def ended_at(self) -> datetime:
        """A day after the last turn: the moment at which the questions are asked."""
        return max(turn.said_at for _, turns in self.sessions for turn in turns) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it."""

    conversation: int
    text: str
    category: int
    evidence: frozenset[str]


def read_locomo(file: Path, corrections: Path | None = None) -> tuple[list[Conversation], list[Question]]:
    """Return the conversations and the questions of categories 1 to 4 that name evidence present in the file.

    `corrections` replaces the evidence of questions whose gold was found wrong; its keys are zero-based
    (`locomo_0_qa1` is conversation 0, question 1).

    Raises:
        ValueError: the file is not of this format; the message says where.
    """
    data = _load(file)
    corrected = _corrections(corrections) if corrections else {}
    conversations: list[Conversation] = []
    questions: list[Question] = []
    for number, sample in enumerate(data):
        try:
            conversation = _conversation(sample)
            known = {turn.turn_id for _, turns in conversation.sessions for turn in turns}
            for index, entry in enumerate(sample["qa"]):
                cited = corrected.get((number, index)) or frozenset(_turn_ids(entry.get("evidence", [])))
                evidence = frozenset(cited & known)
                if int(entry["category"]) in EVALUATED_CATEGORIES and evidence:
                    questions.append(Question(number, str(entry["question"]), int(entry["category"]), evidence))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file}: conversation {number} is not of the LoCoMo format: {error!r}") from error
        conversations.append(conversation)
    return conversations, questions


def client_turn(turn: Turn) -> ClientTurn:
    """Return a turn as it is appended. Both speakers are people: neither is anybody's assistant."""
    return ClientTurn("user", turn.text or "...", turn.speaker, turn.said_at, None, turn.image_caption)


def read_locomo_turns(file: Path) -> Iterator[Said]:
    """Yield the turns of all conversations; a session is named by its conversation and its number.

    Raises:
        ValueError: as of `read_locomo`.
    """
    for conversation in read_locomo(file)[0]:
        for name, turns in conversation.sessions:
            session = session_of(f"{conversation.name}-{name}")
            for number, turn in enumerate(turns, 1):
                yield numbered(session, number, client_turn(turn))


def _load(file: Path) -> list[dict[str, Any]]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{file} is not JSON: {error}") from error
    if not isinstance(data, list) or not data:
        raise ValueError(f"{file} is not of the LoCoMo format: expected a list of conversations")
    return data


def _corrections(file: Path) -> dict[tuple[int, int], frozenset[str]]:
    corrected: dict[tuple[int, int], frozenset[str]] = {}
    for entry in _load(file):
        match = re.fullmatch(r"locomo_(\d+)_qa(\d+)", str(entry.get("question_id", "")))
        if not match:
            raise ValueError(f"{file}: question_id {entry.get('question_id')!r} is not of the form locomo_0_qa1")
        evidence = frozenset(_turn_ids(entry.get("correct_evidence") or []))
        if evidence:
            corrected[int(match[1]), int(match[2])] = evidence
    return corrected


def _turn_ids(texts: list[str]) -> list[str]:
    # The file's evidence is written by hand: "D8:6; D9:17", "D30:05".
    return [f"D{int(session)}:{int(turn)}" for text in texts for session, turn in _TURN.findall(str(text))]


def _conversation(sample: dict[str, Any]) -> Conversation:
    content = sample["conversation"]
    numbers = sorted(int(m[1]) for key in content if (m := _SESSION.fullmatch(key)))
    sessions = []
    for number in numbers:
        started_at = datetime.strptime(content[f"session_{number}_date_time"], _TIME_FORMAT).replace(tzinfo=UTC)
        turns = tuple(
            Turn(
                turn_id=str(turn["dia_id"]),
                speaker=str(turn["speaker"]),
                text=str(turn.get("text") or ""),
                image_caption=str(turn.get("blip_caption") or ""),
                said_at=started_at + TURN_INTERVAL * place,
            )
            for place, turn in enumerate(content[f"session_{number}"])
        )
        if turns:
            sessions.append((f"session-{number}", turns))
    return Conversation(str(sample.get("sample_id", "conversation")), tuple(sessions))
