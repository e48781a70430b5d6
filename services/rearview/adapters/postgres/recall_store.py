"""Recall's reading of PostgreSQL: all routes in one round trip, content in a second one."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.memory_rows import memory_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.adapters.postgres.tier_rows import segment_of
from rearview.adapters.postgres.uuid_array import UuidArray
from rearview.domain.event import Event, EventRole
from rearview.domain.expiring_map import ExpiringMap
from rearview.domain.memory import MemoryState
from rearview.domain.search_unit import UnitState
from rearview.ports.found_units import NO_UNITS, FoundUnits, of_all_tiers
from rearview.ports.recall_store import (
    Chosen,
    Found,
    FoundTurn,
    Generation,
    IndexRecall,
    Loaded,
    NamespaceStatistics,
    Search,
)
from rearview.ports.vector_copies import CopyPlace, NearUnits, VectorCopies

RECALL_SETTINGS: Mapping[str, str] = {
    "plan_cache_mode": "force_generic_plan",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "default_transaction_isolation": "repeatable\\ read",
}
"""For the pool that serves recall: planning its statements took a tenth of a recall, and starting workers or a compiler
costs more than they take. Only a search with filters is planned for its values, and within `rearview_vector_route_N`,
where a generic plan would always pick the vector index. All statements of a recall see one moment, or a memory that
changes its tier between two of them would be in neither."""

CANDIDATE_BUDGET = 2_000
"""Keyword candidates share the query's rarest terms, until those occur in so many units together."""

TIME_SCAN_LIMIT = 5_000
"""So many of the newest units of a stretch of time are compared."""

SOURCES_PER_UNIT = 3

_EXACT = 6
"""The column of a found unit that says whether the vector route was exact."""

_GENERATION_AGE = timedelta(seconds=30)

_MOST_TENANTS = 10_000
"""Of so many tenants it is remembered which generation answers them."""

_KNOWN_NOW = (MemoryState.ACTIVE,)
_KNOWN_ONCE = (MemoryState.ACTIVE, MemoryState.SUPERSEDED, MemoryState.INACTIVE)

Row = Mapping[str, Any]


