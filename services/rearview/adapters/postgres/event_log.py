"""The event log in PostgreSQL: an append takes one round trip, whatever the number of its events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

import psycopg

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import enqueue_index
from rearview.adapters.postgres.database import Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of, event_record
from rearview.adapters.postgres.namespace_erasure import deleted_namespace
from rearview.adapters.postgres.originals import keep_event_originals
from rearview.adapters.postgres.placeholders import ask_numbers, read_numbers
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.quotas import QuotaCheck, quota_errors
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.request_ids import request_id_reused
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.domain.addition import MAX_ADDED_KEYWORDS
from rearview.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from rearview.domain.event import Event, Session
from rearview.domain.ids import new_id
from rearview.domain.names import SessionName
from rearview.domain.principal import Scope
from rearview.domain.writing import RequestKey
from rearview.ports.event_log import Appended, LoggedEvent, Numbering

_SQL = load_queries("event_log")
_SECONDS = 30.0
_TOMBSTONED = "TOMBSTONED"
# What `rearview_append` says of an event or of the request.
_STORED, _AGAIN, _DELETED, _REUSED = "stored", "again", "deleted", "reused"
_Row: TypeAlias = tuple[str, UUID, int]


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
        place = {**_append_place(scope, session_id, events, request, now), **self._quotas.parameters}
        sealed = any(logged.original is not None for logged in events)
        rows: Sequence[_Row]
        try:
            with quota_errors():
                if numbering is None and not sealed:
                    values = {**place, "events": _records(events)}
                    append = Reading(numbered(_SQL["append"]), values)
                    [rows] = await self._database.write(scope.tenant_id, [append], timeout_seconds=_SECONDS)
                else:
                    events, rows = await self._append_in_steps(scope, session_id, events, place, numbering)
        except psycopg.errors.UniqueViolation as error:
            raise AlreadyExists(
                "another session has an event of this id",
                resource_name=error.diag.message_hint or _name(scope, session_id),
            ) from error
        except psycopg.errors.RestrictViolation as error:
            raise PreconditionFailed(
                "an event of this id was forgotten and cannot be stored again",
                resource_name=error.diag.message_hint or _name(scope, session_id),
                state=_TOMBSTONED,
            ) from error
        return Appended(tuple(await self._answer(scope, events, request, rows, now)))

    async def _append_in_steps(
        self,
        scope: Scope,
        session_id: str,
        events: Sequence[LoggedEvent],
        place: Mapping[str, Any],
        numbering: Numbering | None,
    ) -> tuple[Sequence[LoggedEvent], Sequence[_Row]]:
        """Append what needs more than the one statement: numbers before it, sealed originals behind it."""
        rows: Sequence[_Row] = []
        async with self._database.transaction(scope.tenant_id) as connection:
            if numbering is not None:
                await connection.execute(_SQL["open_session"], place)
                keys = numbering.keys
                asked = await ask_numbers(connection, scope.tenant_id, scope.namespace_id, session_id, keys)
                events = numbering.numbered(await read_numbers(asked))
            cursor = await connection.execute(_SQL["append"], {**place, "events": _records(events)})
            rows = await cursor.fetchall()
            if rows[0][0] in (_AGAIN, _DELETED, _REUSED):
                raise psycopg.Rollback  # the session's row and the numbers may only just have been made
            new = {event_id for outcome, event_id, _ in rows if outcome == _STORED}
            originals = {
                logged.event.event_id: logged.original
                for logged in events
                if logged.event.event_id in new and logged.original is not None
            }
            if originals:
                await keep_event_originals(connection, scope.tenant_id, scope.namespace_id, originals)
        return events, rows

    async def _answer(
        self,
        scope: Scope,
        events: Sequence[LoggedEvent],
        request: RequestKey | None,
        rows: Sequence[_Row],
        now: datetime,
    ) -> list[Event]:
        """Return the events of a request, those that were stored before as they were stored."""
        outcomes = {outcome for outcome, _, _ in rows}
        if _DELETED in outcomes:
            raise deleted_namespace(scope)
        if _REUSED in outcomes and request is not None:
            raise request_id_reused(request)
        if _AGAIN in outcomes:
            ids = [event_id for _, event_id, _ in rows]
        else:
            ids = [logged.event.event_id for logged in events]
        sequences = {event_id: sequence for outcome, event_id, sequence in rows if outcome == _STORED}
        known = {
            logged.event.event_id: replace(logged.event, sequence=sequences[logged.event.event_id], created_at=now)
            for logged in reversed(events)
            if logged.event.event_id in sequences
        }
        if not known.keys() >= set(ids):
            known = {**await self._stored(scope, ids), **known}
        if not known.keys() >= set(ids):
            raise PreconditionFailed("events of this request were forgotten since", state=_TOMBSTONED)
        return [known[event_id] for event_id in ids]

    async def _stored(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Event]:
        rows = await self._database.rows(
            scope.tenant_id,
            _SQL["stored_events"],
            {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id, "event_ids": ids},
            timeout_seconds=_SECONDS,
            as_dictionaries=True,
        )
        return {row["event_id"]: event_of(row) for row in rows}

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


def _append_place(
    scope: Scope, session_id: str, events: Sequence[LoggedEvent], request: RequestKey | None, now: datetime
) -> dict[str, Any]:
    times = [logged.event.occurred_at for logged in events]
    return {
        "tenant_id": scope.tenant_id,
        "namespace_id": scope.namespace_id,
        "session_id": session_id,
        "event_ids": [logged.event.event_id for logged in events],
        "first_at": min(times),
        "last_at": max(times),
        "now": now,
        "request_id": request.request_id if request else None,
        "method": request.method if request else None,
        "fingerprint": request.fingerprint if request else None,
        "record_id": new_id(),
        "principal": scope.principal,
        "session_name": _name(scope, session_id),
        "request_text": scope.request_id,
        "trace_id": scope.trace_id,
        "most_keywords": MAX_ADDED_KEYWORDS,
    }


def _records(events: Sequence[LoggedEvent]) -> str:
    """Return each event once; the first of those with one id."""
    once = {logged.event.event_id: logged for logged in reversed(events)}
    return as_records(event_record(logged, at) for at, logged in enumerate(reversed(once.values())))


def _name(scope: Scope, session_id: str) -> str:
    return str(SessionName(scope.namespace, session_id))
