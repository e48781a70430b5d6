"""Redaction of everything a caller hands in, before any of it is stored, embedded or logged."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import structlog

from rearview.domain.errors import invalid_field
from rearview.domain.event import Event, ToolCall
from rearview.domain.redaction import RedactionPolicy
from rearview.domain.text import PiiCategory
from rearview.domain.writing import Remember, UpdateMemory
from rearview.ports.policies import RedactionPolicies
from rearview.ports.redactor import Naming, PayloadDepthError, Redactor, plain_name
from rearview.ports.sealing import Sealer
from rearview.redaction.known_values import KnownValues
from rearview.redaction.trees import mapped_tree

C = TypeVar("C", Remember, UpdateMemory)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RedactionParts:
    """What the writer's use cases redact with.

    Attributes:
        secret: the key of the hashes by which a session's values are known again.
        sealer: seals originals for tenants whose policy keeps them; None where no key is configured.
    """

    redactor: Redactor
    policies: RedactionPolicies
    secret: bytes
    sealer: Sealer | None = None

    def sealer_for(self, policy: RedactionPolicy) -> Sealer | None:
        """Return the sealer if the policy has originals kept; without a key they are lost, which is told."""
        if policy.vault and self.sealer is None:
            _log.error("a tenant's policy keeps originals, but no key of the vault is configured: they are not kept")
        return self.sealer if policy.vault else None


class Redaction:
    """Redacts one event, command or memory; remembers what it found, for the record of it."""

    def __init__(
        self,
        redactor: Redactor,
        categories: Collection[PiiCategory],
        naming: Naming = plain_name,
        known: KnownValues | None = None,
    ) -> None:
        """Take the parts; `known` values are replaced wherever they stand, recognised or not."""
        self._redactor = redactor
        self._categories = categories
        self._naming = naming
        self._known = known
        self._found: dict[PiiCategory, None] = {}
        self._values: dict[str, str] = {}
        self._told: dict[str, PiiCategory] = {}

    @property
    def found(self) -> tuple[str, ...]:
        """The categories found so far, in order of first appearance."""
        return tuple(category.value for category in self._found)

    @property
    def values(self) -> Mapping[str, str]:
        """What the placeholders given so far stand for, as first written."""
        return self._values

    @property
    def told(self) -> Mapping[str, PiiCategory]:
        """The values found so far, as written, with their categories."""
        return self._told

    def text(self, text: str) -> str:
        """Return the text, redacted."""
        text = self._without_known(text)
        redacted = self._redactor.redact(text, self._categories, self._name)
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
            known = mapped_tree(tree, self._without_known) if self._known else tree
            redacted, categories = self._redactor.redact_tree(dict(known), self._categories, self._name)
        except PayloadDepthError as error:
            raise invalid_field(field, str(error)) from error
        self._found |= dict.fromkeys(categories)
        return cast("Mapping[str, Any]", redacted)

    def _name(self, category: PiiCategory, value: str) -> str:
        placeholder = self._naming(category, value)
        self._values.setdefault(placeholder, value)
        self._told.setdefault(value, category)
        return placeholder

    def _without_known(self, text: str) -> str:
        return self._known.replaced(text, self._name_known) if self._known else text

    def _name_known(self, category: PiiCategory, value: str) -> str:
        self._found.setdefault(category)
        return self._name(category, value)


def redacted_event(event: Event, redaction: Redaction, field: str) -> Event:
    """Return the event with all of its texts redacted and `redactions` filled in. Raises: InvalidFields."""
    redacted = replace(
        event,
        content=redaction.text(event.content),
        speaker=redaction.text(event.speaker),
        image_caption=redaction.text(event.image_caption),
        tool_call=_redacted_call(event.tool_call, redaction, field) if event.tool_call else None,
        metadata=redaction.tree(event.metadata, f"{field}.metadata"),
    )
    return replace(redacted, redactions=redaction.found)


def redacted_memory(command: C, redaction: Redaction) -> C:
    """Return the command with all of its texts redacted. Raises: InvalidFields."""
    return replace(
        command,
        content=redaction.text(command.content),
        labels={redaction.text(key): redaction.text(value) for key, value in command.labels.items()},
        metadata=redaction.tree(command.metadata, "memory.metadata"),
        entities=tuple(redaction.text(entity) for entity in command.entities),
    )


def _redacted_call(call: ToolCall, redaction: Redaction, field: str) -> ToolCall:
    return replace(
        call,
        tool=redaction.text(call.tool),
        call_id=redaction.text(call.call_id),
        arguments=redaction.tree(call.arguments, f"{field}.tool_call.arguments"),
        result=redaction.text(call.result),
    )
