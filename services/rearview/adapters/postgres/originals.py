"""Sealed originals in PostgreSQL: kept by the transaction that stores the redacted text, read under audit."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import NotFound
from rearview.domain.names import EventName, MemoryName
from rearview.domain.principal import Scope
from rearview.domain.redaction import Sealed
from rearview.ports.sealing import SealedText

_SQL = load_queries("originals")
_ACTION = "redacted.reveal"


async def keep_event_originals(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, sealed: Mapping[UUID, Sealed]
) -> None:
    """Keep what events said before redaction."""
    await connection.execute(
        _SQL["keep_of_events"],
        {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "event_ids": list(sealed),
            "key_ids": [one.key_id for one in sealed.values()],
            "sealed": [one.data for one in sealed.values()],
        },
    )


async def replace_memory_original(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_id: UUID, sealed: Sealed | None
) -> None:
    """Keep what a memory's text was before redaction, instead of what was kept of an earlier text."""
    place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_id": memory_id}
    if sealed is None:
        await connection.execute(_SQL["drop_of_memory"], place)
    else:
        await connection.execute(_SQL["keep_of_memory"], {**place, "key_id": sealed.key_id, "sealed": sealed.data})


class PostgresOriginalStore:
    """The `OriginalStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_event(self, scope: Scope, session_id: str, event_id: UUID, reason: str, now: datetime) -> SealedText:
        """Return an event's text and its seal; see `OriginalStore.of_event`."""
        name = str(EventName(scope.namespace, session_id, event_id))
        place = {**_place(scope), "session_id": session_id, "event_id": event_id}
        async with self._database.transaction(scope.tenant_id) as connection:
            row = await (await connection.execute(_SQL["of_event"], place)).fetchone()
            if row is None:
                raise NotFound("there is no such event", resource_name=name)
            await record_audit(connection, scope.tenant_id, scope, _ACTION, [name], now, reason)
        return SealedText(row[0], _sealed(row[1], row[2]))

    async def of_memory(self, scope: Scope, memory_id: UUID, reason: str, now: datetime) -> SealedText:
        """Return a memory's text and the seals behind it; see `OriginalStore.of_memory`."""
        name = str(MemoryName(scope.namespace, memory_id))
        place = {**_place(scope), "memory_id": memory_id}
        async with self._database.transaction(scope.tenant_id) as connection:
            row = await (await connection.execute(_SQL["of_memory"], place)).fetchone()
            if row is None:
                raise NotFound("there is no such memory", resource_name=name)
            rows = await (await connection.execute(_SQL["of_its_events"], place)).fetchall()
            await record_audit(connection, scope.tenant_id, scope, _ACTION, [name], now, reason)
        events = tuple((event_id, Sealed(key_id, bytes(data))) for event_id, key_id, data in rows)
        return SealedText(row[0], _sealed(row[1], row[2]), events)


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}


def _sealed(key_id: str | None, data: bytes | None) -> Sealed | None:
    return Sealed(key_id, bytes(data)) if key_id is not None and data is not None else None
