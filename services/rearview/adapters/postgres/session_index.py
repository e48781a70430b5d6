"""The index of sessions in PostgreSQL."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.bounded_connection import LONGEST_SILENCE_SECONDS
from rearview.adapters.postgres.consequences import bump_epoch, enqueue_close_windows, enqueue_index, enqueue_merge
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.facts import FactsWritten, FactWriter
from rearview.adapters.postgres.known_statements import refuse_if_doubted
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.memory_rows import count_uses, insert_memories, memory_of, replace_memory
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records, float_bytes, floats_of
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.domain.addition import Addition, addition_of
from rearview.domain.context_window import OpenWindows, WindowedTurn
from rearview.domain.keyword_bag import KeywordBag, count_units
from rearview.domain.memory import Memory, MemoryState
from rearview.domain.names import SessionName
from rearview.domain.turn_text import asks
from rearview.domain.unit_projection import KeywordStatistics
from rearview.ports.known_statements import Doubted
from rearview.ports.session_index import IndexedBatch, OpenEpisode, PendingEvents
from rearview.ports.working_memory import SessionKey
from rearview.ports.write_observer import NoObserver, WriteObserver

_SQL = load_queries("session_index")
_PENDING = ("claim_session", "namespace_name", "pending_events", "earlier_events", "last_appended", "open_windows")
INDEXER = ActingService("writer")
"""In whose name the audit records what a job did."""


class PostgresSessionIndex:
    """The `SessionIndex` port over the tables of one generation."""

    def __init__(self, database: Database, units: SearchUnits, observer: WriteObserver | None = None) -> None:
        self._database = database
        self._units = units
        self._facts = FactWriter(units)
        self._observer = observer or NoObserver()

    async def pending(self, session: SessionKey, *, limit: int) -> PendingEvents | None:
        """Return what is to be indexed; see `SessionIndex.pending`."""
        place = {**_place(session), "limit": limit + 1}
        claimed, named, events, before, last, opened = await self._database.write(
            session.tenant_id,
            [Reading(numbered(_SQL[name]), place, as_dictionaries=True) for name in _PENDING],
            timeout_seconds=LONGEST_SILENCE_SECONDS,
        )
        if not claimed or not named:
            return None
        row, namespace = claimed[0], named[0]
        found = [event_of(event) for event in events]
        episode = await self._open_episode(session, row["open_memory_id"])
        return PendingEvents(
            session=session,
            namespace=namespace["name"],
            events=tuple(found[:limit]),
            more=len(found) > limit,
            indexed_sequence=row["indexed_sequence"],
            ended=row["ended"],
            windows_closed=row["window_closed"],
            windows=OpenWindows(tuple(map(_window_of, opened))),
            episode=episode,
            last_appended_at=last[0]["created_at"] if last else None,
            earlier=tuple(event_of(event) for event in reversed(before)),
            reopen=tuple(event_of(window) for window in opened)
            if any(window["generation"] not in (None, self._units.generation) for window in opened)
            else (),
        )

    async def statistics(self, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts, with those of the given terms."""
        return await self._units.committed_statistics(self._database, tenant_id, namespace_id, terms)

    async def write(self, batch: IndexedBatch, *, now: datetime) -> bool:
        """Write a batch in one transaction; see `SessionIndex.write`."""
        session = batch.pending.session
        try:
            return await self._write(batch, session.tenant_id, session.namespace_id, now)
        except Doubted:
            return False

    async def _write(self, batch: IndexedBatch, tenant_id: UUID, namespace_id: UUID, now: datetime) -> bool:
        async with self._database.transaction(tenant_id) as connection:
            if await _has_changed(connection, batch):
                return False
            if batch.created:
                await insert_memories(connection, tenant_id, namespace_id, self._units.generation, batch.created)
            if batch.extended:
                await replace_memory(connection, tenant_id, namespace_id, batch.extended)
            if batch.units:
                await self._units.insert(connection, tenant_id, namespace_id, batch.units, now)
            if batch.grown:
                await self._units.grow(connection, tenant_id, namespace_id, batch.grown)
            written = await self._facts.write(connection, tenant_id, namespace_id, batch.facts, now)
            await _write_session(connection, batch, written, self._units.generation, now)
            await self._count(connection, batch, written)
            if batch.speakers:
                await know_speakers(connection, batch.pending.session, batch.speakers)
            await _write_consequences(connection, batch, now, breaking=written.changed)
            await refuse_if_doubted(connection, tenant_id, namespace_id, self._units.generation, batch.watch, now)
        self._observer.captured([capture.outcome for capture in batch.captures])
        self._observer.superseded(written.superseded_count)
        return True

    async def merge_fresh_units(self, tenant_id: UUID, namespace_id: UUID, *, limit: int) -> int:
        """Move closed units to the main index; see `SessionIndex.merge_fresh_units`."""
        async with self._database.transaction(tenant_id) as connection:
            return await self._units.merge(connection, tenant_id, namespace_id, limit)

    async def _open_episode(self, session: SessionKey, memory_id: UUID | None) -> OpenEpisode | None:
        if memory_id is None:
            return None
        place = {**_place(session), "memory_ids": [memory_id], "memory_id": memory_id}
        found, turns = await self._database.read(
            session.tenant_id,
            [
                Reading(numbered(statement), place, as_dictionaries=True)
                for statement in (MEMORY_SQL["read"], _SQL["turns_of_episode"])
            ],
            timeout_seconds=LONGEST_SILENCE_SECONDS,
        )
        memory = memory_of(found[0]) if found else None
        if memory is None or memory.state is not MemoryState.ACTIVE:
            return None
        return OpenEpisode(memory, turns[0]["turns"] if turns else 0, event_of(turns[0]) if turns else None)

    async def _count(self, connection: Connection, batch: IndexedBatch, facts: FactsWritten) -> None:
        session, counted = batch.pending.session, batch.counted
        delta = NamespaceDelta(
            units=counted.units,
            keyword_total=counted.keyword_total,
            chinese_units=counted.chinese_units,
            english_units=counted.english_units,
            memories=len(batch.created),
            size_bytes=_added_bytes(batch),
        )
        terms = Counter(counted.terms)
        terms.update(count_units(facts.bags))
        await self._units.count(
            connection, session.tenant_id, session.namespace_id, delta + facts.added, dict(sorted(terms.items()))
        )


