"""Redaction of everything a caller hands in, before any of it is stored, embedded or logged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from rearview.domain.errors import invalid_field
from rearview.domain.event import Event, ToolCall
from rearview.domain.text import PiiCategory
from rearview.domain.writing import Remember, UpdateMemory
from rearview.ports.redactor import PayloadDepthError, Redactor

C = TypeVar("C", Remember, UpdateMemory)

CATEGORIES = frozenset(PiiCategory)
"""All of them, for every tenant: redaction is closed by default."""


class Redaction:
    """Redacts one command; remembers which categories it found, for the record of it."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._found: dict[PiiCategory, None] = {}

    @property
    def found(self) -> tuple[str, ...]:
        """The categories found so far, in order of first appearance."""
        return tuple(category.value for category in self._found)

    def text(self, text: str) -> str:
        """Return the text, redacted."""
        redacted = self._redactor.redact(text, CATEGORIES)
        self._found |= dict.fromkeys(redacted.categories)
        return redacted.text

    def tree(self, tree: Mapping[str, Any], field: str) -> Mapping[str, Any]:
        """Return the payload with keys and values redacted.

        Raises:
            InvalidFields: it is nested too deep to be redacted.
        """
        if not tree:
            return tree
        try:
            redacted, categories = self._redactor.redact_tree(dict(tree), CATEGORIES)
        except PayloadDepthError as error:
            raise invalid_field(field, str(error)) from error
        self._found |= dict.fromkeys(categories)
        return cast("Mapping[str, Any]", redacted)


def redacted_event(event: Event, redactor: Redactor, field: str) -> Event:
    """Return the event with all of its texts redacted and `redactions` filled in. Raises: InvalidFields."""
    redaction = Redaction(redactor)
    redacted = replace(
        event,
        content=redaction.text(event.content),
        speaker=redaction.text(event.speaker),
        image_caption=redaction.text(event.image_caption),
        tool_call=_redacted_call(event.tool_call, redaction, field) if event.tool_call else None,
        metadata=redaction.tree(event.metadata, f"{field}.metadata"),
    )
    return replace(redacted, redactions=redaction.found)


def redacted_memory(command: C, redactor: Redactor) -> tuple[C, tuple[str, ...]]:
    """Return the command with all of its texts redacted, and the categories found. Raises: InvalidFields."""
    redaction = Redaction(redactor)
    redacted = replace(
        command,
        content=redaction.text(command.content),
        labels={redaction.text(key): redaction.text(value) for key, value in command.labels.items()},
        metadata=redaction.tree(command.metadata, "memory.metadata"),
        entities=tuple(redaction.text(entity) for entity in command.entities),
    )
    return redacted, redaction.found


def _redacted_call(call: ToolCall, redaction: Redaction, field: str) -> ToolCall:
    return replace(
        call,
        tool=redaction.text(call.tool),
        call_id=redaction.text(call.call_id),
        arguments=redaction.tree(call.arguments, f"{field}.tool_call.arguments"),
        result=redaction.text(call.result),
    )
