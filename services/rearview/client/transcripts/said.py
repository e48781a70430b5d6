"""What a transcript says, one turn at a time."""

import re
import uuid
from dataclasses import dataclass, replace

from rearview.client.turn import Turn

_NOT_IN_SESSIONS = re.compile(r"[^A-Za-z0-9_.:@-]+")
_LONGEST_SESSION = 128
_EVENT_IDS = uuid.UUID("3d1b0d0c-6c1e-5c0f-9d53-5f0a3f6f2d11")


@dataclass(frozen=True, slots=True)
class Said:
    """A turn and the session that it belongs to."""

    session: str
    turn: Turn


class TranscriptError(ValueError):
    """A transcript is not of its format; the message names the place."""


def numbered(session: str, number: int, turn: Turn) -> Said:
    """Return a session's turn number `number` with an id that is the same whenever the transcript is read.

    So a transcript that is appended twice is stored once.
    """
    if turn.event_id:
        return Said(session, turn)
    told = turn.tool_call.result if turn.tool_call else ""
    name = "\0".join((session, str(number), turn.role, turn.content, told))
    return Said(session, replace(turn, event_id=str(uuid.uuid5(_EVENT_IDS, name))))


def session_of(text: str) -> str:
    """Return a session's id that resembles a text."""
    return _NOT_IN_SESSIONS.sub("-", text).strip("-._:@")[:_LONGEST_SESSION] or "transcript"
