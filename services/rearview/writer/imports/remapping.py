"""Ids of an export and the ids here."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from rearview.domain.exchange.records import ExportedEvent, ExportedMemory, Remapping


def ids_of(records: Iterable[ExportedEvent | ExportedMemory], remapping: Remapping) -> dict[UUID, UUID]:
    """Return, by the ids of the export, the ids here, of records and all that they refer to."""
    found: dict[UUID, UUID] = {}
    for record in records:
        ids = [record.event.event_id] if isinstance(record, ExportedEvent) else _all_of(record)
        found |= {resource_id: remapping.of(resource_id) for resource_id in ids if resource_id not in found}
    return found


def remapped_event(record: ExportedEvent, ids: Mapping[UUID, UUID]) -> ExportedEvent:
    """Return the event with the id that it has here."""
    return replace(record, event=replace(record.event, event_id=ids[record.event.event_id]))


def remapped_memory(record: ExportedMemory, ids: Mapping[UUID, UUID]) -> ExportedMemory:
    """Return the memory with the ids that it and all that it refers to have here."""
    memory = record.memory
    superseded_by = ids[memory.superseded_by] if memory.superseded_by else None
    return replace(
        record,
        memory=replace(memory, memory_id=ids[memory.memory_id], superseded_by=superseded_by),
        source_id=ids[record.source_id] if record.source_id else None,
        links=tuple(
            replace(link, event_id=ids[link.event_id], repeats=ids[link.repeats] if link.repeats else None)
            for link in record.links
        ),
        sources=tuple(ids[source] for source in record.sources),
        units=tuple(replace(unit, unit_id=ids[unit.unit_id]) for unit in record.units),
    )


def _all_of(record: ExportedMemory) -> list[UUID]:
    memory = record.memory
    links = [one for link in record.links for one in (link.event_id, link.repeats) if one]
    others = [one for one in (memory.superseded_by, record.source_id) if one]
    return [memory.memory_id, *others, *links, *record.sources, *(unit.unit_id for unit in record.units)]
