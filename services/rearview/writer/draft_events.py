"""Events ready to be stored but for the numbers of their placeholders, which the session's transaction gives."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.keyword_bag import MAX_OWN_TOKENS
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, Original, PlaceholderKey, RedactionPolicy
from rearview.domain.writing import AppendEvents
from rearview.ports.event_log import LoggedEvent
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.writer.placeholders import SessionNaming, settled_event
from rearview.writer.redaction import Redaction, RedactionParts, redacted_event


class EventDrafts:
    """The events of one append, redacted under provisional placeholders. Implements `ports.event_log.Numbering`."""

    def __init__(
        self,
        parts: RedactionParts,
        policy: RedactionPolicy,
        hasher: KeywordHasher,
        scope: Scope,
        command: AppendEvents,
    ) -> None:
        """Redact the events. Raises: InvalidFields: a payload is nested too deep."""
        self._scope = scope
        self._sealer = parts.sealer_for(policy)
        self._naming = SessionNaming(parts.secret, parts.redactor, scope, command.session_id)
        self._originals: dict[UUID, Original] = {}
        redacted: list[Event] = []
        for at, event in enumerate(command.events):
            redaction = Redaction(parts.redactor, policy.categories, self._naming.name)
            redacted.append(redacted_event(event, redaction, f"events[{at}]"))
            if redaction.found and self._sealer is not None:
                self._originals[event.event_id] = Original(event.content, redaction.values)
        # Words that find a turn say what kind of value stands in it, not which.
        plain = self._naming.settle({})
        plain_keywords = [settled_event(event, plain) if event.redactions else event for event in redacted]
        self.events: Sequence[LoggedEvent] = [
            LoggedEvent(event, hasher.keywords(scope.namespace_id, _searched(words))[:MAX_OWN_TOKENS])
            for event, words in zip(redacted, plain_keywords, strict=True)
        ]

    @property
    def keys(self) -> Sequence[PlaceholderKey]:
        """The values that want numbers."""
        return self._naming.keys

    def numbered(self, numbers: Numbers) -> Sequence[LoggedEvent]:
        """Return the events as they are stored, with what is kept of them sealed."""
        settle = self._naming.settle(numbers)
        final = []
        for logged in self.events:
            event = logged.event
            if not event.redactions:
                final.append(logged)
                continue
            original = self._originals.get(event.event_id)
            sealed = None
            if original is not None and self._sealer is not None:
                values = {settle(name): value for name, value in original.values.items()}
                sealed = self._sealer.seal(self._scope.tenant_id, event.event_id, Original(original.content, values))
            final.append(replace(logged, event=settled_event(event, settle), original=sealed))
        return final


def _searched(event: Event) -> str:
    return f"{event.speaker} {event.searchable_text}"
