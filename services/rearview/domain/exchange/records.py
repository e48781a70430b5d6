"""What the lines of an export hold.

An export is JSON Lines: a manifest, the events in the order of their sessions, the memories in the order of their ids,
and a last line that counts them and carries the checksum of all lines before it.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from rearview.domain.event import CaptureOutcome, Event
from rearview.domain.memory import Memory

SCHEMA_VERSION = 1
MAX_LINE_BYTES = 4 * 1024 * 1024
EMPTY_CHECKSUM = bytes(32)
"""The checksum of no lines."""


def chained(checksum: bytes, line: str) -> bytes:
    """Return the checksum of some lines and one more: SHA-256 of the checksum before it and the line's UTF-8.

    A chain and not one hash over the file, so that it can be kept between the parts of an import.
    """
    return hashlib.sha256(checksum + line.encode()).digest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The first line.

    Attributes:
        export_id: by which an import that stopped on its way is found again.
        namespace, namespace_id: what was exported; the id is None for what comes from elsewhere.
        generation_id: the model of the vectors; empty where there are none.
        events, memories: how many there were when the export began.
    """

    export_id: UUID
    exported_at: datetime
    namespace: str
    namespace_id: UUID | None = None
    generation_id: str = ""
    events: int = 0
    memories: int = 0


@dataclass(frozen=True, slots=True)
class ExportedEvent:
    """An event with its session's times and what became of it. `bands` as in `EventCapture`."""

    event: Event
    session_id: str
    session_started_at: datetime
    session_last_event_at: datetime
    session_ended_at: datetime | None = None
    outcome: CaptureOutcome = CaptureOutcome.PENDING
    reason: str = ""
    importance: float = 0.0
    bands: tuple[int, ...] = ()
    indexed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExportedLink:
    """That a memory came from an event, or (`repeats`, a unit) that the event said it again."""

    session_id: str
    event_id: UUID
    sequence: int
    repeats: UUID | None = None


@dataclass(frozen=True, slots=True)
class ExportedUnit:
    """What a memory is found by: one of its turns, or itself.

    Attributes:
        vector: little-endian float16, bit for bit what the search table held; its model is the memory's generation.
        terms: keyword hashes within the namespace that was exported, with their BM25 weights.
    """

    unit_id: UUID
    occurred_at: datetime
    flags: int
    vector: bytes
    terms: tuple[int, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """A memory with everything that belongs to it.

    Attributes:
        told_at: a fact's place among the values of its attribute.
        source_id: the event or memory that stated a fact first.
        derived: made of other memories' sources.
        sources: the memories that it was made of.
        units: what it is found by; empty where that is still to be made.
    """

    memory: Memory
    told_at: datetime | None = None
    source_id: UUID | None = None
    derived: bool = False
    links: tuple[ExportedLink, ...] = ()
    sources: tuple[UUID, ...] = ()
    units: tuple[ExportedUnit, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """The last line: how many events and memories came before it, and the checksum of all lines before it."""

    events: int
    memories: int
    checksum: bytes


Record: TypeAlias = Manifest | ExportedEvent | ExportedMemory | End


class Remapping:
    """The ids that things have in another namespace: the same for the same id whenever they are asked for, of the same
    millisecond as before, so that their order stays. In the namespace that they came from they stay as they are."""

    def __init__(self, source: UUID | None, target: UUID) -> None:
        self._key = None if source == target else target.bytes

    @property
    def keeps(self) -> bool:
        """Whether ids stay as they are."""
        return self._key is None

    def of(self, resource_id: UUID) -> UUID:
        """Return the id in the target."""
        if self._key is None:
            return resource_id
        hashed = hashlib.blake2b(resource_id.bytes, digest_size=10, key=self._key).digest()
        value = resource_id.int >> 80 << 80 | int.from_bytes(hashed, "big")
        value = value & ~(0xF << 76) | 0x7 << 76
        return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
