"""Recall's reading of PostgreSQL: all routes in one round trip, content in a second one."""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from pgvector import HalfVector
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.memory_rows import memory_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.tier_rows import segment_of
from rearview.domain.event import Event, EventRole
from rearview.domain.memory import MemoryState, MemoryType
from rearview.domain.recall import Route
from rearview.domain.search_unit import UnitState
from rearview.ports.recall_store import (
    Chosen,
    Found,
    FoundTurn,
    FoundUnit,
    Generation,
    Loaded,
    NamespaceStatistics,
    Search,
)

RECALL_SETTINGS: Mapping[str, str] = {
    "plan_cache_mode": "force_custom_plan",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "default_transaction_isolation": "repeatable\\ read",
}
"""For the pool that serves recall: a generic plan always picks the vector index, and starting workers or a compiler
costs more than these statements take. All statements of a recall see one moment, or a memory that changes its tier
between two of them would be in neither."""

CANDIDATE_BUDGET = 2_000
"""Keyword candidates share the query's rarest terms, until those occur in so many units together."""

TIME_SCAN_LIMIT = 5_000
"""So many of the newest units of a stretch of time are compared."""

SOURCES_PER_UNIT = 3

_GENERATION_AGE = timedelta(seconds=30)
_INDEXED_ROUTES = {1: Route.VECTOR, 2: Route.KEYWORD, 4: Route.ENTITY, 8: Route.TIME}

_KNOWN_NOW = (MemoryState.ACTIVE,)
_KNOWN_ONCE = (MemoryState.ACTIVE, MemoryState.SUPERSEDED, MemoryState.INACTIVE)

Row = Mapping[str, Any]


class PostgresRecallStore:
    """The `RecallStore` port over the search tables of the current generation."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._general = load_queries("recall", 0)
        self._reading = load_queries("memory_reading")
        self._cold = load_queries("recall_cold")
        self._generation: Generation | None = None
        self._generation_read_at = float("-inf")

    async def current_generation(self, *, fresh: bool = False) -> Generation | None:
        """Return the generation that is searched; None before anything was indexed."""
        age = time.monotonic() - self._generation_read_at
        if fresh or self._generation is None or age > _GENERATION_AGE.total_seconds():
            async with self._database.transaction(None, timeout_seconds=5.0) as connection:
                cursor = await connection.execute(self._general["current_generation"])
                row = await cursor.fetchone()
            self._generation = Generation(*row) if row else None
            self._generation_read_at = time.monotonic()
        return self._generation

    async def search(
        self, tenant_id: UUID, searches: Sequence[Search], generation: Generation | None, *, timeout_seconds: float
    ) -> list[Found]:
        """Run all routes in all namespaces; answers are in the order of `searches`."""
        async with self._database.transaction(tenant_id, timeout_seconds=timeout_seconds) as connection:
            # Everything is sent before anything is fetched: that makes it one round trip.
            sent = [await self._send(connection, search, generation) for search in searches]
            return [await _receive(cursors) for cursors in sent]

    async def load(self, tenant_id: UUID, chosen: Sequence[Chosen], *, timeout_seconds: float) -> list[Loaded]:
        """Load what was chosen, in order."""
        async with self._database.transaction(tenant_id, timeout_seconds=timeout_seconds) as connection:
            sent = []
            for one in chosen:
                named = {"tenant": tenant_id, "namespace": one.scope.namespace_id}
                memories, sources, turns = (connection.cursor(row_factory=dict_row) for _ in range(3))
                await memories.execute(
                    self._reading["memories_by_id"], {**named, "memories": list(set(one.units.values()))}
                )
                await sources.execute(
                    self._general["source_events"],
                    {
                        **named,
                        "units": list(one.units),
                        "memories": list(one.units.values()),
                        "limit": SOURCES_PER_UNIT,
                    },
                )
                await turns.execute(self._general["unindexed_events"], {**named, "events": list(one.events)})
                sent.append((memories, sources, turns))
            return [
                Loaded(
                    memories={row["memory_id"]: memory_of(row) for row in await memories.fetchall()},
                    sources=_by_unit(await sources.fetchall()),
                    turns={row["event_id"]: (row["session_id"], event_of(row)) for row in await turns.fetchall()},
                )
                for memories, sources, turns in sent
            ]

    async def anything_stored(self, tenant_id: UUID, namespace_ids: Sequence[UUID], *, timeout_seconds: float) -> bool:
        """Return whether any of the namespaces holds an active memory or a turn."""
        async with self._database.transaction(tenant_id, timeout_seconds=timeout_seconds) as connection:
            cursor = await connection.execute(
                self._general["anything_stored"], {"tenant": tenant_id, "namespaces": list(namespace_ids)}
            )
            row = await cursor.fetchone()
        return bool(row and row[0])

    async def explain(
        self, tenant_id: UUID, searches: Sequence[Search], generation: Generation | None, *, timeout_seconds: float
    ) -> str:
        """Return the database's plans of the searches as text."""
        if generation is None:
            return ""
        statement = "EXPLAIN (ANALYZE, BUFFERS)\n" + _search_statement(generation.ordinal)
        plans = []
        async with self._database.transaction(tenant_id, timeout_seconds=timeout_seconds) as connection:
            for search in searches:
                cursor = await connection.execute(statement, search_parameters(search))
                lines = "\n".join(str(row[0]) for row in await cursor.fetchall())
                plans.append(f"namespaces/{search.scope.namespace}\n{lines}")
        return "\n".join(plans)

    async def _send(self, connection: Connection, search: Search, generation: Generation | None) -> "_Cursors":
        parameters = search_parameters(search)
        statistics = await connection.execute(self._general["statistics"], parameters)
        frequencies = await connection.execute(self._general["term_frequencies"], parameters)
        raw_turns = units = warm = None
        segments = await connection.execute(self._cold["segments"], parameters)
        if search.raw_turns:
            raw_turns = await connection.execute(self._general["raw_turns"], parameters)
        if generation is not None:
            units = await connection.execute(_search_statement(generation.ordinal), parameters)
            warm = await connection.execute(load_queries("recall_warm", generation.ordinal)["search"], parameters)
        return _Cursors(statistics, frequencies, raw_turns, units, warm, segments)


