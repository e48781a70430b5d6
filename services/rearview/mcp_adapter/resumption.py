"""What a client missed while its connection was broken: the last events of each session, for a while, in memory."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage

EVENTS_PER_SESSION = 64
"""An answer has at most a few hundred kilobytes and most have one or two, so a session keeps some hundred of them."""


@dataclass(frozen=True, slots=True)
class _Stored:
    number: int
    stream_id: str
    message: JSONRPCMessage | None


class SessionEvents(EventStore):
    """The last events of one session. A session's store is its own: event ids of another session mean nothing here."""

    def __init__(self, limit: int = EVENTS_PER_SESSION) -> None:
        self._events: deque[_Stored] = deque(maxlen=limit)
        self._count = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event; the oldest goes when there are too many. Return its id."""
        self._count += 1
        self._events.append(_Stored(self._count, stream_id, message))
        return str(self._count)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came after an event on its stream. Return the stream, None when the event is not kept any more."""
        last = next((event for event in self._events if str(event.number) == last_event_id), None)
        if last is None:
            return None
        for event in list(self._events):
            if event.stream_id == last.stream_id and event.number > last.number and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream_id


class ResumableSessionManager(StreamableHTTPSessionManager):
    """Gives each session an event store of its own.

    The SDK's manager hands one store to all sessions and names streams by the client's request ids, which are 1, 2, 3
    in every session: with one store a client could be sent another one's answers.
    """

    def __init__(self, app: Server[Any], **options: Any) -> None:
        super().__init__(app, **options)

    @property
    def event_store(self) -> EventStore | None:
        """A new store at each reading, which happens once for each session."""
        return SessionEvents()

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        if store is not None:
            raise ValueError("sessions have stores of their own")
