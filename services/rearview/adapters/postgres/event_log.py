"""The event log in PostgreSQL: an append takes two round trips, whatever the number of its events."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_index
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of, event_record
from rearview.adapters.postgres.namespace_erasure import refuse_deleted
from rearview.adapters.postgres.originals import keep_event_originals
from rearview.adapters.postgres.placeholders import ask_numbers, read_numbers
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.quotas import QuotaCheck
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.domain.addition import Addition
from rearview.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from rearview.domain.event import Event, Session
from rearview.domain.names import SessionName
from rearview.domain.principal import Scope
from rearview.domain.writing import RequestKey
from rearview.ports.event_log import Appended, LoggedEvent, Numbering

_SQL = load_queries("event_log")


class PostgresEventLog:
    """The `EventLog` port."""

    def __init__(self, database: Database, quotas: QuotaCheck) -> None:
        self._database = database
        self._quotas = quotas

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
        """Store events at the end of a session; see `EventLog.append`."""
        try:
            return await self._append(scope, session_id, events, request, now, numbering)
        except psycopg.errors.UniqueViolation as error:
            raise AlreadyExists("another session has an event of this id", resource_name=scope.namespace) from error

    async def _append(
        self,
        scope: Scope,
        session_id: str,
        events: Sequence[LoggedEvent],
        request: RequestKey | None,
        now: datetime,
        numbering: Numbering | None,
    ) -> Appended:
        times = [logged.event.occurred_at for logged in events]
        place: dict[str, Any] = {
            "tenant_id": scope.tenant_id,
            "namespace_id": scope.namespace_id,
            "session_id": session_id,
            "event_ids": [logged.event.event_id for logged in events],
            "first_at": min(times),
            "last_at": max(times),
            "now": now,
        }
        async with self._database.transaction(scope.tenant_id) as connection:
            await refuse_deleted(connection, scope)
            opened = await connection.execute(_SQL["open_session"], place)
            stored_rows = await dict_rows(connection, _SQL["stored_events"], place)
            forgotten = await connection.execute(_SQL["forgotten_ids"], place)
            asked = None
            if numbering is not None:
                keys = numbering.keys
                asked = await ask_numbers(connection, scope.tenant_id, scope.namespace_id, session_id, keys)
            earlier = await earlier_result(connection, scope.tenant_id, request)
            if earlier is not None:
                answer = await _answer_again(connection, scope, earlier)
                raise psycopg.Rollback  # the session's row may only just have been made
            last_sequence, index_queued = await opened.fetchone() or (0, False)
            _refuse_forgotten([row[0] for row in await forgotten.fetchall()])
            if numbering is not None and asked is not None:
                events = numbering.numbered(await read_numbers(asked))
            stored = _stored_here(await stored_rows.fetchall(), session_id)
            answer, new = _numbered(events, stored, last_sequence, now)
            if new:
                await connection.execute(
                    _SQL["insert_events"],
                    {**place, "events": as_records(event_record(logged, at) for logged, at in new)},
                )
                originals = {logged.event.event_id: logged.original for logged, _ in new if logged.original is not None}
                if originals:
                    await keep_event_originals(connection, scope.tenant_id, scope.namespace_id, originals)
                await connection.execute(_SQL["grow_session"], {**place, "last_sequence": last_sequence + len(new)})
                if not index_queued:
                    await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)
            await keep_result(
                connection,
                scope.tenant_id,
                request,
                {"event_ids": [str(event.event_id) for event in answer]},
                now,
            )
            if new:
                await record_audit(
                    connection,
                    scope.tenant_id,
                    scope,
                    "events.append",
                    [_name(scope, session_id)],
                    now,
                    f"events={len(new)}",
                )
                keywords = frozenset(keyword for logged, _ in new for keyword in logged.keywords)
                await bump_epoch(
                    connection,
                    scope.tenant_id,
                    scope.namespace_id,
                    breaking=False,
                    addition=Addition(session_id, keywords),
                )
                await self._quotas.refuse_excess(connection, scope.tenant_id)
        return Appended(tuple(answer))

    async def end_session(self, scope: Scope, session_id: str, *, now: datetime) -> Session:
        """End a session; see `EventLog.end_session`."""
        place = {
            "tenant_id": scope.tenant_id,
            "namespace_id": scope.namespace_id,
            "session_id": session_id,
            "now": now,
        }
        async with self._database.transaction(scope.tenant_id) as connection:
            row = await (await dict_rows(connection, _SQL["lock_session"], place)).fetchone()
            if row is None:
                raise NotFound("there is no such session", resource_name=_name(scope, session_id))
            if row["ended_at"] is None:
                await connection.execute(_SQL["end_session"], place)
                if not row["index_queued"]:
                    await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)
                await record_audit(connection, scope.tenant_id, scope, "session.end", [_name(scope, session_id)], now)
        return Session(
            session_id=session_id,
            started_at=row["started_at"],
            last_event_at=row["last_event_at"],
            ended_at=row["ended_at"] or now,
            event_count=row["last_sequence"],
            indexed_count=row["indexed_sequence"],
        )


def _refuse_forgotten(event_ids: Sequence[UUID]) -> None:
    if event_ids:
        raise PreconditionFailed(
            "an event of this id was forgotten and cannot be stored again",
            resource_name=str(event_ids[0]),
            state="TOMBSTONED",
        )


def _stored_here(rows: Sequence[dict[str, Any]], session_id: str) -> dict[UUID, Event]:
    for row in rows:
        if row["session_id"] != session_id:
            raise AlreadyExists("another session has an event of this id", resource_name=str(row["event_id"]))
    return {row["event_id"]: event_of(row) for row in rows}


def _numbered(
    events: Sequence[LoggedEvent], stored: dict[UUID, Event], last_sequence: int, now: datetime
) -> tuple[list[Event], list[tuple[LoggedEvent, int]]]:
    """Return the events to answer, in order, and those to store with their sequence numbers."""
    answer: list[Event] = []
    new: list[tuple[LoggedEvent, int]] = []
    known = dict(stored)
    for logged in events:
        event_id = logged.event.event_id
        if event_id not in known:
            sequence = last_sequence + len(new) + 1
            known[event_id] = replace(logged.event, sequence=sequence, created_at=now)
            new.append((logged, sequence))
        answer.append(known[event_id])
    return answer, new


async def _answer_again(connection: Connection, scope: Scope, earlier: Any) -> list[Event]:
    ids = [UUID(text) for text in earlier["event_ids"]]
    place = {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id, "event_ids": ids}
    rows = await (await dict_rows(connection, _SQL["stored_events"], place)).fetchall()
    events = {row["event_id"]: event_of(row) for row in rows if not row["tombstoned"]}
    if any(event_id not in events for event_id in ids):
        raise PreconditionFailed("events of this request were forgotten since", state="TOMBSTONED")
    return [events[event_id] for event_id in ids]


def _name(scope: Scope, session_id: str) -> str:
    return str(SessionName(scope.namespace, session_id))
