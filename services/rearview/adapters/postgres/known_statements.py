"""What a namespace knows already, in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records, vector_text
from rearview.domain.event import Event, EventRole
from rearview.domain.memory import MemoryType
from rearview.domain.search_unit import languages_of
from rearview.ports.known_statements import AskedStatement, KnownStatement


class PostgresKnownStatements:
    """The `KnownStatements` port over the tables of one generation."""

    def __init__(self, database: Database, generation: int) -> None:
        self._database = database
        self._sql = load_queries("known_statements", generation)

    async def candidates(
        self, tenant_id: UUID, namespace_id: UUID, asked: Sequence[AskedStatement], *, limit: int, now: datetime
    ) -> list[list[KnownStatement]]:
        """Return what may say the same, in one statement for all; see `KnownStatements.candidates`."""
        found: list[list[KnownStatement]] = [[] for _ in asked]
        if not asked:
            return found
        turns = as_records(
            {
                "number": at,
                "embedding": None if one.plain is None else vector_text(one.plain),
                "bands": list(one.bands),
            }
            for at, one in enumerate(asked)
        )
        async with self._database.transaction(tenant_id) as connection:
            cursor = await dict_rows(
                connection,
                self._sql["candidates"],
                {
                    "tenant_id": tenant_id,
                    "namespace_id": namespace_id,
                    "turns": turns,
                    "near": limit,
                    "alike": limit,
                    "now": now,
                },
            )
            for row in await cursor.fetchall():
                found[row["number"]].append(_known(row))
        return found


def _known(row: Mapping[str, Any]) -> KnownStatement:
    if row["event_id"] is not None:
        event = event_of(row)
    else:
        event = Event(row["memory_id"], EventRole.USER, row["memory_content"] or "", row["memory_occurred_at"])
    return KnownStatement(
        unit_id=row["unit_id"],
        memory_id=row["memory_id"],
        type=MemoryType(row["type"]),
        event=event,
        languages=languages_of(row["flags"]),
        cosine=float(row["cosine"]),
    )