class PostgresRecallStore:
    """The `RecallStore` port over the search tables of the generation that answers a tenant."""

    def __init__(self, database: Database, copies: VectorCopies | None = None) -> None:
        """`copies` answer the vector route of the namespaces that they hold, in the index's stead."""
        self._database = database
        self._copies = copies
        self._general = load_queries("recall", 0)
        self._reading = load_queries("memory_reading")
        self._cold = load_queries("recall_cold")
        self._answering: ExpiringMap[Generation] = ExpiringMap(_MOST_TENANTS)

    async def answering_generation(self, tenant_id: UUID, *, fresh: bool = False) -> Generation | None:
        """Return the generation that answers a tenant; None before anything was indexed."""
        known = None if fresh else self._answering.get(tenant_id)
        if known is not None:
            return known
        statement = self._general["answering_generation"]
        rows = await self._database.rows(tenant_id, statement, {"tenant": tenant_id}, timeout_seconds=5.0)
        if not rows:
            return None
        answering = _generation_of(rows[0])
        self._answering.put(tenant_id, answering, _GENERATION_AGE.total_seconds())
        return answering

    async def generation_by_ordinal(self, ordinal: int) -> Generation | None:
        """Return a generation by its ordinal; None when there is none."""
        statement = self._general["generation_by_ordinal"]
        rows = await self._database.rows(None, statement, {"ordinal": ordinal}, timeout_seconds=5.0)
        return _generation_of(rows[0]) if rows else None

    async def search(
        self, tenant_id: UUID, searches: Sequence[Search], generation: Generation | None, *, timeout_seconds: float
    ) -> list[Found]:
        """Run all routes in all namespaces; answers are in the order of `searches`."""
        near = [await self._near(search, generation) for search in searches]
        readings = [
            reading
            for search, units in zip(searches, near, strict=True)
            for reading in self._readings(search, generation, units)
        ]
        answers = iter(await self._database.read(tenant_id, readings, timeout_seconds=timeout_seconds))
        found = [
            _found(
                search,
                counted=next(answers)[0],
                turns=next(answers) if search.raw_turns else [],
                newest=next(answers) if search.newest_since else [],
                units=next(answers) if generation else [],
                warm=next(answers) if generation else [],
                segments=next(answers),
            )
            for search in searches
        ]
        self._note(searches, generation, found)
        return found

    async def load(
        self, tenant_id: UUID, chosen: Sequence[Chosen], *, with_metadata: bool, timeout_seconds: float
    ) -> list[Loaded]:
        """Load what was chosen, in order; the memories' metadata and events only if asked for."""
        memories = self._reading["memories_by_id"] if with_metadata else self._general["memory_contents"]
        readings = [reading for one in chosen for reading in self._contents(tenant_id, one, memories)]
        answers = iter(await self._database.read(tenant_id, readings, timeout_seconds=timeout_seconds))
        return [
            Loaded(
                memories={row["memory_id"]: memory_of(row) for row in next(answers)},
                sources=_by_unit(next(answers)),
                turns={row["event_id"]: (row["session_id"], event_of(row)) for row in next(answers)},
                successors={row["event_id"]: frozenset(row["successors"]) for row in next(answers)},
            )
            for _ in chosen
        ]

    async def anything_stored(self, tenant_id: UUID, namespace_ids: Sequence[UUID], *, timeout_seconds: float) -> bool:
        """Return whether any of the namespaces holds an active memory or a turn."""
        rows = await self._database.rows(
            tenant_id,
            self._general["anything_stored"],
            {"tenant": tenant_id, "namespaces": list(namespace_ids)},
            timeout_seconds=timeout_seconds,
        )
        return bool(rows and rows[0][0])

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
                near = await self._near(search, generation)
                cursor = await connection.execute(statement, search_parameters(search, near))
                lines = "\n".join(str(row[0]) for row in await cursor.fetchall())
                plans.append(f"namespaces/{search.scope.namespace}\n{lines}")
        return "\n".join(plans)

    async def index_recall(
        self, tenant_id: UUID, search: Search, generation: Generation, *, timeout_seconds: float
    ) -> IndexRecall | None:
        """Compare the vector route with an exact search; None where it is exact anyway."""
        statement = numbered(load_queries("recall", generation.ordinal)["nearest"])
        parameters = search_parameters(search, await self._near(search, generation))
        found, true = await self._database.read(
            tenant_id,
            [Reading(statement, {**parameters, "exact": exact}) for exact in (False, True)],
            timeout_seconds=timeout_seconds,
        )
        return _index_recall(found, true)

    async def _near(self, search: Search, generation: Generation | None) -> NearUnits | None:
        if self._copies is None or generation is None or search.vector is None or _is_restricted(search):
            return None
        # Some may be gone, and of those compared as numbers of eight bits the last ones may not be the nearest.
        return await self._copies.nearest(_place(search, generation), search.vector, 2 * search.limit)

    def _note(self, searches: Sequence[Search], generation: Generation | None, found: Sequence[Found]) -> None:
        if self._copies is None or generation is None:
            return
        for search, one in zip(searches, found, strict=True):
            if search.vector is not None and not _is_restricted(search):
                self._copies.asked(_place(search, generation), one.statistics.units)

    def _readings(self, search: Search, generation: Generation | None, near: NearUnits | None) -> list[Reading]:
        parameters = search_parameters(search, near)
        readings = [Reading(numbered(self._general["statistics"]), parameters)]
        raw_turns = numbered(self._general["raw_turns"])
        if search.raw_turns:
            readings.append(Reading(raw_turns, parameters))
        if search.newest_since:
            readings.append(Reading(raw_turns, {**parameters, **_newest(search, search.newest_since)}))
        statements: list[LiteralString] = []
        if generation is not None:
            statements += [
                _search_statement(generation.ordinal),
                load_queries("recall_warm", generation.ordinal)["search"],
            ]
        statements.append(self._cold["segments"])
        restricted = bool(parameters["restricted"])
        return readings + [
            Reading(numbered(statement), parameters, planned_anew=restricted) for statement in statements
        ]

    def _contents(self, tenant_id: UUID, chosen: Chosen, memories_statement: LiteralString) -> list[Reading]:
        place = {"tenant": tenant_id, "namespace": chosen.scope.namespace_id}
        memories, units = list(chosen.units.values()), list(chosen.units)
        return [
            Reading(numbered(statement), {**place, **parameters}, as_dictionaries=True)
            for statement, parameters in (
                (memories_statement, {"memories": list(set(memories)), "now": None}),
                (self._general["source_events"], {"units": units, "memories": memories, "limit": SOURCES_PER_UNIT}),
                (self._general["unindexed_events"], {"events": list(chosen.events)}),
                (self._general["outdated_turns"], {"units": units, "as_of": chosen.as_of}),
            )
        ]


