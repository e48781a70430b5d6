"""One group of stored texts, rewritten by the policy of today as they would have been written by it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, Original, PlaceholderKey, RedactionPolicy, Sealed
from rearview.domain.text import PiiCategory
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.rescan import RewrittenEvent, RewrittenMemory, StoredMemory, TextGroup
from rearview.redaction.draft_events import EventDrafts, with_earlier
from rearview.redaction.known_values import KnownValues
from rearview.redaction.stored_memories import redacted_stored_memory, settled_memory
from rearview.redaction.texts import Redaction, RedactionParts

EVENTS, MEMORIES = "postgres.event", "postgres.memory"


@dataclass(frozen=True, slots=True)
class _MemoryDraft:
    before: StoredMemory
    after: Memory
    redaction: Redaction


class GroupDraft:
    """Implements `ports.rescan.Rewriting`."""

    def __init__(
        self,
        parts: RedactionParts,
        policy: RedactionPolicy,
        hasher: KeywordHasher,
        bands: Callable[[str], tuple[int, ...]],
        scope: Scope,
        group: TextGroup,
    ) -> None:
        """Redact the group. Raises: InvalidFields: a payload is nested too deep."""
        self._scope = scope
        self._bands = bands
        self._sealer = parts.sealer_for(policy)
        self._group = group
        self._events = EventDrafts(parts, policy, hasher, scope, group.session_id, [one.event for one in group.events])
        told: dict[str, PiiCategory] = dict(self._events.told)
        for one in group.memories:
            look = Redaction(parts.redactor, policy.categories)
            redacted_stored_memory(one.memory, look)
            told |= look.told
        known = KnownValues(told)
        self._memories: list[_MemoryDraft] = []
        for one in group.memories:
            redaction = Redaction(parts.redactor, policy.categories, self._events.naming.name, known)
            after = redacted_stored_memory(one.memory, redaction)
            if after != one.memory:
                self._memories.append(_MemoryDraft(one, after, redaction))

    @property
    def keys(self) -> Sequence[PlaceholderKey]:
        """The values that want numbers."""
        return self._events.keys

    @property
    def counts(self) -> Mapping[str, int]:
        """How many texts there are to rewrite, by place and by category."""
        events = [logged.event.redactions for logged in self._events.events if logged.event.redactions]
        memories = [draft.redaction.found for draft in self._memories]
        return +Counter(
            {EVENTS: len(events), MEMORIES: len(memories)}
            | Counter(category for found in (*events, *memories) for category in found)
        )

    def numbered(self, numbers: Numbers) -> tuple[Sequence[RewrittenEvent], Sequence[RewrittenMemory]]:
        """Return what changes, with numbered placeholders, and what it said before sealed where that is kept."""
        settle = self._events.naming.settle(numbers)
        before = {one.event.event_id: one for one in self._group.events}
        kept = {
            one: original
            for one, stored in before.items()
            if (original := self._opened(one, stored.original)) is not None
        }
        events = []
        for logged in self._events.numbered(numbers, kept):
            if logged.event.redactions:
                earlier = before[logged.event.event_id].event
                event = replace(logged.event, redactions=_all(earlier, logged.event))
                events.append(RewrittenEvent(replace(logged, event=event), self._bands(event.searchable_text)))
        memories = []
        for draft in self._memories:
            memory = settled_memory(draft.after, settle)
            values = {settle(name): value for name, value in draft.redaction.values.items()}
            memories.append(RewrittenMemory(memory, self._sealed(draft.before, values)))
        return events, memories

    def _sealed(self, before: StoredMemory, values: Mapping[str, str]) -> Sealed | None:
        if self._sealer is None:
            return None
        memory_id = before.memory.memory_id
        whole = with_earlier(Original(before.memory.content, values), self._opened(memory_id, before.original))
        return self._sealer.seal(self._scope.tenant_id, memory_id, whole)

    def _opened(self, resource_id: UUID, sealed: Sealed | None) -> Original | None:
        if sealed is None or self._sealer is None:
            return None
        return self._sealer.open(self._scope.tenant_id, resource_id, sealed)


def _all(earlier: Event, later: Event) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*earlier.redactions, *later.redactions]))
