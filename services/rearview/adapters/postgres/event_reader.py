"""The event log, capture traces and receipts as they are read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.receipt_rows import receipt_of
from rearview.domain.errors import NotFound
from rearview.domain.event import CaptureOutcome, CaptureTrace, Event, Session
from rearview.domain.forget import ForgetReceipt
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope


class PostgresEventReader:
    """The `EventReader` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds
        self._queries = load_queries("event_reading")

    async def events(
        self, scope: Scope, session_id: str, page: PageRequest, *, newest_first: bool = False
    ) -> Page[Event]:
        """Return a page of a session's events, oldest first unless `newest_first`."""
        async with self._database.transaction(scope.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await self._require_session(connection, scope, session_id)
            cursor = await dict_rows(
                connection,
                self._queries["list_newest_events" if newest_first else "list_events"],
                {
                    **_named(scope),
                    "session": session_id,
                    "after": int(page.after[0]) if page.after else 0,
                    "limit": page.size + 1,
                },
            )
            events = [event_of(row) for row in await cursor.fetchall()]
        rows = events[: page.size]
        return Page(rows, next_after=(str(rows[-1].sequence),) if len(events) > page.size else ())

    async def sessions(self, scope: Scope, page: PageRequest) -> Page[Session]:
        """Return a page of sessions, the one with the latest event first."""
        last_event_at, session_id = page.after or (None, None)
        rows = await self._rows(
            "list_sessions",
            scope,
            {
                "after_time": datetime.fromisoformat(last_event_at) if last_event_at else None,
                "after_session": session_id,
                "limit": page.size + 1,
            },
        )
        sessions = [Session(*row) for row in rows]
        kept = sessions[: page.size]
        if len(sessions) <= page.size:
            return Page(kept)
        return Page(kept, next_after=(kept[-1].last_event_at.isoformat(), kept[-1].session_id))

    async def require_session(self, scope: Scope, session_id: str) -> None:
        """Raises: NotFound."""
        async with self._database.transaction(scope.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await self._require_session(connection, scope, session_id)

    async def capture_trace(self, scope: Scope, session_id: str, event_id: UUID) -> CaptureTrace:
        """Return what became of an event."""
        rows = await self._rows("capture_trace", scope, {"event": event_id})
        if not rows or rows[0][0] != session_id:
            name = f"namespaces/{scope.namespace}/sessions/{session_id}/events/{event_id}"
            raise NotFound(f"{name} does not exist", resource_name=name)
        _, forgotten, outcome, importance, capture, redactions, indexed_at, memory_ids = rows[0]
        if forgotten:
            # What it had become is forgotten with it, until it is restored.
            return CaptureTrace(CaptureOutcome.FORGOTTEN, reason="the event was forgotten", importance=0.0)
        return CaptureTrace(
            outcome=CaptureOutcome(outcome),
            reason=capture.get("reason", ""),
            importance=importance,
            memory_ids=tuple(memory_ids),
            superseded_ids=tuple(UUID(one) for one in capture.get("superseded_ids", ())),
            redactions=tuple(redactions),
            stage_milliseconds=capture.get("stage_milliseconds", {}),
            indexed_at=indexed_at,
        )

    async def receipt(self, tenant_id: UUID, receipt_id: UUID) -> tuple[UUID, ForgetReceipt]:
        """Return a receipt with the id of its namespace."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await dict_rows(
                connection, self._queries["forget_receipt"], {"tenant": tenant_id, "receipt": receipt_id}
            )
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"forgetReceipts/{receipt_id} does not exist", resource_name=f"forgetReceipts/{receipt_id}")
        return row["namespace_id"], receipt_of(row)

    async def _require_session(self, connection: Connection, scope: Scope, session_id: str) -> None:
        cursor = await connection.execute(self._queries["session_exists"], {**_named(scope), "session": session_id})
        row = await cursor.fetchone()
        if row is None or not row[0]:
            name = f"namespaces/{scope.namespace}/sessions/{session_id}"
            raise NotFound(f"{name} does not exist", resource_name=name)

    async def _rows(self, name: str, scope: Scope, parameters: Mapping[str, Any]) -> Sequence[Any]:
        async with self._database.transaction(scope.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await connection.execute(self._queries[name], {**_named(scope), **parameters})
            return await cursor.fetchall()


def _named(scope: Scope) -> dict[str, UUID]:
    return {"tenant": scope.tenant_id, "namespace": scope.namespace_id}
