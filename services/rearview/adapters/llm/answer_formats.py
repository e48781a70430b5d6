"""How strictly an endpoint can be asked for JSON; what it refuses once is not asked of it again."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class AnswerFormat(IntEnum):
    """From the strictest to the one that every endpoint has."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    TEXT = 2

    @property
    def looser(self) -> "AnswerFormat | None":
        """The next one to ask for when this one is refused."""
        return AnswerFormat(self + 1) if self is not AnswerFormat.TEXT else None

    def option(self, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the request's `response_format`, None for none."""
        match self:
            case AnswerFormat.JSON_SCHEMA:
                return {
                    "type": "json_schema",
                    "json_schema": {"name": "turn_readings", "strict": True, "schema": dict(schema)},
                }
            case AnswerFormat.JSON_OBJECT:
                return {"type": "json_object"}
            case AnswerFormat.TEXT:
                return None


class AcceptedFormat:
    """The strictest format that the endpoint was not seen to refuse, for the life of the process."""

    def __init__(self) -> None:
        self.current = AnswerFormat.JSON_SCHEMA

    def accepted(self, accepted: AnswerFormat) -> None:
        """Remember what worked. A refusal alone proves nothing: the request may have been at fault."""
        self.current = max(self.current, accepted)
