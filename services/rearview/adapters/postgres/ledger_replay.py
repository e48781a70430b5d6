"""The tombstone ledger replayed into a restored PostgreSQL."""

from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import ActingService, record_audit
from rearview.adapters.postgres.consequences import enqueue_purge
from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.forgetting import PostgresForgetting
from rearview.adapters.postgres.namespaces import PostgresNamespaceStore
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.domain.forget import ForgetState
from rearview.domain.principal import Caller, Role, Scope
from rearview.domain.tombstone_ledger import DeletionEntry, ForgetEntry
from rearview.ports.ledger_replay import Replayed

_SQL = load_queries("tombstone_ledger")
_ERASURE = load_queries("erasure")

REPLAYER = ActingService("ledger")
"""In whose name the audit records a replay."""


class PostgresLedgerReplay:
    """The `LedgerReplay` port.

    The database is the owner's: nobody else may delete a tenant, or lift the holds that the ledger proves to be lifted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget(self, entry: ForgetEntry, *, now: datetime) -> Replayed:
        """Forget again; see `LedgerReplay.forget`."""
        place: dict[str, Any] = {"tenant_id": entry.tenant_id, "namespace_id": entry.namespace_id}
        place |= {"receipt_id": entry.receipt_id, "now": now}
        async with self._database.transaction(entry.tenant_id) as connection:
            name = await _one(connection, "namespace", place)
            generation = await _one(connection, "current_generation", place)
            known = await _one(connection, "receipt_state", place)
        if name is None or generation is None:
            return Replayed.KNOWN
        scope = Scope(entry.tenant_id, entry.namespace_id, name[0], REPLAYER.principal)
        forgetting = PostgresForgetting(self._database, SearchUnits(generation[0]))
        if known is None:
            if entry.state is ForgetState.RESTORED:
                return Replayed.KNOWN
            await forgetting.replay(scope, entry, now=now)
            await self._begin_purge(entry, place, now)
            return Replayed.FORGOTTEN
        state, started = known
        if state != ForgetState.TOMBSTONED or entry.state is ForgetState.TOMBSTONED:
            return Replayed.KNOWN
        if entry.state is not ForgetState.RESTORED:
            await self._begin_purge(entry, place, now)
            return Replayed.HASTENED
        if started:
            return Replayed.KNOWN
        async with self._database.transaction(entry.tenant_id) as connection:
            await connection.execute(_SQL["put_off"], place)
        await forgetting.restore(scope, entry.receipt_id, now=now)
        return Replayed.TAKEN_BACK

    async def delete(self, entry: DeletionEntry, *, now: datetime) -> Replayed:
        """Delete again; see `LedgerReplay.delete`."""
        if entry.namespace_id is None:
            return await self._delete_tenant(entry.tenant_id, now)
        place = {"tenant_id": entry.tenant_id, "namespace_id": entry.namespace_id}
        async with self._database.transaction(entry.tenant_id) as connection:
            name = await _one(connection, "namespace", place)
            if name is None:
                return Replayed.KNOWN
            await connection.execute(_SQL["drop_namespace_holds"], place)
        caller = Caller(entry.tenant_id, REPLAYER.principal, Role.ADMIN)
        await PostgresNamespaceStore(self._database).delete(caller, entry.namespace_id, name[0], now, force=True)
        return Replayed.DELETED

    async def _delete_tenant(self, tenant_id: UUID, now: datetime) -> Replayed:
        place = {"tenant_id": tenant_id, "now": now}
        async with self._database.transaction(tenant_id) as connection:
            name = await _one(connection, "tenant_name", place)
            if name is None:
                return Replayed.KNOWN
            await connection.execute(_SQL["drop_tenant_holds"], place)
            await connection.execute(_SQL["delete_tenant"], {"name": name[0], "now": now})
            await record_audit(connection, tenant_id, REPLAYER, "delete_tenant", [f"tenants/{name[0]}"], now)
        return Replayed.DELETED

    async def _begin_purge(self, entry: ForgetEntry, place: dict[str, Any], now: datetime) -> None:
        """Have purged what was purged before: no hold stood in its way then, so none that the backup knows does now."""
        if entry.state is ForgetState.TOMBSTONED:
            return
        async with self._database.transaction(entry.tenant_id) as connection:
            state = await _one(connection, "receipt_state", place)
            await connection.execute(_SQL["hasten"], place)
            if state is not None and not state[1]:
                await connection.execute(_ERASURE["start"], place)
            if await _one(connection, "hasten_job", place) is None:
                await enqueue_purge(connection, entry.tenant_id, entry.receipt_id, now)


async def _one(connection: Connection, name: str, place: dict[str, Any]) -> tuple[Any, ...] | None:
    return await (await connection.execute(_SQL[name], place)).fetchone()
