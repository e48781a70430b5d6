"""Traces of recalls in PostgreSQL, as JSON: names, scores and times, and of the query only what redaction left."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.domain.recall import RecallTrace, Route, ScoreParts, TraceCandidate

_SCORE_PARTS = tuple(part.name for part in fields(ScoreParts) if part.name != "fusion_terms")


class PostgresRecallTraceStore:
    """The `RecallTraceStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 5.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds
        self._queries = load_queries("recall_traces")

    async def write(self, tenant_id: UUID, principal: str, namespace_ids: Collection[UUID], trace: RecallTrace) -> None:
        """Store a trace, unless something in it was purged; writing the same again changes nothing."""
        row = {
            "tenant": tenant_id,
            "trace_id": trace.trace_id,
            "principal": principal,
            "namespaces": list(namespace_ids),
            "trace": Jsonb(trace_to_json(trace)),
            "created_at": trace.at,
            "resources": [UUID(candidate.resource_name.rpartition("/")[2]) for candidate in trace.candidates],
        }
        insert = Reading(numbered(self._queries["insert_trace"]), row)
        await self._database.write(tenant_id, [insert], timeout_seconds=self._timeout_seconds)

    async def read(self, tenant_id: UUID, trace_id: UUID) -> tuple[str, frozenset[UUID], RecallTrace] | None:
        """Return who recalled, in which namespaces, and the trace; None if there is none."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await connection.execute(self._queries["get_trace"], {"tenant": tenant_id, "trace_id": trace_id})
            row = await cursor.fetchone()
        if row is None:
            return None
        principal, namespace_ids, stored = row
        return principal, frozenset(namespace_ids), trace_of_json(trace_id, stored)


def trace_to_json(trace: RecallTrace) -> dict[str, Any]:
    """Return a trace as it is stored."""
    return {
        "query": trace.query,
        "namespaces": list(trace.namespaces),
        "at": trace.at.isoformat(),
        "understanding": dict(trace.understanding),
        "route_counts": dict(trace.route_counts),
        "candidates": [
            {
                "resource_name": candidate.resource_name,
                "routes": sorted(int(route) for route in candidate.routes),
                "score": _score_json(candidate.score),
                "rank": candidate.rank,
                "dropped_because": candidate.dropped_because,
            }
            for candidate in trace.candidates
        ],
        "degraded": list(trace.degraded),
        "stage_milliseconds": dict(trace.stage_milliseconds),
        "plan": trace.plan,
    }


def _score_json(score: ScoreParts) -> dict[str, Any]:
    # A hundred of them are written for each recall, and dataclasses.asdict copies deeply.
    return {name: getattr(score, name) for name in _SCORE_PARTS} | {"fusion_terms": dict(score.fusion_terms)}


def trace_of_json(trace_id: UUID, stored: Mapping[str, Any]) -> RecallTrace:
    """Return a stored trace."""
    return RecallTrace(
        trace_id=trace_id,
        query=stored["query"],
        namespaces=tuple(stored["namespaces"]),
        at=datetime.fromisoformat(stored["at"]),
        understanding=stored["understanding"],
        route_counts=stored["route_counts"],
        candidates=tuple(
            TraceCandidate(
                resource_name=candidate["resource_name"],
                routes=frozenset(map(Route, candidate["routes"])),
                score=ScoreParts(**candidate["score"]),
                rank=candidate["rank"],
                dropped_because=candidate["dropped_because"],
            )
            for candidate in stored["candidates"]
        ),
        degraded=tuple(stored["degraded"]),
        stage_milliseconds=stored["stage_milliseconds"],
        plan=stored["plan"],
    )
