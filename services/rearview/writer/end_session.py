"""Ending a session: its open topic is closed and indexed."""

from rearview.domain.event import Session
from rearview.domain.principal import Scope
from rearview.ports.clock import Clock
from rearview.ports.event_log import EventLog


class SessionEnder:
    """The use case of `EndSession`."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def end(self, scope: Scope, session_id: str) -> Session:
        """End a session; ending it again changes nothing, appending to it opens it again.

        Raises:
            NotFound: there is no such session.
        """
        return await self._log.end_session(scope, session_id, now=self._clock.now())
