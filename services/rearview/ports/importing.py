"""Storing what exports hold. No call holds a connection between reading and writing: models run in between."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.cold import ColdUnit
from rearview.domain.exchange.records import ExportedEvent, ExportedMemory
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.principal import Scope
from rearview.domain.unit_projection import KeywordStatistics
from rearview.ports.forgetting import StaleTurn


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import has come: lines taken in, their checksum, and the sessions whose vectors are made anew because
    turns of them were refused or redacted."""

    lines: int
    checksum: bytes
    touched_sessions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Known:
    """Which ids are there already, and which were forgotten: there, or in the namespace that they came from."""

    there: frozenset[UUID]
    forgotten: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class ImportedEvent:
    """An event as it is to be stored; `keywords` are those of the raw-turn route, `speaker` is the name's hash."""

    record: ExportedEvent
    keywords: tuple[int, ...]
    speaker: int


@dataclass(frozen=True, slots=True, eq=False)
class ImportedMemory:
    """A memory as it is to be stored, with its units and the bags that the counts of BM25 get for them."""

    record: ExportedMemory
    units: tuple[ColdUnit, ...]
    bags: tuple[KeywordBag, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ImportBatch:
    """Some lines on their way into the database.

    Attributes:
        export_id: of which export.
        before: how many lines were taken in before these; 0 where nothing was stored yet.
        progress: how far the import is with these.
        ids: by the ids of the export, the ids here, of all that is stored and all that it refers to.
        known: what the batch was made from. If more was forgotten since, nothing is written.
        source_namespace_id: where the ids of the export are from; None for elsewhere.
    """

    export_id: UUID
    before: int
    progress: Progress
    ids: Mapping[UUID, UUID]
    known: Known
    source_namespace_id: UUID | None
    events: tuple[ImportedEvent, ...] = ()
    memories: tuple[ImportedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """What a batch led to: stored ones, those that others had stored meanwhile left out."""

    events: int = 0
    memories: int = 0
    units: int = 0
    superseded: int = 0


class ImportStore(Protocol):
    """All raise Unavailable and DeadlineExceeded."""

    async def progress(self, scope: Scope, export_id: UUID) -> Progress | None:
        """Return how far an import is that stopped on its way; None where there is none."""
        ...

    async def end(self, scope: Scope, export_id: UUID) -> None:
        """Forget how far an import was: it is at its end, or begins anew."""
        ...

    async def known(self, scope: Scope, source_namespace_id: UUID | None, ids: Mapping[UUID, UUID]) -> Known:
        """Return what is known of ids; `forgotten` holds ids of the export, `there` ids here."""
        ...

    async def taken(self, scope: Scope, places: Collection[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        """Return which places in sessions, by session and sequence, hold an event."""
        ...

    async def windows(self, scope: Scope, event_ids: Collection[UUID]) -> Sequence[StaleTurn]:
        """Return the events that are there and not forgotten, each with the kept turns within its window."""
        ...

    async def statistics(self, scope: Scope, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts, with those of the given terms."""
        ...

    async def write(self, scope: Scope, batch: ImportBatch, *, now: datetime) -> Stored | None:
        """Write a batch in one transaction and raise the breaking epoch; None, and nothing written, if more was
        forgotten since it was made.

        Raises:
            Conflict: another call went on with this import.
        """
        ...