def _found(
    search: Search,
    counted: Sequence[Any],
    turns: Sequence[Sequence[Any]],
    newest: Sequence[Sequence[Any]],
    units: Sequence[Sequence[Any]],
    warm: Sequence[Sequence[Any]],
    segments: Sequence[Sequence[Any]],
) -> Found:
    unit_count, keyword_total, chinese, english, hashes, names, keywords, frequencies = counted
    scans = [row[_EXACT] for row in [*units, *warm] if row[_EXACT] is not None]
    statistics = NamespaceStatistics(
        units=unit_count,
        keyword_total=keyword_total,
        chinese_units=chinese,
        english_units=english,
        speakers=tuple(zip(hashes, names, strict=True)),
        frequencies=dict(zip(keywords, frequencies, strict=True)),
    )
    return Found(
        units=of_all_tiers([_units(units), _units(warm)], search.route_limit(statistics)),
        turns=_turns(turns),
        newest=_turns(newest),
        statistics=statistics,
        exact_vectors=all(scans) if scans else None,
        segments=tuple(map(segment_of, segments)),
    )


def _generation_of(row: Sequence[Any]) -> Generation:
    ordinal, generation_id, dimension, card = row
    return Generation(ordinal, generation_id, dimension, float(card.get("thresholds", {}).get("redundant_cosine", 1.0)))


def _turns(rows: Sequence[Sequence[Any]]) -> tuple[FoundTurn, ...]:
    return tuple(
        FoundTurn(event_id, session_id, EventRole(role), speaker, occurred_at, score or 0.0)
        for event_id, session_id, role, speaker, occurred_at, score in rows
    )


def _index_recall(found: Sequence[Sequence[Any]], true: Sequence[Sequence[Any]]) -> IndexRecall | None:
    lists = {row[0] for row in found if not row[2]}
    shares: dict[int, list[float]] = {10: [], 100: []}
    for one in lists:
        nearest = [row[1] for row in true if row[0] == one]
        answered = [row[1] for row in found if row[0] == one]
        for k, of_k in shares.items():
            of_k.append(len(set(nearest[:k]).intersection(answered[:k])) / max(len(nearest[:k]), 1))
    if not lists:
        return None
    return IndexRecall(*(sum(of_k) / len(of_k) for of_k in shares.values()))


def _units(rows: Sequence[Sequence[Any]]) -> FoundUnits:
    if not rows:
        return NO_UNITS
    columns = list(zip(*rows, strict=True))
    del columns[_EXACT]
    return FoundUnits.of_columns(columns)


def _search_statement(ordinal: int) -> LiteralString:
    return load_queries("recall", ordinal)["search"]


def _is_restricted(search: Search) -> bool:
    return search.as_of is not None or not search.filter.is_empty


def _place(search: Search, generation: Generation) -> CopyPlace:
    return CopyPlace(search.scope.tenant_id, search.scope.namespace_id, generation.ordinal)


def search_parameters(search: Search, near: NearUnits | None = None) -> dict[str, Any]:
    """Return a search as the parameters of its statements; `near` is what a copy of the vectors found."""
    wanted = search.filter
    past = search.as_of is not None
    translated = search.translated.terms
    return {
        "tenant": search.scope.tenant_id,
        "namespace": search.scope.namespace_id,
        "folded_query": search.folded_query,
        "every_keyword": [*search.terms, *(term for term in translated if term not in search.terms)],
        "translated_keywords": list(translated),
        "translated_counts": list(translated.values()),
        "languages": int(search.languages),
        "keywords": list(search.terms),
        "counts": list(search.terms.values()),
        "route_keywords": list(search.terms) if search.keyword_route else [],
        "route_counts": list(search.terms.values()) if search.keyword_route else [],
        "vector": None if search.vector is None else HalfVector(search.vector),
        "entities": list(search.entity_keys),
        "range_starts": [start for start, _ in search.time_ranges],
        "range_ends": [end for _, end in search.time_ranges],
        "near_chinese": None if near is None else UuidArray(near.chinese),
        "near_other": None if near is None else UuidArray(near.other),
        "near_since": None if near is None else near.since,
        "restricted": _is_restricted(search),
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


def _newest(search: Search, since: datetime) -> dict[str, Any]:
    """Return what the parameters of the raw-turn route are for the newest turns: without words it returns these."""
    return {
        "keywords": [],
        "counts": [],
        "roles": [int(EventRole.USER)],
        "start": max(since, search.filter.start or since),
        "limit": search.newest_limit,
    }


def _by_unit(rows: Sequence[Row]) -> dict[UUID, tuple[tuple[str, Event], ...]]:
    found: dict[UUID, list[tuple[str, Event]]] = {}
    for row in rows:
        found.setdefault(row["unit_id"], []).append((row["session_id"], event_of(row)))
    return {unit_id: tuple(events) for unit_id, events in found.items()}
