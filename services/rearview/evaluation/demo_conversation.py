"""The demo's conversation, from its data file."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

import yaml

from rearview.client import ToolCall, Turn

TURN_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """Sessions in order, by id; `now` is the moment at which the demo asks its questions."""

    user: str
    time_zone: str
    now: datetime
    sessions: dict[str, list[Turn]]

    @property
    def turn_count(self) -> int:
        """Turns in all sessions."""
        return sum(len(turns) for turns in self.sessions.values())


def load_demo_conversation() -> DemoConversation:
    """Return the conversation that ships with the package."""
    text = resources.files("rearview.evaluation").joinpath("data/demo_conversation.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    return DemoConversation(
        user=data["user"],
        time_zone=data["time_zone"],
        now=datetime.fromisoformat(data["now"]),
        sessions={
            session["id"]: [
                _turn(turn, datetime.fromisoformat(session["start"]) + TURN_INTERVAL * place, data["user"])
                for place, turn in enumerate(session["turns"])
            ]
            for session in data["sessions"]
        },
    )


def _turn(turn: dict[str, Any], said_at: datetime, user: str) -> Turn:
    ((role, content),) = turn.items()
    if role == "tool":
        call = ToolCall(tool=content["tool"], result=content["result"], arguments=content.get("arguments", {}))
        return Turn("tool", occurred_at=said_at, tool_call=call)
    return Turn(role, content, speaker=user if role == "user" else "", occurred_at=said_at)
