"""Namespaces with indexed conversations, written by the rules of the index, with real vectors: what recall tests read.

Every turn's vector is smoothed and its keyword bag holds its neighbours', as in production; rows are inserted by the
superuser, so that tests also see what the service's role must not.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from rearview.domain.event import CaptureOutcome, EventRole
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import AFTER, BEFORE, TWO_AFTER, TWO_BEFORE, KeywordBag
from rearview.domain.memory import ORIGIN_OF_ROLE, TRUST_OF_ORIGIN, MemoryState, MemoryType, Origin, Trust
from rearview.domain.principal import Scope
from rearview.domain.search_unit import UnitFlag, language_flags
from rearview.domain.smoothing import smooth
from rearview.domain.unit_projection import KeywordStatistics, indexed_terms
from rearview.language.aliases import canonical
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.scripts import languages
from rearview.language.time_expressions import find_times
from rearview.ports.embedder import Embedder

MAIN, FRESH = "search_unit", "search_unit_fresh"
BASE = datetime(2024, 3, 1, 9, tzinfo=UTC)
_DIMENSIONS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to be stored."""

    text: str
    role: EventRole = EventRole.USER
    speaker: str = ""


@dataclass
class Unit:
    """A row of a search table in the making."""

    unit_id: UUID
    memory_id: UUID
    occurred_at: datetime
    speaker: int
    flags: int
    type: MemoryType
    vector: NDArray[np.float32]
    bag: KeywordBag
    state: int = 0


