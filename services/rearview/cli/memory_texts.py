"""Memories as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from rearview.cli.times import shown

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from rearview.v1 import memory_pb2, recall_pb2

LONGEST_CONTENT = 500


def as_dict(message: Message, *, unset_too: bool = False) -> dict[str, Any]:
    """Return a message as JSON-like data under the names of the proto; with `unset_too` also what is empty or zero."""
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=unset_too)


def id_of(name: str) -> str:
    """Return the last part of a resource name."""
    return name.rpartition("/")[2]


def memory_text(memory: memory_pb2.Memory) -> str:
    """Return two lines: when, kind and id, and the content; the id stands whole, to be copied."""
    return _text((shown(memory.occurred_at), _kind(memory), id_of(memory.name)), memory.content)


def hit_text(hit: recall_pb2.RecallHit) -> str:
    """Return the same lines, the mark in `context` and the score before them; of an episode, the turns that match."""
    memory = hit.memory
    content = "\n".join(turn.text for turn in hit.highlights) or memory.content
    head = (hit.citation, f"{hit.score.total:.2f}", shown(memory.occurred_at), _kind(memory), id_of(memory.name))
    return _text(tuple(part for part in head if part), content)


def value_text(memory: memory_pb2.Memory) -> str:
    """Return the same lines with the time in which a fact's value held."""
    held = f"{shown(memory.valid_from)} until {shown(memory.valid_to)}"
    return _text((held, _state(memory), id_of(memory.name)), memory.content)


def details(memory: memory_pb2.Memory) -> Mapping[str, str]:
    """Return everything worth reading of one memory, name by name."""
    return {name: value for name, value in _details(memory) if value and value != "-"}


def _details(memory: memory_pb2.Memory) -> Iterator[tuple[str, str]]:
    from rearview.v1 import memory_pb2 as messages

    yield "name", memory.name
    yield "content", memory.content
    yield "kind", _kind(memory)
    yield "state", _state(memory)
    yield "tier", _word(messages.Tier.Name(memory.tier), "TIER_")
    yield "happened", shown(memory.occurred_at)
    yield "holds from", shown(memory.valid_from)
    yield "held until", shown(memory.valid_to)
    yield "expires", shown(memory.expire_time)
    yield "confidence", f"{memory.confidence:.2f}"
    yield "entities", ", ".join(entity.text for entity in memory.entities)
    yield "labels", ", ".join(f"{key}={value}" for key, value in sorted(memory.labels.items()))
    yield "session", memory.session
    yield "events", "\n".join(memory.events)
    yield "superseded by", memory.superseded_by
    yield "redacted", ", ".join(memory.redactions)
    yield "etag", memory.etag


def _text(head: tuple[str, ...], content: str) -> str:
    content = " ".join(content.split())
    if len(content) > LONGEST_CONTENT:
        content = f"{content[:LONGEST_CONTENT]} ..."
    return f"[dim]{escape('  '.join(head))}[/]\n  {escape(content)}"


def _kind(memory: memory_pb2.Memory) -> str:
    from rearview.v1 import memory_pb2 as messages

    if not memory.name:
        return "turn, not indexed yet"
    return _word(messages.MemoryType.Name(memory.type), "MEMORY_TYPE_")


def _state(memory: memory_pb2.Memory) -> str:
    from rearview.v1 import memory_pb2 as messages

    return _word(messages.MemoryState.Name(memory.state), "MEMORY_STATE_")


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower().replace("_", " ")
