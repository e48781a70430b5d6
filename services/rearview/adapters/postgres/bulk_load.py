"""Many finished sessions at once, by COPY: the rows that the writer would have written, without its steps.

For measuring at sizes that conversations reach in years. Runs as the owner of the schema.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import translated_errors
from rearview.adapters.postgres.memory_rows import memory_record
from rearview.adapters.postgres.records import sparse_text, vector_text
from rearview.domain.event import CaptureOutcome, Event
from rearview.domain.memory import Memory
from rearview.domain.stored_vector import stored_vector
from rearview.domain.unit_projection import SearchUnit

_JSON_COLUMNS = frozenset({"labels", "metadata", "entities"})


@dataclass(frozen=True, slots=True)
class FinishedSession:
    """A session that has ended and was indexed, as rows; `keywords` are those of each event, in their order."""

    session_id: str
    events: Sequence[Event]
    keywords: Sequence[Sequence[int]]
    memories: Sequence[Memory]
    links: Sequence[tuple[UUID, UUID, int]]
    units: Sequence[SearchUnit]


@dataclass(slots=True)
class NamespaceCounts:
    """What the sessions of a namespace add to its statistics."""

    units: int = 0
    keyword_total: float = 0.0
    chinese_units: int = 0
    english_units: int = 0
    memories: int = 0
    size_bytes: int = 0
    terms: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamespacePlace:
    """Where a namespace's rows go."""

    tenant_id: UUID
    namespace_id: UUID


