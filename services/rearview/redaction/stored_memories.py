"""Memories as they are stored, redacted as a whole: when they are imported, and when what is redacted has changed."""

from collections.abc import Callable
from dataclasses import replace

from rearview.domain.memory import Fact, Memory
from rearview.redaction.placeholders import Settle
from rearview.redaction.texts import Redaction
from rearview.redaction.trees import mapped_tree


def redacted_stored_memory(memory: Memory, redaction: Redaction) -> Memory:
    """Return the memory with all of its texts redacted, without the entities that are redacted, and with the categories
    that were found. Raises: InvalidFields: the metadata is nested too deep."""
    redacted = replace(
        memory,
        content=redaction.text(memory.content),
        labels={redaction.text(key): redaction.text(value) for key, value in memory.labels.items()},
        metadata=redaction.tree(memory.metadata, "metadata"),
        entities=tuple(
            entity
            for entity in memory.entities
            if redaction.text(entity.text) == entity.text and redaction.text(entity.canonical) == entity.canonical
        ),
        fact=_fact(memory.fact, redaction.text) if memory.fact else None,
    )
    return replace(redacted, redactions=tuple(dict.fromkeys([*memory.redactions, *redaction.found])))


def settled_memory(memory: Memory, settle: Settle) -> Memory:
    """Return the memory with the final placeholders in all of its texts."""
    return replace(
        memory,
        content=settle(memory.content),
        labels={settle(key): settle(value) for key, value in memory.labels.items()},
        metadata=mapped_tree(memory.metadata, settle),
        fact=_fact(memory.fact, settle) if memory.fact else None,
    )


def _fact(fact: Fact, change: Callable[[str], str]) -> Fact:
    return replace(
        fact,
        subject=change(fact.subject),
        value=change(fact.value),
        value_key=change(fact.value_key),
        replaces=change(fact.replaces),
        note=change(fact.note),
    )
