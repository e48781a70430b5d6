"""Erasing in PostgreSQL what a forget marked, in batches that each count what they did."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.unit_erasure import erase_units
from rearview.domain.forget import ErasedPlace, ForgetState, receipt_digest
from rearview.ports.erasure import Purge
from rearview.ports.forgetting import ForgottenTurns
from rearview.ports.working_memory import SessionKey

_SQL = load_queries("erasure")
_NIL = UUID(int=0)

PURGER = ActingService("lifecycle")
"""In whose name the audit records a purge."""

MEMORIES, EVENTS, LINKS = "postgres.memory", "postgres.event", "postgres.memory_event"
SOURCES = "postgres.memory_source"
STATS, UNITS, WINDOWS = "postgres.memory_stats", "postgres.search_unit", "postgres.open_window"
SPEAKERS, SESSIONS = "postgres.speaker", "postgres.session"
TRACES, REQUESTS = "postgres.recall_trace", "postgres.request"
MEMORY_ORIGINALS, EVENT_ORIGINALS = "postgres.memory_original", "postgres.event_original"
PLACES = (
    MEMORY_ORIGINALS,
    EVENT_ORIGINALS,
    MEMORIES,
    EVENTS,
    LINKS,
    SOURCES,
    STATS,
    UNITS,
    WINDOWS,
    SPEAKERS,
    SESSIONS,
    TRACES,
    REQUESTS,
)


class _Ended(Exception):
    """Another purge of the same receipt came to its end, and was verified."""


class PostgresErasure:
    """The `ErasureStore` port."""

    def __init__(
        self,
        database: Database,
        *,
        batch: int = 200,
        timeout_seconds: float = 60.0,
        on_step: Callable[[str], None] = lambda _step: None,
    ) -> None:
        """`on_step` is told the name of each step that was committed."""
        self._database = database
        self._batch = batch
        self._timeout_seconds = timeout_seconds
        self._on_step = on_step

    async def begin(self, tenant_id: UUID, receipt_id: UUID, *, now: datetime) -> Purge | None:
        """Begin, or go on; see `ErasureStore.begin`."""
        place = {"tenant_id": tenant_id, "receipt_id": receipt_id, "now": now}
        async with self._transaction(tenant_id) as connection:
            row = await _one(connection, "begin", place)
            if row is None:
                return None
            namespace_id, session_id, memories, events, started_at = row
            if started_at is None:
                await connection.execute(_SQL["start"], place)
            kept = await _one(connection, "turns", place)
        turns = tuple(
            ForgottenTurns(
                session=SessionKey(tenant_id, namespace_id, turn["session_id"]),
                event_ids=tuple(map(UUID, turn["event_ids"])),
                through_sequence=turn["last_sequence"] if session_id else 0,
            )
            for turn in (kept[0] if kept else ())
        )
        return Purge(tenant_id, receipt_id, namespace_id, session_id, memories, events, turns)

    async def erase(self, purge: Purge, *, now: datetime) -> None:
        """Erase everything in the database; see `ErasureStore.erase`."""
        try:
            for start in range(0, purge.memory_count, self._batch):
                await self._erase_memories(purge, start, now)
                self._on_step("purge.memories_erased")
            for start in range(0, purge.event_count, self._batch):
                await self._erase_events(purge, start, now)
                self._on_step("purge.events_erased")
            await self._erase_mentions(purge, "erase_traces", TRACES, now)
            await self._erase_mentions(purge, "erase_requests", REQUESTS, now)
            sessions = {turn.session.session_id for turn in purge.turns} | {purge.session_id}
            async with self._counted(purge, now) as (connection, counts):
                place = {**_place(purge), "sessions": sorted(sessions)}
                counts[SESSIONS] = await _count(connection, "erase_sessions", place)
        except _Ended:
            return

    async def memory_ids(self, purge: Purge, start: int, count: int) -> list[UUID]:
        """Return a slice of the forgotten memories' ids."""
        async with self._transaction(purge.tenant_id) as connection:
            return await _slice(connection, "memory_ids", purge, start, count)

    async def rewritten(self, purge: Purge) -> list[UUID]:
        """Return what was written anew; see `ErasureStore.rewritten`."""
        async with self._transaction(purge.tenant_id) as connection:
            rows = await (await connection.execute(_SQL["rewritten"], _place(purge))).fetchall()
        return [row[0] for row in rows]

    async def note(self, purge: Purge, counts: Mapping[str, int], *, now: datetime) -> None:
        """Add to the receipt's counts; see `ErasureStore.note`."""
        try:
            async with self._counted(purge, now) as (_, added):
                added |= counts
        except _Ended:
            return

    async def finish(self, purge: Purge, *, now: datetime) -> None:
        """Say that everything is erased; see `ErasureStore.finish`."""
        async with self._transaction(purge.tenant_id) as connection:
            row = await _one(connection, "lock", _place(purge))
            if row is None:
                return
            places = _with(row[0], dict.fromkeys(PLACES, 0), now)
            named = await _one(connection, "named_ids", _place(purge))
            erased = [ErasedPlace(place["place"], place["count"], now) for place in places]
            digest = receipt_digest(named[0] if named else (), erased)
            if row[1:] == (int(ForgetState.PURGED), digest):
                return
            await connection.execute(
                _SQL["finish"], {**_place(purge), "now": now, "places": Jsonb(places), "digest": digest}
            )
            await record_audit(
                connection,
                purge.tenant_id,
                PURGER,
                "memory.purge",
                [f"forgetReceipts/{purge.receipt_id}"],
                now,
                f"memories={purge.memory_count} events={purge.event_count} digest={digest}",
            )

    async def _erase_memories(self, purge: Purge, start: int, now: datetime) -> None:
        async with self._counted(purge, now) as (connection, counts):
            ids = await self._doomed(connection, purge, "memory", start, now)
            place = {**_place(purge), "ids": ids}
            # Memories before units and keywords, the order in which the writer locks them.
            await connection.execute(_SQL["forget_successors"], place)
            counts[MEMORY_ORIGINALS] = await _count(connection, "erase_memory_originals", place)
            counts[SOURCES] = await _count(connection, "erase_memory_sources", place)
            counts[MEMORIES] = await _count(connection, "erase_memories", place)
            counts[LINKS] = await _count(connection, "erase_memory_links", place)
            counts[STATS] = await _count(connection, "erase_memory_stats", place)
            counts[WINDOWS] = await _count(connection, "erase_memory_windows", place)
            counts[UNITS] = await erase_units(connection, purge.tenant_id, purge.namespace_id, memory_ids=ids)

    async def _erase_events(self, purge: Purge, start: int, now: datetime) -> None:
        async with self._counted(purge, now) as (connection, counts):
            ids = await self._doomed(connection, purge, "event", start, now)
            place = {**_place(purge), "ids": ids}
            counts[EVENT_ORIGINALS] = await _count(connection, "erase_event_originals", place)
            erased = await (await connection.execute(_SQL["erase_events"], place)).fetchall()
            counts[EVENTS] = len(erased)
            names = sorted({speaker for (speaker,) in erased if speaker})
            counts[SPEAKERS] = await _count(connection, "erase_speakers", {**_place(purge), "names": names})
            counts[LINKS] = await _count(connection, "erase_event_links", place)
            counts[WINDOWS] = await _count(connection, "erase_event_windows", place)
            counts[UNITS] = await erase_units(connection, purge.tenant_id, purge.namespace_id, event_ids=ids)

    async def _doomed(self, connection: Connection, purge: Purge, kind: str, start: int, now: datetime) -> list[UUID]:
        ids = await _slice(connection, f"{kind}_ids", purge, start, self._batch)
        name = "spared_memories" if kind == "memory" else "spared_events"
        spared = await connection.execute(_SQL[name], {**_place(purge), "ids": ids})
        doomed = sorted(set(ids) - {row[0] for row in await spared.fetchall()})
        await connection.execute(_SQL["keep_tombstones"], {**_place(purge), "kind": kind, "ids": doomed, "now": now})
        return doomed

    async def _erase_mentions(self, purge: Purge, name: str, where: str, now: datetime) -> None:
        after: UUID | None = _NIL
        while after is not None:
            async with self._counted(purge, now) as (connection, counts):
                row = await _one(connection, name, {**_place(purge), "after": after, "limit": self._batch})
                after, counts[where] = row or (None, 0)

    @asynccontextmanager
    async def _counted(self, purge: Purge, now: datetime) -> AsyncIterator[tuple[Connection, dict[str, int]]]:
        """One transaction of a purge; what its body counts is added to the receipt."""
        async with self._transaction(purge.tenant_id) as connection:
            row = await _one(connection, "lock", _place(purge))
            if row is None:
                raise _Ended
            counts: dict[str, int] = {}
            yield connection, counts
            places = _with(row[0], counts, now)
            if places != row[0]:
                await connection.execute(_SQL["note"], {**_place(purge), "places": Jsonb(places)})

    @asynccontextmanager
    async def _transaction(self, tenant_id: UUID) -> AsyncIterator[Connection]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            yield connection