async def _has_changed(connection: Connection, batch: IndexedBatch) -> bool:
    """Lock the session (and the episode that is to grow) and compare with what the batch was made from."""
    pending = batch.pending
    place = {**_place(pending.session), "event_ids": [event.event_id for event in pending.events]}
    locked = await dict_rows(connection, _SQL["lock_session"], place)
    gone = await dict_rows(connection, _SQL["no_longer_pending"], place)
    windows = await dict_rows(connection, _SQL["open_window_ids"], place)
    episode = pending.episode.memory if pending.episode else None
    created = {memory.memory_id for memory in batch.created}
    supported = {one.memory_id for one in batch.strengthened} - created
    locked_ids = supported | ({episode.memory_id} if episode else set())
    versions = await connection.execute(MEMORY_SQL["lock"], {**place, "memory_ids": sorted(locked_ids)})
    row, gone_row = await locked.fetchone(), await gone.fetchone()
    window_ids = [window["event_id"] for window in await windows.fetchall()]
    states = {memory_id: (version, state) for memory_id, version, state in await versions.fetchall()}
    if row is None or gone_row is None or gone_row["count"]:
        return True
    if row["indexed_sequence"] != pending.indexed_sequence:
        return True
    if window_ids != [turn.unit_id for turn in pending.windows.turns]:
        return True
    if any(memory_id not in states or states[memory_id][1] != MemoryState.ACTIVE for memory_id in supported):
        return True
    if episode is None:
        return False
    return row["open_memory_id"] != episode.memory_id or states.get(episode.memory_id) != (
        episode.version,
        int(MemoryState.ACTIVE),
    )


async def _write_session(
    connection: Connection, batch: IndexedBatch, facts: FactsWritten, generation: int, now: datetime
) -> None:
    place: dict[str, Any] = {**_place(batch.pending.session), "now": now, "generation": generation}
    if batch.links:
        links = as_records(
            {
                "memory_id": link.memory_id,
                "event_id": link.event_id,
                "sequence": link.sequence,
                "repeats": link.repeats,
            }
            for link in batch.links
        )
        await connection.execute(_SQL["link_events"], {**place, "links": links})
    if batch.captures:
        captures = as_records(
            {
                "event_id": capture.event_id,
                "outcome": int(capture.outcome),
                "importance": capture.importance,
                "bands": list(capture.bands),
                "capture": {
                    "reason": capture.reason,
                    "stage_milliseconds": dict(capture.stage_milliseconds),
                    "superseded_ids": [str(memory_id) for memory_id in facts.superseded.get(capture.event_id, ())],
                },
            }
            for capture in batch.captures
        )
        await connection.execute(_SQL["capture_events"], {**place, "captures": captures})
    if batch.strengthened:
        strengthened = as_records(
            {"memory_id": one.memory_id, "first_said_at": one.first_said_at} for one in batch.strengthened
        )
        await connection.execute(_SQL["said_earlier"], {**place, "strengthened": strengthened})
    session = batch.pending.session
    uses = {**facts.confirmed, **{one.memory_id: one.times for one in batch.strengthened}}
    await count_uses(connection, session.tenant_id, session.namespace_id, uses, now)
    await connection.execute(_SQL["drop_windows"], place)
    if batch.windows.turns:
        windows = as_records(_window_record(turn) for turn in batch.windows.turns)
        await connection.execute(_SQL["keep_windows"], {**place, "windows": windows})
    await connection.execute(
        _SQL["advance_session"],
        {
            **place,
            "indexed_sequence": batch.indexed_sequence,
            "open_memory_id": batch.open_episode_id,
            "window_closed": batch.windows_closed,
        },
    )


