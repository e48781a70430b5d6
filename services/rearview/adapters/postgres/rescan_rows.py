"""The transaction that rewrites one group of texts."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.consequences import bump_epoch
from rearview.adapters.postgres.database import Connection, dict_rows
from rearview.adapters.postgres.event_rows import event_of, event_record
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.memory_rows import read_memories, replace_memory
from rearview.adapters.postgres.originals import keep_event_originals, replace_memory_original
from rearview.adapters.postgres.placeholders import number_values
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.session_locks import lock_sessions
from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.domain.redaction import Numbers
from rearview.ports.rescan import Rewriting, RewrittenEvent, RewrittenMemory, TextGroup

_SQL = load_queries("rescan")
_FORGETTING = load_queries("forgetting")
_ERASURE = load_queries("erasure")


async def rewrite_group(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, group: TextGroup, rewriting: Rewriting
) -> set[UUID] | None:
    """Rewrite a group; return the units that are to be made anew, None when a text of it is another one by now."""
    place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id}
    sessions = {session for stored in group.memories for session, _ in stored.memory.event_ids}
    sessions |= {stored.memory.session_id for stored in group.memories} | {group.session_id}
    await lock_sessions(connection, tenant_id, namespace_id, sorted(sessions - {""}))
    if not await _stand(connection, place, group):
        return None
    numbers: Numbers = {}
    if group.session_id and rewriting.keys:
        numbers = await number_values(connection, tenant_id, namespace_id, group.session_id, rewriting.keys)
    events, memories = rewriting.numbered(numbers)
    before = {stored.event.event_id: stored.event for stored in group.events}
    await _rewrite_events(connection, place, events, before)
    earlier = {stored.memory.memory_id: stored.memory for stored in group.memories}
    await _rewrite_memories(connection, place, memories, earlier)
    await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
    return await _stale(connection, place, events, memories, sorted(sessions - {""}))


async def _stand(connection: Connection, place: dict[str, Any], group: TextGroup) -> bool:
    """Lock the group's rows and return whether they say what they said when they were read."""
    ids = sorted(stored.memory.memory_id for stored in group.memories)
    await connection.execute(MEMORY_SQL["lock"], {**place, "memory_ids": ids})
    found = await read_memories(connection, place["tenant_id"], place["namespace_id"], ids)
    if {one: _said(memory) for one, memory in found.items()} != {
        stored.memory.memory_id: _said(stored.memory) for stored in group.memories
    }:
        return False
    event_ids = [stored.event.event_id for stored in group.events]
    rows = await (await dict_rows(connection, _SQL["events_again"], {**place, "event_ids": event_ids})).fetchall()
    return {row["event_id"]: event_of(row) for row in rows} == {
        stored.event.event_id: stored.event for stored in group.events
    }


def _said(memory: Memory) -> Memory:
    return replace(memory, access_count=0, last_accessed_at=None)


async def _rewrite_events(
    connection: Connection, place: dict[str, Any], events: Sequence[RewrittenEvent], before: dict[UUID, Event]
) -> None:
    if not events:
        return
    records = [{**event_record(one.logged, at), "bands": list(one.bands)} for at, one in enumerate(events)]
    await connection.execute(_SQL["rewrite_events"], {**place, "events": as_records(records)})
    sealed = {one.logged.event.event_id: one.logged.original for one in events if one.logged.original is not None}
    if sealed:
        await keep_event_originals(connection, place["tenant_id"], place["namespace_id"], sealed)
    after = {one.logged.event.event_id: one.logged.event.speaker for one in events}
    names = sorted({before[one].speaker for one, speaker in after.items() if before[one].speaker != speaker})
    if names:
        await connection.execute(_ERASURE["erase_speakers"], {**place, "names": names})


async def _rewrite_memories(
    connection: Connection, place: dict[str, Any], memories: Sequence[RewrittenMemory], before: dict[UUID, Memory]
) -> None:
    tenant_id, namespace_id = place["tenant_id"], place["namespace_id"]
    shrunk = 0
    for one in memories:
        memory = one.memory
        earlier = before[memory.memory_id]
        shrunk += len(earlier.content.encode()) - len(memory.content.encode())
        await replace_memory(connection, tenant_id, namespace_id, memory)
        if memory.fact is not None and memory.fact != earlier.fact:
            fact = memory.fact
            told = {
                "subject": fact.subject,
                "attribute": fact.attribute,
                "value": fact.value,
                "value_key": fact.value_key,
                "replaces": fact.replaces,
                "note": fact.note,
            }
            await connection.execute(_SQL["rewrite_fact"], {**place, "memory_id": memory.memory_id, **told})
        if one.original is not None:
            await replace_memory_original(connection, tenant_id, namespace_id, memory.memory_id, one.original)
    if shrunk:
        await connection.execute(_FORGETTING["take_from_counts"], {**place, "memories": 0, "bytes": shrunk})


async def _stale(
    connection: Connection,
    place: dict[str, Any],
    events: Sequence[RewrittenEvent],
    memories: Sequence[RewrittenMemory],
    sessions: Collection[str],
) -> set[UUID]:
    """Return the units that say what was rewritten, or have it in their windows, which are closed."""
    event_ids = {one.logged.event.event_id for one in events}
    stale = {one.memory.memory_id for one in memories}
    stale |= event_ids | {event_id for one in memories for _, event_id in one.memory.event_ids}
    near = await connection.execute(_FORGETTING["neighbours"], {**place, "event_ids": list(event_ids)})
    stale |= {row[0] for row in await near.fetchall()}
    if sessions:
        given = {**place, "sessions": list(sessions)}
        closed = await connection.execute(_FORGETTING["close_windows"], given)
        stale |= {row[0] for row in await closed.fetchall()}
        await connection.execute(_FORGETTING["end_episodes"], given)
    return stale
