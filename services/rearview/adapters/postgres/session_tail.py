"""The end of a session, for a working memory that has lost some of it."""

from collections.abc import Collection, Sequence
from uuid import UUID

from rearview.adapters.postgres.database import Database, dict_rows
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
        async with self._database.transaction(session.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await connection.execute(self._queries["session_tail"], {**_named(session), "limit": count})
            rows = await cursor.fetchall()
        return [TailTurn(*row) for row in reversed(rows)]

    async def turns(self, session: SessionKey, event_ids: Collection[UUID]) -> Sequence[Event]:
        """Return turns with their content; see `SessionTail.turns`."""
        async with self._database.transaction(session.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await dict_rows(
                connection, self._queries["session_events"], {**_named(session), "events": list(event_ids)}
            )
            return [event_of(row) for row in await cursor.fetchall()]


def _named(session: SessionKey) -> dict[str, object]:
    return {"tenant": session.tenant_id, "namespace": session.namespace_id, "session": session.session_id}
