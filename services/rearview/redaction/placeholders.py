"""Placeholders that are numbered inside a session, so that a text still says which value is meant."""

import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import replace

from rearview.domain.event import Event
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, PlaceholderKey
from rearview.domain.text import PiiCategory
from rearview.ports.redactor import Redactor
from rearview.redaction.trees import mapped_tree

_DIGEST_BYTES = 16
_PURPOSE = b"rearview placeholder 1\0"
_WORD_BYTES = 8
_PROVISIONAL = re.compile(rf"\[[A-Z_]+_([0-9a-f]{{{2 * _WORD_BYTES}}})x([0-9]+)\]")

Settle = Callable[[str], str]
"""Puts the final placeholders into a text in the place of provisional ones."""


class SessionNaming:
    """Names the values of one session's texts before their numbers are known.

    A provisional name carries a random word, so that no text a caller hands in can look like one. The same value, in
    whatever spelling, has the same name.
    """

    def __init__(self, secret: bytes, redactor: Redactor, scope: Scope, session_id: str) -> None:
        # A key of the session's own: what its table holds says nothing of values in other sessions, nor of any value
        # to whoever has the database alone.
        place = scope.tenant_id.bytes + scope.namespace_id.bytes + session_id.encode()
        self._key = hmac.digest(secret, _PURPOSE + place, "sha256")
        self._redactor = redactor
        self._word = secrets.token_hex(_WORD_BYTES)
        self._places: dict[PlaceholderKey, int] = {}

    @property
    def keys(self) -> tuple[PlaceholderKey, ...]:
        """The values named so far, in order of first appearance."""
        return tuple(self._places)

    def name(self, category: PiiCategory, value: str) -> str:
        """Return the provisional placeholder of a value."""
        normal = f"{category.value}\0{self._redactor.normal(category, value)}"
        key = PlaceholderKey(category, hmac.digest(self._key, normal.encode(), "sha256")[:_DIGEST_BYTES])
        return f"[{category.value}_{self._word}x{self._places.setdefault(key, len(self._places))}]"

    def settle(self, numbers: Numbers) -> Settle:
        """Return what puts numbered placeholders into texts; plain ones for values that have no number."""
        final = [
            key.category.numbered(numbers[key]) if key in numbers else key.category.placeholder for key in self._places
        ]
        word = self._word

        def placed(match: re.Match[str]) -> str:
            return final[int(match[2])] if match[1] == word else match[0]

        return lambda text: _PROVISIONAL.sub(placed, text) if word in text else text


def settled_event(event: Event, settle: Settle) -> Event:
    """Return the event with the final placeholders in all of its texts."""
    call = event.tool_call
    return replace(
        event,
        content=settle(event.content),
        speaker=settle(event.speaker),
        image_caption=settle(event.image_caption),
        tool_call=replace(
            call,
            tool=settle(call.tool),
            call_id=settle(call.call_id),
            arguments=mapped_tree(call.arguments, settle),
            result=settle(call.result),
        )
        if call
        else None,
        metadata=mapped_tree(event.metadata, settle),
    )
