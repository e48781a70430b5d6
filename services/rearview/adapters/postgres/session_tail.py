"""The end of a session, for a working memory that has lost some of it."""

from collections.abc import Collection, Sequence
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.event import Event
from rearview.ports.working_memory import SessionKey, TailTurn


class PostgresSessionTail:
    """The `SessionTail` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds
        self._queries = load_queries("event_reading")

    async def tail(self, session: SessionKey, count: int) -> Sequence[TailTurn]:
        """Return the last turns, oldest first; see `SessionTail.tail`."""
        rows = await self._database.rows(
            session.tenant_id,
            self._queries["session_tail"],
            {**_named(session), "limit": count},
            timeout_seconds=self._timeout_seconds,
        )
        return [TailTurn(*row) for row in reversed(rows)]

    async def turns(self, session: SessionKey, event_ids: Collection[UUID]) -> Sequence[Event]:
        """Return turns with their content; see `SessionTail.turns`."""
        rows = await self._database.rows(
            session.tenant_id,
            self._queries["session_events"],
            {**_named(session), "events": list(event_ids)},
            timeout_seconds=self._timeout_seconds,
            as_dictionaries=True,
        )
        return [event_of(row) for row in rows]


def _named(session: SessionKey) -> dict[str, object]:
    return {"tenant": session.tenant_id, "namespace": session.namespace_id, "session": session.session_id}
