"""The event log: appended to, never changed, and read back by the index."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from rearview.domain.event import Event, Session
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, PlaceholderKey, Sealed
from rearview.domain.writing import RequestKey


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event, redacted, with the hashes of its keywords and, where the tenant keeps it, what it said before."""

    event: Event
    keywords: tuple[int, ...]
    original: Sealed | None = None


class Numbering(Protocol):
    """Events whose placeholders want the numbers that their values have in the session."""

    @property
    def keys(self) -> Sequence[PlaceholderKey]:
        """The values, each once, in order of appearance."""
        ...

    def numbered(self, numbers: Numbers) -> Sequence[LoggedEvent]:
        """Return the events as they are to be stored, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Appended:
    """The events of an append in the order of the request, with their sequence numbers.

    Events that were stored before are among them as they were stored.
    """

    events: tuple[Event, ...]


class EventLog(Protocol):
    """Every call is one transaction, which also holds the audit record, the epoch and the job it leads to."""

    async def append(
        self,
        scope: Scope,
        session_id: str,
        events: Sequence[LoggedEvent],
        *,
        request: RequestKey | None,
        now: datetime,
        numbering: Numbering | None = None,
    ) -> Appended:
        """Store events at the end of a session, which is made, or opened again, if need be.

        With a `numbering`, its events are stored instead, of the same ids and times, once their values have numbers.

        Events whose ids the session has already are not stored twice.

        Raises:
            RequestIdReused: the request id stands for another request.
            AlreadyExists: another session has an event of one of these ids.
            PreconditionFailed: an event of one of these ids was forgotten.
            Unavailable: the log cannot be reached; nothing was stored, or it was and the answer got lost.
        """
        ...

    async def end_session(self, scope: Scope, session_id: str, *, now: datetime) -> Session:
        """End a session and have it indexed to its end; ending it again changes nothing.

        Raises:
            NotFound: there is no such session.
        """
        ...
