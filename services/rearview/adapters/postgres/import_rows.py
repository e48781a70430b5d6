"""Rows of what an import stores."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from rearview.adapters.postgres.event_rows import event_record
from rearview.adapters.postgres.memory_rows import memory_record
from rearview.domain.event import CaptureOutcome
from rearview.domain.exchange.records import ExportedMemory
from rearview.domain.memory import Tier
from rearview.ports.event_log import LoggedEvent
from rearview.ports.importing import ImportedEvent


def imported_event_record(imported: ImportedEvent) -> Mapping[str, object]:
    """Return a record of `insert_events`."""
    record = imported.record
    pending = record.outcome is CaptureOutcome.PENDING
    return {
        **event_record(LoggedEvent(record.event, imported.keywords), 0),
        "sequence": record.event.sequence,
        "session_id": record.session_id,
        "created_at": record.event.created_at,
        "outcome": int(record.outcome),
        "importance": record.importance,
        "capture": {} if pending else {"reason": record.reason, "stage_milliseconds": {}, "superseded_ids": []},
        "bands": list(record.bands),
        "indexed_at": None if pending else record.indexed_at or record.event.created_at,
    }


def session_records(events: Iterable[ImportedEvent]) -> list[Mapping[str, object]]:
    """Return records of `open_sessions`, one a session."""
    sessions = {event.record.session_id: event.record for event in events}
    return [
        {
            "session_id": session_id,
            "started_at": record.session_started_at,
            "last_event_at": record.session_last_event_at,
            "ended_at": record.session_ended_at,
        }
        for session_id, record in sessions.items()
    ]


def imported_memory_record(record: ExportedMemory) -> dict[str, object]:
    """Return a record of `insert_memories`. What was cold becomes warm: a sweep moves it on when its time has come."""
    memory, fact = record.memory, record.memory.fact
    return {
        **memory_record(memory),
        "tier": int(min(memory.tier, Tier.WARM)),
        "superseded_by": memory.superseded_by,
        "fact_subject": fact.subject if fact else None,
        "fact_attribute": fact.attribute if fact else None,
        "fact_value": fact.value if fact else None,
        "fact_unit": fact.unit if fact else None,
        "single_valued": fact.single_valued if fact else None,
        "fact_value_key": fact.value_key if fact else None,
        "fact_denied": fact.denied if fact else False,
        "fact_stance": fact.stance if fact else None,
        "fact_category": fact.category if fact else None,
        "fact_replaces": fact.replaces or None if fact else None,
        "fact_told_at": told_at(record) if fact else None,
        "fact_source_id": record.source_id or memory.memory_id if fact else None,
        "extractor": fact.extractor if fact else "",
        "prompt_version": fact.prompt_version if fact else "",
        "extraction_note": fact.note if fact else "",
        "derived": record.derived,
        "version": memory.version,
    }


def told_at(record: ExportedMemory) -> datetime:
    """Return a fact's place among the values of its attribute."""
    return record.told_at or record.memory.occurred_at


def link_records(records: Iterable[ExportedMemory]) -> list[Mapping[str, UUID | None]]:
    """Return records of `link_events`."""
    return [
        {"memory_id": record.memory.memory_id, "event_id": link.event_id, "repeats": link.repeats}
        for record in records
        for link in record.links
    ]


def source_records(records: Iterable[ExportedMemory]) -> list[Mapping[str, UUID]]:
    """Return records of `link_sources`."""
    return [
        {"memory_id": record.memory.memory_id, "source_memory_id": source}
        for record in records
        for source in record.sources
    ]


def stats_records(records: Iterable[ExportedMemory]) -> list[Mapping[str, object]]:
    """Return records of `insert_stats`, of what was used."""
    return [
        {
            "memory_id": record.memory.memory_id,
            "access_count": record.memory.access_count,
            "last_accessed_at": record.memory.last_accessed_at,
        }
        for record in records
        if record.memory.access_count or record.memory.last_accessed_at
    ]