async def know_speakers(connection: Connection, session: SessionKey, speakers: Mapping[int, str]) -> None:
    """Note who speaks in a session's namespace: names by their hashes."""
    known = sorted(speakers.items())
    await connection.execute(
        _SQL["know_speakers"],
        {
            **_place(session),
            "speakers": [speaker for speaker, _ in known],
            "names": [name for _, name in known],
        },
    )


async def _write_consequences(connection: Connection, batch: IndexedBatch, now: datetime, *, breaking: bool) -> None:
    session = batch.pending.session
    tenant_id, namespace_id = session.tenant_id, session.namespace_id
    if batch.pending.more:
        await _queue_rest(connection, session)
    if batch.close_windows_at:
        await enqueue_close_windows(connection, tenant_id, namespace_id, session.session_id, batch.close_windows_at)
    if batch.merge_units_at:
        await enqueue_merge(connection, tenant_id, namespace_id, batch.merge_units_at)
    if batch.captures:
        await record_audit(
            connection,
            tenant_id,
            INDEXER,
            "session.index",
            [str(SessionName(batch.pending.namespace, session.session_id))],
            now,
            f"events={len(batch.captures)} memories={len(batch.created)} units={len(batch.units)}",
        )
    await bump_epoch(connection, tenant_id, namespace_id, breaking=breaking, addition=_addition(batch))


async def _queue_rest(connection: Connection, session: SessionKey) -> None:
    queued = await connection.execute(_SQL["queue_rest"], _place(session))
    if queued.rowcount:
        await enqueue_index(connection, session.tenant_id, session.namespace_id, session.session_id)


def _addition(batch: IndexedBatch) -> Addition:
    session = batch.pending.session
    units = [*batch.units, *(fact.unit for fact in batch.facts if fact.unit)]
    memories = [
        *batch.created,
        *([batch.extended] if batch.extended else []),
        *(fact.memory for fact in batch.facts),
    ]
    return addition_of(
        session.namespace_id, session.session_id, units, memories, batch.grown, indexed_to=batch.indexed_sequence
    )


def _added_bytes(batch: IndexedBatch) -> int:
    added = sum(_size(memory) for memory in batch.created)
    if batch.extended and batch.pending.episode:
        added += _size(batch.extended) - _size(batch.pending.episode.memory)
    return added


def _size(memory: Memory) -> int:
    return len(memory.content.encode())


def _place(session: SessionKey) -> dict[str, Any]:
    return {
        "tenant_id": session.tenant_id,
        "namespace_id": session.namespace_id,
        "session_id": session.session_id,
    }


def _window_record(turn: WindowedTurn) -> dict[str, object]:
    return {
        "event_id": turn.unit_id,
        "sequence": turn.sequence,
        "memory_id": turn.memory_id,
        "plain": float_bytes(turn.plain),
        "weighted_sum": float_bytes(turn.weighted_sum),
        "own_keywords": list(turn.own_keywords),
        "keywords": list(turn.bag.weights.keys()),
        "weights": list(turn.bag.weights.values()),
        "token_count": turn.bag.token_count,
    }


def _window_of(row: Mapping[str, Any]) -> WindowedTurn:
    return WindowedTurn(
        unit_id=row["event_id"],
        memory_id=row["memory_id"],
        sequence=row["sequence"],
        plain=floats_of(row["plain"]),
        weighted_sum=floats_of(row["weighted_sum"]),
        own_keywords=tuple(row["own_keywords"]),
        bag=KeywordBag(dict(zip(row["keywords"], row["weights"], strict=True)), row["token_count"]),
        asks=asks(row["content"]),
    )
