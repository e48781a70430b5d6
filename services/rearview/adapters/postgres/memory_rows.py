"""Memories as rows: how columns and the JSON in them become values."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rearview.domain.memory import Fact, Memory, MemoryState, MemoryType, Origin, Tier, Trust
from rearview.domain.search_unit import languages_of
from rearview.domain.text import Entity, EntityType, Intent, Sentiment

Row = Mapping[str, Any]


def memory_of(row: Row) -> Memory:
    """Return the memory of a row with the columns of `memory_reading.sql`."""
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
        entities=tuple(entity_of_json(entity) for entity in row["entities"]),
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
        fact=_fact(row),
        access_count=row["access_count"],
        last_accessed_at=row["last_accessed_at"],
        version=row["version"],
    )


def entity_of_json(stored: Mapping[str, Any]) -> Entity:
    """Return an entity of the column `memory.entities`."""
    return Entity(
        type=EntityType(stored["type"]),
        text=stored["text"],
        canonical=stored["canonical"],
        start=stored.get("start", 0),
        end=stored.get("end", 0),
    )


def _fact(row: Row) -> Fact | None:
    if row["fact_subject"] is None:
        return None
    return Fact(
        subject=row["fact_subject"],
        attribute=row["fact_attribute"],
        value=row["fact_value"] or "",
        unit=row["fact_unit"] or "",
        single_valued=bool(row["single_valued"]),
    )
