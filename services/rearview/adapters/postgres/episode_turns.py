"""Episodes that lose some of their turns, and get them back."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Connection, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.memory_rows import read_memories, replace_memory
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.domain.episode_text import episode_text, rewritten
from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.ports.forgetting import NotHot

_SQL = load_queries("forgetting")


@dataclass(frozen=True, slots=True)
class CutTurns:
    """What episodes lost: links as JSON objects, and bytes of text."""

    links: Sequence[Mapping[str, Any]]
    bytes: int


async def made_of_their_turns(connection: Connection, scope: Scope, memory_ids: Collection[UUID]) -> set[UUID]:
    """Return the episodes whose text is that of their turns and nothing else."""
    if not memory_ids:
        return set()
    memories = await read_memories(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    turns = await _turns(connection, scope, memory_ids)
    return {one for one, memory in memories.items() if memory.content == episode_text(turns[one])}


async def cut_turns(
    connection: Connection, scope: Scope, memory_ids: Collection[UUID], event_ids: Collection[UUID], now: datetime
) -> CutTurns:
    """Write episodes anew without these turns, which are tombstoned by now."""
    if not memory_ids:
        return CutTurns((), 0)
    place = {**_place(scope), "memory_ids": list(memory_ids), "event_ids": list(event_ids)}
    rows = await (await dict_rows(connection, _SQL["cut_links"], place)).fetchall()
    links = [{**row, "memory_id": str(row["memory_id"]), "event_id": str(row["event_id"])} for row in rows]
    memories = await read_memories(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    return CutTurns(links, -await _rewrite(connection, scope, memories, now))


async def mend_turns(connection: Connection, scope: Scope, links: Sequence[Mapping[str, Any]], now: datetime) -> int:
    """Give episodes back what they lost, unless somebody has written over them since; return by how many bytes they
    grew.

    Raises:
        NotHot: these must be hot first.
    """
    if not links:
        return 0
    memory_ids = sorted({UUID(link["memory_id"]) for link in links})
    memories = await read_memories(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    if cold := tuple(one for one, memory in memories.items() if not memory.content):
        raise NotHot(cold)
    returning = {UUID(link["event_id"]) for link in links}
    turns = await _turns(connection, scope, memory_ids)
    own = {
        one: memory
        for one, memory in memories.items()
        if memory.content == episode_text([turn for turn in turns[one] if turn.event_id not in returning])
    }
    await connection.execute(_SQL["mend_links"], {**_place(scope), "links": as_records(links)})
    return await _rewrite(connection, scope, own, now)


async def _rewrite(connection: Connection, scope: Scope, memories: Mapping[UUID, Memory], now: datetime) -> int:
    turns = await _turns(connection, scope, memories.keys())
    grown = 0
    for memory_id, memory in sorted(memories.items()):
        after = rewritten(memory, turns[memory_id], now)
        grown += len(after.content.encode()) - len(memory.content.encode())
        await replace_memory(connection, scope.tenant_id, scope.namespace_id, after)
    return grown


async def _turns(connection: Connection, scope: Scope, memory_ids: Collection[UUID]) -> Mapping[UUID, list[Event]]:
    place = {**_place(scope), "memory_ids": list(memory_ids)}
    turns: dict[UUID, list[Event]] = defaultdict(list)
    for row in await (await dict_rows(connection, _SQL["turns_of_episodes"], place)).fetchall():
        turns[row["memory_id"]].append(event_of(row))
    return turns


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
