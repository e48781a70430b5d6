"""Expiry in PostgreSQL: memories go the way of a forget, with its receipt; events are deleted where they are."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.consequences import bump_epoch
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.falling import read_fallen
from rearview.adapters.postgres.forgetting import PostgresForgetting
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.domain.fall_rule import FallRule
from rearview.domain.forget import Forget, ForgetExpired
from rearview.domain.memory import MemoryType, Tier
from rearview.domain.names import NamespaceName
from rearview.domain.principal import Scope

_SQL = load_queries("expiry")
_ERASURE = load_queries("erasure")

EXPIRER = ActingService("lifecycle")
"""In whose name the audit records what lapses."""


class PostgresExpiry:
    """The `ExpiryStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def due(self, tenant_id: UUID, namespace_id: UUID, *, now: datetime, limit: int) -> list[UUID]:
        """Return memories whose end has come; see `ExpiryStore.due`."""
        return await self._ids(tenant_id, namespace_id, "due", now=now, limit=limit)

    async def lapsed(
        self, tenant_id: UUID, namespace_id: UUID, types: Collection[MemoryType], *, now: datetime, limit: int
    ) -> list[UUID]:
        """Return cold memories that nobody used; see `ExpiryStore.lapsed`."""
        return await self._ids(
            tenant_id, namespace_id, "lapsed", types=[int(kind) for kind in sorted(types)], now=now, limit=limit
        )

    async def fallen(
        self, tenant_id: UUID, namespace_id: UUID, tier: Tier, rule: FallRule, *, limit: int
    ) -> list[UUID]:
        """Return memories whose value has fallen; see `ExpiryStore.fallen`."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            return await read_fallen(connection, _place(tenant_id, namespace_id), tier, rule, limit=limit)

    async def expire(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        memory_ids: Collection[UUID],
        rule: FallRule | None = None,
        *,
        now: datetime,
    ) -> int:
        """Forget what is still expired; see `ExpiryStore.expire`."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            name = await _one(connection, _SQL["namespace_name"], _place(tenant_id, namespace_id))
            generation = await _one(connection, _SQL["current_generation"], {})
        if name is None or generation is None:
            return 0
        scope = Scope(tenant_id, namespace_id, name[0], EXPIRER.principal)
        forgetting = PostgresForgetting(self._database, SearchUnits(generation[0]))
        target = ForgetExpired(tuple(memory_ids), now, rule)
        command = Forget(scope.namespace, target, reason="expired", skip_grace_period=True)
        return (await forgetting.forget(scope, command, now=now)).receipt.memory_count

    async def old_events(self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int) -> int:
        """Count old events; see `ExpiryStore.old_events`."""
        place = {**_place(tenant_id, namespace_id), "cutoff": cutoff, "limit": limit}
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            row = await _one(connection, _SQL["old_events"], place)
        return int(row[0]) if row else 0

    async def lapse_events(
        self, tenant_id: UUID, namespace_id: UUID, *, cutoff: datetime, limit: int, now: datetime
    ) -> int:
        """Delete old events with what belongs to them alone; see `ExpiryStore.lapse_events`."""
        place = _place(tenant_id, namespace_id)
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await connection.execute(_SQL["lapse_events"], {**place, "cutoff": cutoff, "limit": limit})
            gone = await cursor.fetchall()
            if not gone:
                return 0
            name = await _one(connection, _SQL["namespace_name"], place)
            ids = {**place, "ids": [event_id for event_id, _, _ in gone]}
            await connection.execute(_ERASURE["erase_event_originals"], ids)
            await connection.execute(_ERASURE["erase_event_windows"], ids)
            speakers = sorted({speaker for _, _, speaker in gone if speaker})
            await connection.execute(_ERASURE["erase_speakers"], {**place, "names": speakers})
            sessions = sorted({session_id for _, session_id, _ in gone})
            await connection.execute(_SQL["end_sessions"], {**place, "sessions": sessions, "cutoff": cutoff})
            names = [str(NamespaceName(name[0]))] if name else []
            detail = f"events={len(gone)} sessions={len(sessions)} until={cutoff.isoformat()}"
            await record_audit(connection, tenant_id, EXPIRER, "event.expire", names, now, detail)
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)
        return len(gone)

    async def _ids(self, tenant_id: UUID, namespace_id: UUID, name: str, **parameters: object) -> list[UUID]:
        place = {**_place(tenant_id, namespace_id), **parameters}
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            return [row[0] for row in await (await connection.execute(_SQL[name], place)).fetchall()]


def _place(tenant_id: UUID, namespace_id: UUID) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "namespace_id": namespace_id}


async def _one(connection: Connection, statement: LiteralString, place: dict[str, Any]) -> tuple[Any, ...] | None:
    return await (await connection.execute(statement, place)).fetchone()
