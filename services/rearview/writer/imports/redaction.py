"""What an export holds, redacted by the policy of the tenant that takes it in. Placeholders have no numbers: what they
stand for is not told."""

from collections.abc import Callable
from dataclasses import replace

from rearview.domain.exchange.records import ExportedEvent, ExportedMemory
from rearview.domain.memory import Fact, Memory
from rearview.writer.redaction import Redaction, redacted_event


def imported_event(record: ExportedEvent, redaction: Redaction) -> ExportedEvent:
    """Return the event, redacted. Raises: InvalidFields: a payload is nested too deep."""
    event = redacted_event(record.event, redaction, "event")
    categories = tuple(dict.fromkeys([*record.event.redactions, *event.redactions]))
    return replace(record, event=replace(event, redactions=categories))


def imported_memory(record: ExportedMemory, redaction: Redaction) -> ExportedMemory:
    """Return the memory, redacted. Raises: InvalidFields: the metadata is nested too deep."""
    memory = record.memory
    redacted = replace(
        memory,
        content=redaction.text(memory.content),
        labels={redaction.text(key): redaction.text(value) for key, value in memory.labels.items()},
        metadata=redaction.tree(memory.metadata, "metadata"),
        entities=tuple(entity for entity in memory.entities if redaction.text(entity.text) == entity.text),
        fact=_fact(memory.fact, redaction.text) if memory.fact else None,
    )
    return replace(record, memory=_with_categories(redacted, redaction.found))


def _fact(fact: Fact, redact: Callable[[str], str]) -> Fact:
    return replace(
        fact,
        subject=redact(fact.subject),
        value=redact(fact.value),
        value_key=redact(fact.value_key),
        replaces=redact(fact.replaces),
    )


def _with_categories(memory: Memory, found: tuple[str, ...]) -> Memory:
    return replace(memory, redactions=tuple(dict.fromkeys([*memory.redactions, *found])))
