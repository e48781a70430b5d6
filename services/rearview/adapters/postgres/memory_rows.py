"""Rows of memories, to and from memories."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.consequences import enqueue_rehydration
from rearview.adapters.postgres.database import Connection, dict_rows
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.domain.content_hash import content_hash
from rearview.domain.memory import Fact, Memory, MemoryState, MemoryType, Origin, Tier, Trust
from rearview.domain.search_unit import language_flags, languages_of
from rearview.domain.text import Entity, EntityType, Intent, Sentiment

SQL = load_queries("memory_rows")

# A recall makes hundreds of them.
_ENTITY_TYPES = {one.value: one for one in EntityType}


async def read_memories(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
) -> dict[UUID, Memory]:
    """Return the memories there are of these ids, forgotten ones included."""
    cursor = await dict_rows(
        connection, SQL["read"], {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_ids": list(memory_ids)}
    )
    return {row["memory_id"]: memory_of(row) for row in await cursor.fetchall()}


async def insert_memories(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, generation: int, memories: Iterable[Memory]
) -> None:
    """Insert new memories."""
    await connection.execute(
        SQL["insert"],
        {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "generation": generation,
            "memories": as_records(memory_record(memory) for memory in memories),
        },
    )


async def replace_memory(connection: Connection, tenant_id: UUID, namespace_id: UUID, memory: Memory) -> None:
    """Replace what may change of a memory; its version grows by one."""
    await connection.execute(
        SQL["replace"],
        {"tenant_id": tenant_id, "namespace_id": namespace_id, "memories": as_records([memory_record(memory)])},
    )


async def count_uses(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, times: Mapping[UUID, int], now: datetime
) -> None:
    """Count how often memories were said again: each is a use. Those that are not hot are brought back, by a job."""
    if not times:
        return
    uses = as_records({"memory_id": memory_id, "times": count} for memory_id, count in times.items())
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now}
    elsewhere = await connection.execute(SQL["count_uses"], {**place, "uses": uses})
    for (memory_id,) in await elsewhere.fetchall():
        await enqueue_rehydration(connection, tenant_id, namespace_id, memory_id)


async def not_hot(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
) -> list[UUID]:
    """Return which of these memories are warm or cold."""
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_ids": list(memory_ids)}
    return [row[0] for row in await (await connection.execute(SQL["not_hot"], place)).fetchall()]


def memory_record(memory: Memory) -> Mapping[str, object]:
    """Return the columns of a memory's row, as `insert` and `replace` read them."""
    return {
        "memory_id": memory.memory_id,
        "type": int(memory.type),
        "state": int(memory.state),
        "content": memory.content,
        "content_hash": content_hash(memory.content),
        "priority": memory.priority,
        "pinned": memory.pinned,
        "labels": dict(memory.labels),
        "metadata": dict(memory.metadata),
        "entities": [
            {"type": entity.type.value, "text": entity.text, "canonical": entity.canonical}
            for entity in memory.entities
        ],
        "entity_keys": sorted({entity.canonical for entity in memory.entities}),
        "intent": memory.intent.value,
        "valence": memory.sentiment.valence,
        "intensity": memory.sentiment.intensity,
        "origin": int(memory.origin),
        "trust": int(memory.trust),
        "confidence": memory.confidence,
        "valid_from": memory.valid_from,
        "valid_to": memory.valid_to,
        "occurred_at": memory.occurred_at,
        "occurred_until": memory.occurred_until,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "session_id": memory.session_id,
        "languages": int(language_flags(memory.languages)),
        "redactions": list(memory.redactions),
    }


def memory_of(row: Mapping[str, Any]) -> Memory:
    """Return the memory of a row of `read`. Entities carry no offsets: those were the turn's."""
    return Memory(
        memory_id=row["memory_id"],
        type=MemoryType(row["type"]),
        content=row["content"] or "",
        occurred_at=row["occurred_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        origin=Origin(row["origin"]),
        trust=Trust(row["trust"]),
        state=MemoryState(row["state"]),
        tier=Tier(row["tier"]),
        priority=row["priority"],
        pinned=row["pinned"],
        labels=row["labels"],
        metadata=row["metadata"],
        entities=tuple(
            Entity(_ENTITY_TYPES[entity["type"]], entity["text"], entity["canonical"], 0, 0)
            for entity in row["entities"]
        ),
        intent=Intent(row["intent"]),
        sentiment=Sentiment(row["valence"], row["intensity"]),
        confidence=row["confidence"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        occurred_until=row["occurred_until"],
        expires_at=row["expires_at"],
        superseded_by=row["superseded_by"],
        session_id=row["session_id"],
        event_ids=tuple((session_id, UUID(event_id)) for session_id, event_id in row["events"]),
        languages=languages_of(row["languages"]),
        generation_id=row["generation_id"],
        redactions=tuple(row["redactions"]),
        fact=_fact_of(row),
        access_count=row["access_count"],
        last_accessed_at=row["last_accessed_at"],
        version=row["version"],
    )


def _fact_of(row: Mapping[str, Any]) -> Fact | None:
    if row["fact_subject"] is None:
        return None
    return Fact(
        subject=row["fact_subject"],
        attribute=row["fact_attribute"] or "",
        value=row["fact_value"] or "",
        unit=row["fact_unit"] or "",
        single_valued=bool(row["single_valued"]),
        value_key=row["fact_value_key"] or "",
        denied=row["fact_denied"],
        stance=row["fact_stance"] or "standing",
        category=row["fact_category"] or "",
        replaces=row["fact_replaces"] or "",
        extractor=row["extractor"],
        prompt_version=row["prompt_version"],
        note=row["extraction_note"],
    )
