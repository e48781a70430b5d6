"""Events ready to be stored but for the numbers of their placeholders, which the session's transaction gives."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.keyword_bag import MAX_OWN_TOKENS
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, Original, PlaceholderKey, RedactionPolicy
from rearview.domain.text import PiiCategory
from rearview.ports.event_log import LoggedEvent
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.redaction.placeholders import SessionNaming, settled_event
from rearview.redaction.texts import Redaction, RedactionParts, redacted_event

NOTHING_KEPT: Mapping[UUID, Original] = {}


class EventDrafts:
    """Events of one session, redacted under provisional placeholders. Implements `ports.event_log.Numbering`."""

    def __init__(
        self,
        parts: RedactionParts,
        policy: RedactionPolicy,
        hasher: KeywordHasher,
        scope: Scope,
        session_id: str,
        given: Sequence[Event],
    ) -> None:
        """Redact the events. Raises: InvalidFields: a payload is nested too deep."""
        self._scope = scope
        self._sealer = parts.sealer_for(policy)
        self._naming = SessionNaming(parts.secret, parts.redactor, scope, session_id)
        self._originals: dict[UUID, Original] = {}
        self._told: dict[str, PiiCategory] = {}
        redacted: list[Event] = []
        for at, event in enumerate(given):
            redaction = Redaction(parts.redactor, policy.categories, self._naming.name)
            redacted.append(redacted_event(event, redaction, f"events[{at}]"))
            self._told |= redaction.told
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
    def naming(self) -> SessionNaming:
        """What names the session's values."""
        return self._naming

    @property
    def told(self) -> Mapping[str, PiiCategory]:
        """The values that were found, as written, with their categories."""
        return self._told

    @property
    def keys(self) -> Sequence[PlaceholderKey]:
        """The values that want numbers."""
        return self._naming.keys

    def numbered(self, numbers: Numbers, kept: Mapping[UUID, Original] = NOTHING_KEPT) -> Sequence[LoggedEvent]:
        """Return the events as they are stored, with what is kept of them sealed: what they said before they were
        redacted for the first time, where that is `kept` already."""
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
                whole = with_earlier(Original(original.content, values), kept.get(event.event_id))
                sealed = self._sealer.seal(self._scope.tenant_id, event.event_id, whole)
            final.append(replace(logged, event=settled_event(event, settle), original=sealed))
        return final


def _searched(event: Event) -> str:
    return f"{event.speaker} {event.searchable_text}"


def with_earlier(original: Original, earlier: Original | None) -> Original:
    """Return what a text said before it was redacted the first time, with all that its placeholders stand for."""
    if earlier is None:
        return original
    return Original(earlier.content, {**original.values, **earlier.values})
