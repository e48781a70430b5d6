"""Appending turns: redacted, stored, put into working memory, then acknowledged.

No model runs on this path, unless the tenant's policy has names redacted."""

import asyncio
from contextlib import suppress

from rearview.domain.capture import rated
from rearview.domain.errors import Unavailable
from rearview.domain.event import Event, WorkingTurn
from rearview.domain.importance import importance
from rearview.domain.principal import Scope
from rearview.domain.redaction import RedactionPolicy
from rearview.domain.writing import AppendEvents
from rearview.ports.clock import Clock
from rearview.ports.event_log import EventLog
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.turn_reading import ReadSignals
from rearview.ports.working_memory import SessionKey, WorkingMemory
from rearview.redaction.draft_events import EventDrafts
from rearview.redaction.texts import RedactionParts

OFFLOAD_ABOVE_CHARACTERS = 4_000
"""Longer appends are read in a thread, so that other calls do not wait for them."""


class EventAppender:
    """The use case of `AppendEvents`."""

    def __init__(
        self,
        log: EventLog,
        working_memory: WorkingMemory,
        redaction: RedactionParts,
        hasher: KeywordHasher,
        read_signals: ReadSignals,
        clock: Clock,
    ) -> None:
        self._log = log
        self._working_memory = working_memory
        self._redaction = redaction
        self._hasher = hasher
        self._read_signals = read_signals
        self._clock = clock

    async def append(self, scope: Scope, command: AppendEvents) -> tuple[Event, ...]:
        """Store turns and return them as stored, in the order of the command.

        When it returns they survive any crash. Working memory has them too, unless it is away, which costs nothing
        that is acknowledged.

        Raises:
            InvalidFields: a payload is nested too deep.
            RequestIdReused, AlreadyExists, PreconditionFailed, Unavailable: see `EventLog.append`.
        """
        policy = await self._redaction.policies.redaction(scope.tenant_id)
        size = sum(len(event.content) + len(event.searchable_text) for event in command.events)
        if size > OFFLOAD_ABOVE_CHARACTERS or policy.needs_models:
            drafts = await asyncio.to_thread(self._drafts, scope, command, policy)
        else:
            drafts = self._drafts(scope, command, policy)
        appended = await self._log.append(
            scope,
            command.session_id,
            drafts.events,
            request=command.request,
            now=self._clock.now(),
            numbering=drafts if drafts.keys else None,
        )
        session = SessionKey(scope.tenant_id, scope.namespace_id, command.session_id)
        with suppress(Unavailable):
            # Repeated requests too: the first may have died between the log and working memory.
            await self._working_memory.append(session, [self._working_turn(event) for event in appended.events])
        return appended.events

    def _drafts(self, scope: Scope, command: AppendEvents, policy: RedactionPolicy) -> EventDrafts:
        return EventDrafts(self._redaction, policy, self._hasher, scope, command.session_id, command.events)

    def _working_turn(self, event: Event) -> WorkingTurn:
        return WorkingTurn(event, importance(rated(event, self._read_signals(event.searchable_text))))
