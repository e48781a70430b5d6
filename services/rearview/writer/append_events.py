"""Appending turns: redacted, stored, put into working memory, then acknowledged. No model runs on this path."""

import asyncio
from contextlib import suppress

from rearview.domain.capture import rated
from rearview.domain.errors import Unavailable
from rearview.domain.event import Event, WorkingTurn
from rearview.domain.importance import importance
from rearview.domain.keyword_bag import MAX_OWN_TOKENS
from rearview.domain.principal import Scope
from rearview.domain.writing import AppendEvents
from rearview.ports.clock import Clock
from rearview.ports.event_log import EventLog, LoggedEvent
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.redactor import Redactor
from rearview.ports.turn_reading import ReadSignals
from rearview.ports.working_memory import SessionKey, WorkingMemory
from rearview.writer.redaction import redacted_event

OFFLOAD_ABOVE_CHARACTERS = 4_000
"""Longer appends are read in a thread, so that other calls do not wait for them."""


class EventAppender:
    """The use case of `AppendEvents`."""

    def __init__(
        self,
        log: EventLog,
        working_memory: WorkingMemory,
        redactor: Redactor,
        hasher: KeywordHasher,
        read_signals: ReadSignals,
        clock: Clock,
    ) -> None:
        self._log = log
        self._working_memory = working_memory
        self._redactor = redactor
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
        size = sum(len(event.content) + len(event.searchable_text) for event in command.events)
        if size > OFFLOAD_ABOVE_CHARACTERS:
            logged = await asyncio.to_thread(self._prepared, scope, command)
        else:
            logged = self._prepared(scope, command)
        appended = await self._log.append(
            scope, command.session_id, logged, request=command.request, now=self._clock.now()
        )
        session = SessionKey(scope.tenant_id, scope.namespace_id, command.session_id)
        with suppress(Unavailable):
            # Repeated requests too: the first may have died between the log and working memory.
            await self._working_memory.append(session, [self._working_turn(event) for event in appended.events])
        return appended.events

    def _prepared(self, scope: Scope, command: AppendEvents) -> list[LoggedEvent]:
        prepared = []
        for at, event in enumerate(command.events):
            redacted = redacted_event(event, self._redactor, f"events[{at}]")
            text = f"{redacted.speaker} {redacted.searchable_text}"
            keywords = self._hasher.keywords(scope.namespace_id, text)[:MAX_OWN_TOKENS]
            prepared.append(LoggedEvent(redacted, keywords))
        return prepared

    def _working_turn(self, event: Event) -> WorkingTurn:
        return WorkingTurn(event, importance(rated(event, self._read_signals(event.searchable_text))))