class _Cursors:
    """The answers of one namespace, still on their way."""

    __slots__ = ("frequencies", "raw_turns", "segments", "statistics", "units", "warm")

    def __init__(self, statistics: Any, frequencies: Any, raw_turns: Any, units: Any, warm: Any, segments: Any) -> None:
        self.statistics = statistics
        self.frequencies = frequencies
        self.raw_turns = raw_turns
        self.units = units
        self.warm = warm
        self.segments = segments


async def _receive(cursors: _Cursors) -> Found:
    units, keyword_total, chinese, english, hashes, names = await cursors.statistics.fetchone()
    statistics = NamespaceStatistics(
        units=units,
        keyword_total=keyword_total,
        chinese_units=chinese,
        english_units=english,
        speakers=tuple(zip(hashes, names, strict=True)),
        frequencies=dict(await cursors.frequencies.fetchall()),
    )
    turns = await cursors.raw_turns.fetchall() if cursors.raw_turns else []
    rows = await cursors.units.fetchall() if cursors.units else []
    rows += await cursors.warm.fetchall() if cursors.warm else []
    segments = tuple(segment_of(row) for row in await cursors.segments.fetchall())
    scans = [row[6] for row in rows if row[6] is not None]
    return Found(
        units=tuple(_unit(row) for row in rows),
        turns=tuple(
            FoundTurn(event_id, session_id, EventRole(role), speaker, occurred_at, score or 0.0)
            for event_id, session_id, role, speaker, occurred_at, score in turns
        ),
        statistics=statistics,
        exact_vectors=all(scans) if scans else None,
        segments=segments,
    )


def _unit(row: Sequence[Any]) -> FoundUnit:
    return FoundUnit(
        unit_id=row[0],
        memory_id=row[1],
        occurred_at=row[2],
        speaker=row[3],
        flags=row[4],
        routes=frozenset(route for bit, route in _INDEXED_ROUTES.items() if row[5] & bit),
        similarity=row[7],
        keyword_score=row[8],
        memory_type=MemoryType(row[9]),
        intensity=row[10],
        pinned=row[11],
        priority=row[12],
        used_at=row[13],
        access_count=row[14],
        entity_matches=tuple(row[15]),
    )


def _search_statement(ordinal: int) -> LiteralString:
    return load_queries("recall", ordinal)["search"]


def search_parameters(search: Search) -> dict[str, Any]:
    """Return a search as the parameters of its statements."""
    wanted = search.filter
    past = search.as_of is not None
    return {
        "tenant": search.scope.tenant_id,
        "namespace": search.scope.namespace_id,
        "folded_query": search.folded_query,
        "keywords": list(search.terms),
        "counts": list(search.terms.values()),
        "route_keywords": list(search.terms) if search.keyword_route else [],
        "route_counts": list(search.terms.values()) if search.keyword_route else [],
        "vector": None if search.vector is None else HalfVector(search.vector),
        "entities": list(search.entity_keys),
        "range_starts": [start for start, _ in search.time_ranges],
        "range_ends": [end for _, end in search.time_ranges],
        "restricted": past or not wanted.is_empty,
        "memory_states": [int(state) for state in (_KNOWN_ONCE if past else _KNOWN_NOW)],
        "unit_states": [int(UnitState.ACTIVE), int(UnitState.INACTIVE)] if past else [int(UnitState.ACTIVE)],
        "types": [int(kind) for kind in sorted(wanted.types)] or None,
        "start": wanted.start,
        "end": wanted.end,
        "filter_entities": list(search.filter_entity_keys) or None,
        "session": wanted.session_id or None,
        "labels": Jsonb(dict(wanted.labels)) if wanted.labels else None,
        "origins": [int(origin) for origin in sorted(wanted.origins)] or None,
        "roles": None if search.turn_roles is None else [int(role) for role in sorted(search.turn_roles)],
        "as_of": search.as_of,
        "now": search.now,
        "limit": search.limit,
        "candidate_budget": CANDIDATE_BUDGET,
        "scan_limit": TIME_SCAN_LIMIT,
    }


def _by_unit(rows: Sequence[Row]) -> dict[UUID, tuple[tuple[str, Event], ...]]:
    found: dict[UUID, list[tuple[str, Event]]] = {}
    for row in rows:
        found.setdefault(row["unit_id"], []).append((row["session_id"], event_of(row)))
    return {unit_id: tuple(events) for unit_id, events in found.items()}
