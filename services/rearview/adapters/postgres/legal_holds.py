"""Legal holds in PostgreSQL. What one stands on is said by functions of the migration, for all who ask."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.name_patterns import name_pattern
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import LegalHold, NotFound
from rearview.domain.ids import new_id
from rearview.domain.legal_hold import HoldScope, SetHold, StandingHold, hold_name
from rearview.domain.names import EventName, MemoryName
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope

_SQL = load_queries("legal_holds")
_TIMEOUT_SECONDS = 10.0


class PostgresLegalHolds:
    """The `LegalHoldStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set(self, scope: Scope, command: SetHold, *, now: datetime) -> None:
        """Set a hold; see `LegalHoldStore.set`."""
        place = {
            **_place(scope, command),
            "hold_id": new_id(),
            "names": list(command.target.names),
            "patterns": [name_pattern(name) for name in command.target.telling],
            "principal": scope.principal,
            "now": now,
        }
        async with self._database.transaction(scope.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            if command.target.scope in (HoldScope.MEMORY, HoldScope.SESSION):
                cursor = await connection.execute(_SQL[f"{command.target.scope.value}_exists"], place)
                if await cursor.fetchone() is None:
                    raise NotFound(f"{command.resource_name} does not exist", resource_name=command.resource_name)
            row = await (await connection.execute(_SQL["set"], place)).fetchone()
            if row is not None:
                await _record(connection, scope, command, "legal_hold.set", row[0], now)

    async def lift(self, scope: Scope, command: SetHold, *, now: datetime) -> None:
        """Lift a hold; see `LegalHoldStore.lift`."""
        async with self._database.transaction(scope.tenant_id, timeout_seconds=_TIMEOUT_SECONDS) as connection:
            row = await (await connection.execute(_SQL["lift"], _place(scope, command))).fetchone()
            if row is None:
                raise NotFound(f"no such hold stands on {command.resource_name}", resource_name=command.resource_name)
            await _record(connection, scope, command, "legal_hold.lift", row[0], now)

    async def standing(self, tenant_id: UUID, namespace_id: UUID | None, page: PageRequest) -> Page[StandingHold]:
        """Return a page of holds, newest first; see `LegalHoldStore.standing`."""
        after_time, after_id = (datetime.fromisoformat(page.after[0]), page.after[1]) if page.after else (None, None)
        rows = await self._database.rows(
            tenant_id,
            _SQL["standing"],
            {
                "tenant_id": tenant_id,
                "namespace_id": namespace_id,
                "after_time": after_time,
                "after_id": after_id,
                "limit": page.size + 1,
            },
            timeout_seconds=_TIMEOUT_SECONDS,
        )
        holds = [
            StandingHold(hold_id, namespace, HoldScope(scope), target, principal, created_at)
            for hold_id, namespace, scope, target, principal, created_at in rows[: page.size]
        ]
        last = holds[-1] if len(rows) > page.size else None
        return Page(holds, (last.created_at.isoformat(), str(last.hold_id)) if last else ())


async def check_holds(
    connection: Connection, scope: Scope, memory_ids: Collection[UUID], event_ids: Collection[UUID]
) -> None:
    """Raises: LegalHold, naming the first of these on which one stands."""
    place = {
        "tenant_id": scope.tenant_id,
        "namespace_id": scope.namespace_id,
        "memory_ids": list(memory_ids),
        "event_ids": list(event_ids),
    }
    row = await (await connection.execute(_SQL["first_held"], place)).fetchone()
    if row is not None:
        kind, found, session_id, hold_id = row
        name = MemoryName(scope.namespace, found) if kind == "memory" else EventName(scope.namespace, session_id, found)
        raise held(str(name), hold_id)


async def check_namespace(connection: Connection, tenant_id: UUID, namespace_id: UUID, name: str) -> None:
    """Raises: LegalHold, when one stands on the namespace or on anything in it."""
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
    row = await (await connection.execute(_SQL["hold_of_namespace"], place)).fetchone()
    if row is not None:
        raise held(f"namespaces/{name}", row[0])


def held(resource_name: str, hold_id: UUID) -> LegalHold:
    """Return the error that names what is held, and by which hold."""
    hold = hold_name(hold_id)
    return LegalHold(f"{hold} stands on {resource_name}; nothing was erased", resource_name=resource_name, hold=hold)


async def _record(
    connection: Connection, scope: Scope, command: SetHold, action: str, hold_id: UUID, now: datetime
) -> None:
    names = [hold_name(hold_id), command.resource_name]
    detail = f"scope={command.target.scope.value} reason={command.reason}"
    await record_audit(connection, scope.tenant_id, scope, action, names, now, detail)


def _place(scope: Scope, command: SetHold) -> dict[str, Any]:
    return {
        "tenant_id": scope.tenant_id,
        "namespace_id": scope.namespace_id,
        "scope": command.target.scope.value,
        "target": command.target.target,
    }