class BulkLoad:
    """A connection of the schema's owner, to one generation's tables. Use as a context."""

    def __init__(self, owner_url: str) -> None:
        with translated_errors():
            self._connection = psycopg.connect(owner_url, autocommit=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def generation(self) -> int | None:
        """Return the ordinal of the current model generation; None before anything was indexed."""
        row = self._connection.execute("SELECT ordinal FROM model_generation WHERE current").fetchone()
        return int(row[0]) if row else None

    def dead_rows(self) -> int:
        """Return the most rows that the tables cold memories leave still hold of what was there before a vacuum."""
        row = self._connection.execute(
            "SELECT coalesce(max(n_dead_tup), 0) FROM pg_stat_user_tables"
            " WHERE relname = 'memory' OR relname ~ '^search_unit_warm_'"
        ).fetchone()
        return int(row[0]) if row else 0

    def place(self, tenant: str, namespace: str) -> NamespacePlace | None:
        """Return where a namespace is; None if there is none of this name."""
        row = self._connection.execute(
            "SELECT n.tenant_id, n.namespace_id FROM namespace n JOIN tenant t USING (tenant_id)"
            " WHERE t.name = %s AND n.name = %s AND n.deleted_at IS NULL",
            [tenant, namespace],
        ).fetchone()
        return NamespacePlace(row[0], row[1]) if row else None

    @contextmanager
    def vector_indexes_rebuilt(self, generation: int, *, maintenance_megabytes: int, workers: int) -> Iterator[None]:
        """Take the vector indexes away while the block runs, and build them anew after it as they were."""
        table = f"search_unit_{generation}"
        rows = self._connection.execute(
            "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i"
            " JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam"
            " WHERE i.indrelid = %s::regclass AND a.amname = 'hnsw'",
            [table],
        ).fetchall()
        for name, _ in rows:
            self._connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
        try:
            yield
        finally:
            self._connection.execute(f"SET maintenance_work_mem = '{int(maintenance_megabytes)}MB'")
            self._connection.execute(f"SET max_parallel_maintenance_workers = {int(workers)}")
            for _, definition in rows:
                self._connection.execute(definition)

    def copy(self, place: NamespacePlace, generation: int, sessions: Sequence[FinishedSession], now: datetime) -> None:
        """Write the rows of sessions, without the namespace's counts, in one transaction."""
        tenant, namespace = place.tenant_id, place.namespace_id
        key = (tenant, namespace)
        with translated_errors(), self._connection.transaction():
            self._rows(
                "COPY session (tenant_id, namespace_id, session_id, started_at, last_event_at, ended_at, last_sequence,"
                " indexed_sequence) FROM STDIN",
                (
                    (
                        *key,
                        s.session_id,
                        s.events[0].occurred_at,
                        s.events[-1].occurred_at,
                        now,
                        len(s.events),
                        len(s.events),
                    )
                    for s in sessions
                ),
            )
            self._rows(
                "COPY event (tenant_id, namespace_id, event_id, session_id, sequence, role, speaker, content,"
                " occurred_at, created_at, keywords, outcome, importance, indexed_at) FROM STDIN",
                (
                    (
                        *key,
                        e.event_id,
                        s.session_id,
                        e.sequence,
                        int(e.role),
                        e.speaker,
                        e.content,
                        e.occurred_at,
                        e.created_at,
                        list(keywords),
                        int(CaptureOutcome.KEPT),
                        0.5,
                        now,
                    )
                    for s in sessions
                    for e, keywords in zip(s.events, s.keywords, strict=True)
                ),
            )
            self._memories(key, generation, sessions)
            self._rows(
                "COPY memory_event (tenant_id, namespace_id, memory_id, event_id, session_id, sequence) FROM STDIN",
                ((*key, memory, event, s.session_id, number) for s in sessions for memory, event, number in s.links),
            )
            self._rows(
                f"COPY search_unit_{int(generation)} (tenant_id, namespace_id, unit_id, memory_id, occurred_at,"
                " speaker, flags, type, closed, created_at, embedding, sv) FROM STDIN",
                (
                    (
                        *key,
                        u.projection.unit_id,
                        u.memory_id,
                        u.occurred_at,
                        u.speaker,
                        int(u.flags),
                        int(u.type),
                        True,
                        now,
                        vector_text(stored_vector(u.projection.embedding)),
                        sparse_text(u.projection.terms),
                    )
                    for s in sessions
                    for u in s.units
                ),
            )

    def count(self, place: NamespacePlace, counts: NamespaceCounts) -> None:
        """Set a new namespace's statistics, and let the planner know of its rows."""
        key = (place.tenant_id, place.namespace_id)
        with translated_errors(), self._connection.transaction():
            self._connection.execute(
                "INSERT INTO namespace_statistics (tenant_id, namespace_id, units, keyword_total, chinese_units,"
                " english_units, memories, bytes) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                [
                    *key,
                    counts.units,
                    counts.keyword_total,
                    counts.chinese_units,
                    counts.english_units,
                    counts.memories,
                    counts.size_bytes,
                ],
            )
            self._rows(
                "COPY keyword_frequency (tenant_id, namespace_id, keyword, units) FROM STDIN",
                ((*key, term, units) for term, units in sorted(counts.terms.items())),
            )

    def settle(self, generation: int) -> None:
        """Vacuum and analyse what was written, as autovacuum would in time."""
        tables = ("session", "event", "memory", "memory_event", "keyword_frequency", f"search_unit_{int(generation)}")
        for table in tables:
            self._connection.execute(sql.SQL("VACUUM (ANALYZE, INDEX_CLEANUP OFF) {}").format(sql.Identifier(table)))

    def _memories(self, key: tuple[UUID, UUID], generation: int, sessions: Sequence[FinishedSession]) -> None:
        records = [memory_record(memory) for s in sessions for memory in s.memories]
        if not records:
            return
        names = list(records[0])
        columns = sql.SQL(", ").join(map(sql.Identifier, ["tenant_id", "namespace_id", "generation", *names]))
        self._rows(
            sql.SQL("COPY memory ({}) FROM STDIN").format(columns),
            (
                (*key, generation, *(Jsonb(record[name]) if name in _JSON_COLUMNS else record[name] for name in names))
                for record in records
            ),
        )

    def _rows(self, statement: LiteralString | sql.Composed | str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
