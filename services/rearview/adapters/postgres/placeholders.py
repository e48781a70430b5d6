"""Numbers of placeholders in PostgreSQL."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow

from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, PlaceholderKey
from rearview.domain.text import PiiCategory

_SQL = load_queries("placeholders")


async def ask_numbers(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, session_id: str, keys: Sequence[PlaceholderKey]
) -> psycopg.AsyncCursor[TupleRow]:
    """Send the statement that numbers values, behind the lock of the session's row; `read_numbers` reads its answer."""
    place: dict[str, Any] = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "session_id": session_id,
        "categories": [key.category.value for key in keys],
        "digests": [key.digest for key in keys],
    }
    return await connection.execute(_SQL["number"], place)


async def read_numbers(cursor: psycopg.AsyncCursor[TupleRow]) -> Numbers:
    """Return the numbers by their keys."""
    return {PlaceholderKey(PiiCategory(row[0]), bytes(row[1])): row[2] for row in await cursor.fetchall()}


async def number_values(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, session_id: str, keys: Sequence[PlaceholderKey]
) -> Numbers:
    """Lock a session and return the numbers of values in it; none where there is no such session."""
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "session_id": session_id}
    if await (await connection.execute(_SQL["lock_session"], place)).fetchone() is None:
        return {}
    return await read_numbers(await ask_numbers(connection, tenant_id, namespace_id, session_id, keys))


class PostgresPlaceholderNumbers:
    """The `PlaceholderNumbers` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def number(self, scope: Scope, session_id: str, keys: Sequence[PlaceholderKey]) -> Numbers:
        """Return the numbers of values; see `PlaceholderNumbers.number`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            return await number_values(connection, scope.tenant_id, scope.namespace_id, session_id, keys)