@dataclass
class Library:
    """One namespace; `await index()` writes what was added."""

    connection: psycopg.Connection
    embedder: Embedder
    ordinal: int
    scope: Scope
    _units: list[Unit] = field(default_factory=list)
    _speakers: dict[int, str] = field(default_factory=dict)
    _counted: Counter[int] = field(default_factory=Counter)
    _totals: Counter[str] = field(default_factory=Counter)
    _length: float = 0.0

    async def episode(
        self,
        session_id: str,
        turns: Sequence[Turn | str],
        *,
        start: datetime = BASE,
        entities: Sequence[str] = (),
        state: MemoryState = MemoryState.ACTIVE,
        labels: dict[str, str] | None = None,
    ) -> tuple[UUID, list[UUID]]:
        """Add a session with one episode of all its turns; return the memory's id and the events'."""
        whole = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]
        times = [start + timedelta(minutes=at) for at in range(len(whole))]
        events = self.events(session_id, whole, times, CaptureOutcome.KEPT)
        memory_id = self.memory_row(
            "\n".join(turn.text for turn in whole),
            MemoryType.EPISODE,
            occurred_at=start,
            occurred_until=times[-1],
            session_id=session_id,
            entities=entities,
            origin=ORIGIN_OF_ROLE[whole[0].role],
            state=state,
            labels=labels,
        )
        self.link(memory_id, session_id, events)
        raw = await self.embedder.embed_passages([turn.text for turn in whole])
        vectors = smooth(self.embedder.generation.centre(raw))
        hasher = KeywordHashes()
        own = [hasher.keywords(self.scope.namespace_id, turn.text) for turn in whole]
        for at, (turn, event_id) in enumerate(zip(whole, events, strict=True)):
            bag = KeywordBag.of(own[at])
            for offset, weight in ((-1, BEFORE), (1, AFTER), (-2, TWO_BEFORE), (2, TWO_AFTER)):
                if 0 <= at + offset < len(own):
                    bag = bag.including(own[at + offset], weight)
            speaker = hasher.speaker(self.scope.namespace_id, turn.speaker)
            if speaker:
                self._speakers[speaker] = turn.speaker
            self._units.append(
                Unit(
                    event_id,
                    memory_id,
                    times[at],
                    speaker,
                    _flags(turn.text, turn.role, times[at]),
                    MemoryType.EPISODE,
                    vectors[at],
                    bag,
                    state=0 if state is MemoryState.ACTIVE else 1,
                )
            )
        return memory_id, events

    async def memory(
        self,
        text: str,
        kind: MemoryType = MemoryType.EXPLICIT,
        *,
        occurred_at: datetime = BASE,
        entities: Sequence[str] = (),
        state: MemoryState = MemoryState.ACTIVE,
        **columns: Any,
    ) -> UUID:
        """Add a memory without turns; return its id."""
        memory_id = self.memory_row(text, kind, occurred_at=occurred_at, entities=entities, state=state, **columns)
        raw = await self.embedder.embed_passages([text])
        keywords = KeywordHashes().keywords(self.scope.namespace_id, text)
        self._units.append(
            Unit(
                memory_id,
                memory_id,
                occurred_at,
                0,
                _flags(text, EventRole.USER, occurred_at),
                kind,
                self.embedder.generation.centre(raw)[0],
                KeywordBag.of(keywords),
                state=0 if state is MemoryState.ACTIVE else 1,
            )
        )
        return memory_id

    def index(self, *, table: str = FRESH, count: bool = True) -> None:
        """Write the units that were added, and add them to the namespace's counts."""
        for unit in self._units if count else ():
            self._counted.update(unit.bag.weights.keys())
            self._length += unit.bag.length
            self._totals["units"] += 1
            self._totals["chinese"] += bool(unit.flags & UnitFlag.CHINESE)
            self._totals["english"] += bool(unit.flags & UnitFlag.ENGLISH)
        statistics = KeywordStatistics(self._totals["units"], self._length, self._counted)
        columns = (
            "tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type, closed, "
            "created_at, embedding, sv"
        )
        with self.connection.cursor().copy(
            f"COPY {table}_{self.ordinal} ({columns}) FROM STDIN WITH (FORMAT BINARY)"
        ) as copy:
            copy.set_types(
                [
                    *("uuid", "uuid", "uuid", "uuid", "timestamptz", "int4", "int2", "int2", "int2", "bool"),
                    *("timestamptz", "halfvec", "sparsevec"),
                ]
            )
            for unit in self._units:
                terms = {term - 1: weight for term, weight in indexed_terms(unit.bag, statistics).items()}
                copy.write_row(
                    (
                        self.scope.tenant_id,
                        self.scope.namespace_id,
                        unit.unit_id,
                        unit.memory_id,
                        unit.occurred_at,
                        unit.speaker,
                        unit.flags,
                        unit.state,
                        int(unit.type),
                        True,
                        unit.occurred_at,
                        HalfVector(unit.vector),
                        SparseVector(terms, _DIMENSIONS),
                    )
                )
        self._units.clear()
        self._write_counts()

    def events(
        self,
        session_id: str,
        turns: Sequence[Turn],
        times: Sequence[datetime],
        outcome: CaptureOutcome,
        *,
        first_sequence: int = 1,
    ) -> list[UUID]:
        """Insert a session's events, and the session; return the events' ids."""
        ids = [new_id() for _ in turns]
        self.connection.execute(
            """INSERT INTO session (tenant_id, namespace_id, session_id, started_at, last_event_at, last_sequence)
               VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (tenant_id, namespace_id, session_id)
               DO UPDATE SET last_sequence = excluded.last_sequence, last_event_at = excluded.last_event_at""",
            [*self._key, session_id, times[0], times[-1], first_sequence + len(turns) - 1],
        )
        with self.connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO event (tenant_id, namespace_id, event_id, session_id, sequence, role, speaker, content,
                                      occurred_at, created_at, keywords, outcome)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                [
                    (
                        *self._key,
                        event_id,
                        session_id,
                        first_sequence + at,
                        int(turn.role),
                        turn.speaker,
                        turn.text,
                        when,
                        when,
                        list(KeywordHashes().keywords(self.scope.namespace_id, turn.text)),
                        int(outcome),
                    )
                    for at, (event_id, turn, when) in enumerate(zip(ids, turns, times, strict=True))
                ],
            )
        return ids

    def raw_turn(
        self, session_id: str, turn: Turn | str, outcome: CaptureOutcome, *, when: datetime = BASE, sequence: int = 1
    ) -> UUID:
        """Insert one event that no memory holds; return its id."""
        whole = turn if isinstance(turn, Turn) else Turn(turn)
        return self.events(session_id, [whole], [when], outcome, first_sequence=sequence)[0]

    def memory_row(
        self,
        text: str,
        kind: MemoryType,
        *,
        occurred_at: datetime = BASE,
        entities: Sequence[str] = (),
        origin: Origin = Origin.USER,
        state: MemoryState = MemoryState.ACTIVE,
        labels: dict[str, str] | None = None,
        **columns: object,
    ) -> UUID:
        """Insert the row of a memory; return its id."""
        memory_id = new_id()
        trust: Trust = TRUST_OF_ORIGIN[origin]
        row: dict[str, object] = {
            "tenant_id": self.scope.tenant_id,
            "namespace_id": self.scope.namespace_id,
            "memory_id": memory_id,
            "type": int(kind),
            "state": int(state),
            "content": text,
            "content_hash": hashlib.sha256(text.encode()).digest(),
            "labels": Jsonb(labels or {}),
            "entities": Jsonb([{"type": "other", "text": name, "canonical": canonical(name)} for name in entities]),
            "entity_keys": [canonical(name) for name in entities],
            "origin": int(origin),
            "trust": int(trust),
            "occurred_at": occurred_at,
            "created_at": occurred_at,
            "updated_at": occurred_at,
            "languages": int(language_flags(languages(text))),
            "generation": self.ordinal,
            **columns,
        }
        names, values = ", ".join(row), ", ".join(["%s"] * len(row))
        self.connection.execute(f"INSERT INTO memory ({names}) VALUES ({values})", list(row.values()))
        return memory_id

    def link(self, memory_id: UUID, session_id: str, events: Sequence[UUID]) -> None:
        """Say which events a memory came from."""
        with self.connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO memory_event VALUES (%s, %s, %s, %s, %s, %s)",
                [(*self._key, memory_id, event_id, session_id, at) for at, event_id in enumerate(events, 1)],
            )

    def tombstone(self, memory_id: UUID) -> None:
        """Forget a memory as the writer does: its row, its units and its events."""
        for statement in (
            "UPDATE memory SET state = 4 WHERE memory_id = %s",
            f"UPDATE {MAIN}_{self.ordinal} SET state = 2 WHERE memory_id = %s",
            f"UPDATE {FRESH}_{self.ordinal} SET state = 2 WHERE memory_id = %s",
            """UPDATE event SET tombstoned = true, outcome = 7
               WHERE event_id IN (SELECT event_id FROM memory_event WHERE memory_id = %s)""",
        ):
            self.connection.execute(statement, [memory_id])

    @property
    def _key(self) -> tuple[UUID, UUID]:
        return self.scope.tenant_id, self.scope.namespace_id

    def _write_counts(self) -> None:
        self.connection.execute(
            """INSERT INTO keyword_frequency (tenant_id, namespace_id, keyword, units)
               SELECT %s, %s, r.keyword, r.units FROM json_to_recordset(%s::json) AS r (keyword int4, units int4)
               ON CONFLICT (tenant_id, namespace_id, keyword) DO UPDATE SET units = excluded.units""",
            [
                *self._key,
                json.dumps([{"keyword": term, "units": units} for term, units in self._counted.items()]),
            ],
        )
        self.connection.execute(
            """INSERT INTO namespace_statistics (tenant_id, namespace_id, units, keyword_total, chinese_units,
                                                 english_units)
               VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (tenant_id, namespace_id) DO UPDATE
               SET units = excluded.units, keyword_total = excluded.keyword_total,
                   chinese_units = excluded.chinese_units, english_units = excluded.english_units""",
            [
                *self._key,
                self._totals["units"],
                self._length,
                self._totals["chinese"],
                self._totals["english"],
            ],
        )
        for number, name in self._speakers.items():
            self.connection.execute(
                "INSERT INTO speaker VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", [*self._key, number, name]
            )


