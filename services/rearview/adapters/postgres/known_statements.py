"""What a namespace knows already, in PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.bounded_connection import LONGEST_SILENCE_SECONDS
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records, vector_text
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.domain.event import Event, EventRole
from rearview.domain.memory import MemoryType
from rearview.domain.search_unit import languages_of
from rearview.ports.known_statements import AskedStatement, Candidates, Doubted, KnownStatement, Watch


class PostgresKnownStatements:
    """The `KnownStatements` port over the tables of one generation."""

    def __init__(self, database: Database, generation: int) -> None:
        self._database = database
        self._generation = generation

    async def candidates(
        self, tenant_id: UUID, namespace_id: UUID, asked: Sequence[AskedStatement], *, limit: int, now: datetime
    ) -> tuple[Candidates, int]:
        """Return what may say the same, in one statement for all; see `KnownStatements.candidates`."""
        if not asked:
            return [], 0
        sql = load_queries("known_statements", self._generation)
        place = _place(tenant_id, namespace_id, asked, limit, now)
        # The count first: what is written between the two is looked at once more.
        counted, rows = await self._database.read(
            tenant_id,
            [
                Reading(numbered(sql["writes"]), place),
                Reading(numbered(sql["candidates"]), place, as_dictionaries=True),
            ],
            timeout_seconds=LONGEST_SILENCE_SECONDS,
        )
        return _by_statement(asked, rows), counted[0][0] if counted else 0


async def refuse_if_doubted(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, generation: int, watch: Watch | None, now: datetime
) -> None:
    """Look again, as the last thing before a commit, whether what is being written is new.

    To be called once this transaction has counted its own write: those who count wait for each other's commits from
    there on, so all that others have written is seen.

    Raises:
        Doubted: something that others wrote meanwhile may say the same.
    """
    if watch is None or not watch.asked:
        return
    if await _writes(connection, tenant_id, namespace_id, generation) == watch.writes + 1:
        return
    found = await _candidates(connection, tenant_id, namespace_id, generation, watch.asked, watch.limit, now)
    if watch.doubted_by(found):
        raise Doubted


async def _writes(connection: Connection, tenant_id: UUID, namespace_id: UUID, generation: int) -> int:
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
    row = await (await connection.execute(load_queries("known_statements", generation)["writes"], place)).fetchone()
    return int(row[0]) if row else 0


async def _candidates(
    connection: Connection,
    tenant_id: UUID,
    namespace_id: UUID,
    generation: int,
    asked: Sequence[AskedStatement],
    limit: int,
    now: datetime,
) -> list[list[KnownStatement]]:
    statement = load_queries("known_statements", generation)["candidates"]
    cursor = await dict_rows(connection, statement, _place(tenant_id, namespace_id, asked, limit, now))
    return _by_statement(asked, await cursor.fetchall())


def _place(
    tenant_id: UUID, namespace_id: UUID, asked: Sequence[AskedStatement], limit: int, now: datetime
) -> dict[str, object]:
    turns = as_records(
        {
            "number": at,
            "embedding": None if one.plain is None else vector_text(one.plain),
            "bands": list(one.bands),
        }
        for at, one in enumerate(asked)
    )
    return {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "turns": turns,
        "near": limit,
        "alike": limit,
        "now": now,
    }


def _by_statement(asked: Sequence[AskedStatement], rows: Iterable[Mapping[str, Any]]) -> list[list[KnownStatement]]:
    found: list[list[KnownStatement]] = [[] for _ in asked]
    for row in rows:
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
