"""Lines of an export, from what they hold."""

import base64
import json
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.exchange.records import (
    SCHEMA_VERSION,
    End,
    ExportedEvent,
    ExportedLink,
    ExportedMemory,
    ExportedUnit,
    Manifest,
    Record,
)
from rearview.domain.memory import Fact, Memory

FORMAT = "rearview-export"


def written(record: Record) -> str:
    """Return the line of a record, without its end. What is absent is left out."""
    if isinstance(record, Manifest):
        content = _manifest(record)
    elif isinstance(record, ExportedEvent):
        content = _event(record)
    elif isinstance(record, ExportedMemory):
        content = _memory(record)
    else:
        content = _end(record)
    return json.dumps(_present(content), ensure_ascii=False, separators=(",", ":"), default=_text)


def _manifest(manifest: Manifest) -> dict[str, Any]:
    return {
        "kind": "manifest",
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "export_id": manifest.export_id,
        "exported_at": manifest.exported_at,
        "namespace": manifest.namespace,
        "namespace_id": manifest.namespace_id,
        "model_generation": manifest.generation_id,
        "events": manifest.events,
        "memories": manifest.memories,
    }


def _event(record: ExportedEvent) -> dict[str, Any]:
    event = record.event
    return {
        "kind": "event",
        "id": event.event_id,
        "session": {
            "id": record.session_id,
            "started_at": record.session_started_at,
            "last_event_at": record.session_last_event_at,
            "ended_at": record.session_ended_at,
        },
        "sequence": event.sequence,
        "role": event.role.name.lower(),
        "speaker": event.speaker,
        "content": event.content,
        "tool_call": _tool_call(event),
        "image_caption": event.image_caption,
        "metadata": dict(event.metadata),
        "redactions": list(event.redactions),
        "occurred_at": event.occurred_at,
        "created_at": event.created_at,
        "outcome": record.outcome.name.lower(),
        "reason": record.reason,
        "importance": record.importance,
        "bands": list(record.bands),
        "indexed_at": record.indexed_at,
    }


def _tool_call(event: Event) -> dict[str, Any] | None:
    call = event.tool_call
    if call is None:
        return None
    return {
        "tool": call.tool,
        "call_id": call.call_id,
        "arguments": dict(call.arguments),
        "result": call.result,
        "failed": call.failed,
    }


def _memory(record: ExportedMemory) -> dict[str, Any]:
    memory = record.memory
    return {
        "kind": "memory",
        "id": memory.memory_id,
        "type": memory.type.name.lower(),
        "state": memory.state.name.lower(),
        "tier": memory.tier.name.lower(),
        "content": memory.content,
        "priority": memory.priority,
        "pinned": memory.pinned,
        "labels": dict(memory.labels),
        "metadata": dict(memory.metadata),
        "entities": [
            {"type": entity.type.value, "text": entity.text, "canonical": entity.canonical}
            for entity in memory.entities
        ],
        "intent": memory.intent.value,
        "valence": memory.sentiment.valence,
        "intensity": memory.sentiment.intensity,
        "origin": memory.origin.name.lower(),
        "trust": memory.trust.name.lower(),
        "confidence": memory.confidence,
        **_times(memory),
        "superseded_by": memory.superseded_by,
        "session": memory.session_id,
        "languages": sorted(language.value for language in memory.languages),
        "redactions": list(memory.redactions),
        "fact": _fact(memory.fact, record) if memory.fact else None,
        "derived": record.derived,
        "access_count": memory.access_count,
        "last_accessed_at": memory.last_accessed_at,
        "version": memory.version,
        "events": [_link(link) for link in record.links],
        "sources": list(record.sources),
        "model_generation": memory.generation_id,
        "units": [_unit(unit) for unit in record.units],
    }


def _times(memory: Memory) -> dict[str, datetime | None]:
    return {
        "occurred_at": memory.occurred_at,
        "occurred_until": memory.occurred_until,
        "valid_from": memory.valid_from,
        "valid_to": memory.valid_to,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
    }


def _fact(fact: Fact, record: ExportedMemory) -> dict[str, Any]:
    return _present(
        {
            **{name: getattr(fact, name) for name in fact.__slots__},
            "told_at": record.told_at,
            "source_id": record.source_id,
        }
    )


def _link(link: ExportedLink) -> dict[str, Any]:
    return _present(
        {"session": link.session_id, "id": link.event_id, "sequence": link.sequence, "repeats": link.repeats}
    )


def _unit(unit: ExportedUnit) -> dict[str, Any]:
    return {
        "id": unit.unit_id,
        "occurred_at": unit.occurred_at,
        "flags": unit.flags,
        "vector": base64.b64encode(unit.vector).decode(),
        "terms": list(unit.terms),
        "weights": list(unit.weights),
    }


def _end(end: End) -> dict[str, Any]:
    return {"kind": "end", "events": end.events, "memories": end.memories, "checksum": end.checksum.hex()}


def _present(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value not in (None, "", [], {})}


def _text(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is not a value of a line")
