"""What an export holds, redacted by the policy of the tenant that takes it in. Placeholders have no numbers: what they
stand for is not told."""

from dataclasses import replace

from rearview.domain.exchange.records import ExportedEvent, ExportedMemory
from rearview.redaction.stored_memories import redacted_stored_memory
from rearview.redaction.texts import Redaction, redacted_event


def imported_event(record: ExportedEvent, redaction: Redaction) -> ExportedEvent:
    """Return the event, redacted. Raises: InvalidFields: a payload is nested too deep."""
    event = redacted_event(record.event, redaction, "event")
    categories = tuple(dict.fromkeys([*record.event.redactions, *event.redactions]))
    return replace(record, event=replace(event, redactions=categories))


def imported_memory(record: ExportedMemory, redaction: Redaction) -> ExportedMemory:
    """Return the memory, redacted. Raises: InvalidFields: the metadata is nested too deep."""
    return replace(record, memory=redacted_stored_memory(record.memory, redaction))