def open_library(superuser_url: str, embedder: Embedder, *, tenant: UUID | None = None, name: str = "notes") -> Library:
    """Return a new namespace, of a new tenant unless one is given. Its connection is autocommitting."""
    connection = psycopg.connect(superuser_url, autocommit=True)
    register_vector(connection)
    generation = embedder.generation
    row = connection.execute(
        "SELECT rearview_register_generation(%s, %s, %s, '{}')",
        [generation.generation_id, generation.card.model_name, generation.dimension],
    ).fetchone()
    assert row is not None
    tenant_id, namespace_id = tenant or new_id(), new_id()
    if tenant is None:
        connection.execute(
            "INSERT INTO tenant (tenant_id, name, created_at) VALUES (%s, %s, now())", [tenant_id, f"t{tenant_id.hex}"]
        )
    connection.execute(
        """INSERT INTO namespace (tenant_id, namespace_id, name, owner, created_at, updated_at)
           VALUES (%s, %s, %s, 'agent', now(), now())""",
        [tenant_id, namespace_id, name],
    )
    return Library(connection, embedder, row[0], Scope(tenant_id, namespace_id, name, principal="agent"))


def _flags(text: str, role: EventRole, when: datetime) -> int:
    flags = language_flags(languages(text))
    if role is EventRole.USER:
        flags |= UnitFlag.ROLE_USER
    if find_times(text, when, UTC):
        flags |= UnitFlag.RESOLVABLE_TIME
    return int(flags)