def _with(places: Collection[Mapping[str, Any]], counts: Mapping[str, int], now: datetime) -> list[dict[str, Any]]:
    """Return the receipt's places with counts added; the time of a place is that of its last erasure."""
    merged = {place["place"]: dict(place) for place in places}
    for name, count in counts.items():
        known = merged.get(name)
        if known is None:
            merged[name] = {"place": name, "count": count, "erased_at": now.isoformat()}
        elif count:
            merged[name] = {"place": name, "count": known["count"] + count, "erased_at": now.isoformat()}
    return list(merged.values())


def _place(purge: Purge) -> dict[str, Any]:
    return {"tenant_id": purge.tenant_id, "namespace_id": purge.namespace_id, "receipt_id": purge.receipt_id}


async def _one(connection: Connection, name: str, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return await (await connection.execute(_statement(name), parameters)).fetchone()


async def _count(connection: Connection, name: str, parameters: Mapping[str, Any]) -> int:
    row = await _one(connection, name, parameters)
    return int(row[0]) if row else 0


async def _slice(connection: Connection, name: str, purge: Purge, start: int, count: int) -> list[UUID]:
    place = {**_place(purge), "first": start + 1, "last": start + count}
    return [row[0] for row in await (await connection.execute(_statement(name), place)).fetchall()]


def _statement(name: str) -> LiteralString:
    return _SQL[name]
