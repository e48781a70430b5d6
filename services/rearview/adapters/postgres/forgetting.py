"""Forgetting and restoring in PostgreSQL."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import (
    bump_epoch,
    enqueue_clear_working_memory,
    enqueue_index,
    enqueue_purge,
)
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.facts import enqueue_summaries, recount
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.receipt_rows import receipt_of
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.session_locks import detach, lock_sessions, lock_sessions_of
from rearview.domain.errors import NotFound, PreconditionFailed
from rearview.domain.forget import (
    DEFAULT_GRACE_PERIOD,
    Forget,
    ForgetMemories,
    ForgetReceipt,
    ForgetSession,
    ForgetState,
)
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryState
from rearview.domain.names import MemoryName, SessionName
from rearview.domain.principal import Scope
from rearview.ports.forgetting import Forgotten, ForgottenTurns
from rearview.ports.working_memory import SessionKey

_SQL = load_queries("forgetting")


@dataclass(frozen=True, slots=True)
class _Doomed:
    """What goes, found under the locks of the sessions it came from; `weakened` are facts that lose a source."""

    sessions: tuple[str, ...]
    memory_ids: tuple[UUID, ...]
    event_ids: tuple[UUID, ...]
    whole_session: str = ""
    weakened: tuple[UUID, ...] = ()


class PostgresForgetting:
    """The `Forgetting` port."""

    def __init__(self, database: Database, units: SearchUnits) -> None:
        self._database = database
        self._units = units

    async def forget(self, scope: Scope, command: Forget, *, now: datetime) -> Forgotten:
        """Mark as forgotten; see `Forgetting.forget`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            earlier = await earlier_result(connection, scope.tenant_id, command.request)
            if earlier is not None:
                receipt_id = UUID(str(earlier["receipt_id"]))
            else:
                receipt_id = new_id()
                target = command.target
                if isinstance(target, ForgetSession):
                    doomed = await _find_session(connection, scope, target)
                else:
                    doomed = await _find_memories(connection, scope, target)
                doomed = await _with_derived(connection, scope, doomed)
                await self._tombstone(connection, scope, receipt_id, doomed, now)
                await _revive_repetitions(connection, scope, doomed)
                await _keep_receipt(connection, scope, command, receipt_id, doomed, now)
            receipt = await _read_receipt(connection, scope.tenant_id, receipt_id)
            turns = await _turns(connection, scope.tenant_id, receipt_id)
        return Forgotten(receipt, turns)

    async def receipt(self, tenant_id: UUID, receipt_id: UUID) -> ForgetReceipt:
        """Return a receipt; see `Forgetting.receipt`."""
        async with self._database.transaction(tenant_id) as connection:
            return await _read_receipt(connection, tenant_id, receipt_id)

    async def turns_of(self, tenant_id: UUID, receipt_id: UUID) -> tuple[ForgottenTurns, ...]:
        """Return what a receipt's forget takes from working memory; see `Forgetting.turns_of`."""
        async with self._database.transaction(tenant_id) as connection:
            return await _turns(connection, tenant_id, receipt_id)

    async def restore(self, scope: Scope, receipt_id: UUID, *, now: datetime) -> ForgetReceipt:
        """Take a forget back; see `Forgetting.restore`."""
        place: dict[str, Any] = {**_place(scope), "receipt_id": receipt_id, "now": now}
        async with self._database.transaction(scope.tenant_id) as connection:
            row = await (await dict_rows(connection, _SQL["lock_receipt"], place)).fetchone()
            if row is None:
                raise _no_receipt(receipt_id)
            receipt = receipt_of(row)
            if receipt.state is ForgetState.RESTORED:
                return receipt
            _check_restorable(receipt, now)
            # A forget locks sessions first and its receipt is not there before it commits, so this order is safe.
            rows = await (await dict_rows(connection, _SQL["sessions_of_receipt"], place)).fetchall()
            sessions = {found["session_id"]: found["first_pending"] for found in rows}
            if row["session_id"]:
                sessions.setdefault(row["session_id"], None)
            await lock_sessions(connection, scope.tenant_id, scope.namespace_id, sorted(sessions))
            facts = await connection.execute(_SQL["facts_of_receipt"], place)
            fact_ids = [found[0] for found in await facts.fetchall()]
            restored = await connection.execute(_SQL["restore_memories"], place)
            for name in ("restore_events", "drop_tombstones", "restore_receipt"):
                await connection.execute(_SQL[name], place)
            await self._units.restore(connection, scope.tenant_id, scope.namespace_id, receipt.memory_ids)
            for session_id, first_pending in sorted(sessions.items()):
                await connection.execute(
                    _SQL["restore_session"], {**place, "session_id": session_id, "first_pending": first_pending}
                )
                if first_pending is not None:
                    await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)
            sizes = [size[0] for size in await restored.fetchall()]
            taken = {**place, "memories": -len(sizes), "bytes": -sum(sizes)}
            await connection.execute(_SQL["take_from_counts"], taken)
            await recount(connection, scope.tenant_id, scope.namespace_id, fact_ids, now)
            await enqueue_summaries(connection, scope.tenant_id, scope.namespace_id, receipt.memory_ids)
            names = [f"forgetReceipts/{receipt_id}"]
            await record_audit(connection, scope.tenant_id, scope, "memory.restore", names, now)
            await bump_epoch(connection, scope.tenant_id, scope.namespace_id, breaking=True)
        return replace(receipt, state=ForgetState.RESTORED)

    async def _tombstone(
        self, connection: Connection, scope: Scope, receipt_id: UUID, doomed: _Doomed, now: datetime
    ) -> None:
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        place: dict[str, Any] = {
            **_place(scope),
            "receipt_id": receipt_id,
            "now": now,
            "memory_ids": list(doomed.memory_ids),
            "event_ids": list(doomed.event_ids),
            "session_id": doomed.whole_session,
        }
        sizes = await connection.execute(_SQL["tombstone_memories"], place)
        open_units = await detach(connection, tenant_id, namespace_id, doomed.sessions, doomed.memory_ids)
        await self._units.tombstone(connection, tenant_id, namespace_id, doomed.memory_ids)
        await self._units.close(connection, tenant_id, namespace_id, open_units)
        await connection.execute(_SQL["tombstone_events"], place)
        if doomed.whole_session:
            await connection.execute(_SQL["forget_session"], place)
            await connection.execute(_SQL["drop_windows"], place)
        for kind, ids in (("memory", doomed.memory_ids), ("event", doomed.event_ids)):
            await connection.execute(_SQL["keep_tombstones"], {**place, "kind": kind, "ids": list(ids)})
        found = [row[0] for row in await sizes.fetchall()]
        await connection.execute(_SQL["take_from_counts"], {**place, "memories": len(found), "bytes": sum(found)})
        await recount(connection, tenant_id, namespace_id, doomed.weakened, now)
        others = await connection.execute(_SQL["other_values"], place)
        await enqueue_summaries(connection, tenant_id, namespace_id, [row[0] for row in await others.fetchall()])


async def _find_session(connection: Connection, scope: Scope, target: ForgetSession) -> _Doomed:
    place: dict[str, Any] = {**_place(scope), "session_id": target.session_id}
    repeating = await connection.execute(_SQL["repeating_sessions"], place)
    session_ids = sorted({target.session_id, *(row[0] for row in await repeating.fetchall())})
    await lock_sessions(connection, scope.tenant_id, scope.namespace_id, session_ids)
    session = await connection.execute(_SQL["session_exists"], place)
    events = await connection.execute(_SQL["events_of_session"], place)
    exists = await session.fetchone() is not None
    event_ids = tuple(row[0] for row in await events.fetchall())
    memories = await connection.execute(_SQL["memories_of_session"], {**place, "event_ids": list(event_ids)})
    memory_ids = tuple(sorted(row[0] for row in await memories.fetchall()))
    if not exists and not event_ids and not memory_ids:
        raise NotFound("there is no such session", resource_name=str(SessionName(scope.namespace, target.session_id)))
    await connection.execute(MEMORY_SQL["lock"], {**place, "memory_ids": list(memory_ids)})
    return _Doomed((target.session_id,), memory_ids, event_ids, target.session_id)


async def _revive_repetitions(connection: Connection, scope: Scope, doomed: _Doomed) -> None:
    """Have turns of other sessions indexed anew that had only been told to repeat what goes."""
    place: dict[str, Any] = {**_place(scope), "memory_ids": list(doomed.memory_ids)}
    revived = await connection.execute(_SQL["revive_repetitions"], place)
    session_ids = sorted(row[0] for row in await revived.fetchall())
    await connection.execute(_SQL["drop_revived_links"], place)
    for session_id in session_ids:
        await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)


async def _find_memories(connection: Connection, scope: Scope, target: ForgetMemories) -> _Doomed:
    memory_ids = sorted(set(target.memory_ids))
    place: dict[str, Any] = {**_place(scope), "memory_ids": memory_ids}
    sessions = await lock_sessions_of(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    locked = await connection.execute(MEMORY_SQL["lock"], place)
    live = {row[0] for row in await locked.fetchall() if row[2] != MemoryState.TOMBSTONED}
    missing = [memory_id for memory_id in memory_ids if memory_id not in live]
    if missing:
        raise NotFound(
            f"{len(missing)} of {len(memory_ids)} memories are not there; nothing was forgotten",
            resource_name=str(MemoryName(scope.namespace, missing[0])),
        )
    events = await connection.execute(_SQL["events_of_memories"], place)
    event_ids = tuple(row[0] for row in await events.fetchall())
    return _Doomed(tuple(sessions), tuple(memory_ids), event_ids)


async def _with_derived(connection: Connection, scope: Scope, doomed: _Doomed) -> _Doomed:
    """Add what was made of nothing else, and find which facts lose a source. A summary goes with any of its values:
    it quotes them, and is told anew without."""
    memory_ids, weakened = set(doomed.memory_ids), set[UUID]()
    while True:
        place = {**_place(scope), "memory_ids": sorted(memory_ids), "event_ids": list(doomed.event_ids)}
        rows = await (await connection.execute(_SQL["derived_of"], place)).fetchall()
        more = {memory_id for memory_id, derived, summary, sources in rows if derived and (summary or not sources)}
        weakened |= {row[0] for row in rows}
        if not more:
            break
        memory_ids |= more
    weakened -= memory_ids
    added = memory_ids - set(doomed.memory_ids)
    if added or weakened:
        await connection.execute(MEMORY_SQL["lock"], {**_place(scope), "memory_ids": sorted(added | weakened)})
    return replace(doomed, memory_ids=tuple(sorted(memory_ids)), weakened=tuple(sorted(weakened)))


async def _keep_receipt(
    connection: Connection, scope: Scope, command: Forget, receipt_id: UUID, doomed: _Doomed, now: datetime
) -> None:
    grace = await connection.execute(_SQL["grace_period"], _place(scope))
    row = await grace.fetchone()
    purge_after = now if command.skip_grace_period else now + (row[0] if row else DEFAULT_GRACE_PERIOD)
    await connection.execute(
        _SQL["keep_receipt"],
        {
            **_place(scope),
            "receipt_id": receipt_id,
            "namespace": scope.namespace,
            "principal": scope.principal,
            "reason": command.reason,
            "session_id": doomed.whole_session,
            "memory_ids": list(doomed.memory_ids),
            "event_ids": list(doomed.event_ids),
            "now": now,
            "purge_after": purge_after,
        },
    )
    await keep_result(connection, scope.tenant_id, command.request, {"receipt_id": str(receipt_id)}, now)
    await enqueue_purge(connection, scope.tenant_id, receipt_id, purge_after)
    await enqueue_clear_working_memory(connection, scope.tenant_id, receipt_id)
    names = [f"forgetReceipts/{receipt_id}"]
    if doomed.whole_session:
        names.append(str(SessionName(scope.namespace, doomed.whole_session)))
    names += [str(MemoryName(scope.namespace, memory_id)) for memory_id in doomed.memory_ids]
    detail = f"memories={len(doomed.memory_ids)} events={len(doomed.event_ids)} reason={command.reason}"
    await record_audit(connection, scope.tenant_id, scope, "memory.forget", names, now, detail)
    await bump_epoch(connection, scope.tenant_id, scope.namespace_id, breaking=True)


async def _read_receipt(connection: Connection, tenant_id: UUID, receipt_id: UUID) -> ForgetReceipt:
    row = await (
        await dict_rows(connection, _SQL["receipt"], {"tenant_id": tenant_id, "receipt_id": receipt_id})
    ).fetchone()
    if row is None:
        raise _no_receipt(receipt_id)
    return receipt_of(row)


async def _turns(connection: Connection, tenant_id: UUID, receipt_id: UUID) -> tuple[ForgottenTurns, ...]:
    place = {"tenant_id": tenant_id, "receipt_id": receipt_id}
    rows = await (await dict_rows(connection, _SQL["turns_of_receipt"], place)).fetchall()
    return tuple(
        ForgottenTurns(
            session=SessionKey(tenant_id, row["namespace_id"], row["session_id"]),
            event_ids=() if row["whole_session"] else tuple(row["event_ids"]),
            through_sequence=row["last_sequence"] if row["whole_session"] else 0,
        )
        for row in rows
    )


def _check_restorable(receipt: ForgetReceipt, now: datetime) -> None:
    if receipt.state is not ForgetState.TOMBSTONED or receipt.purge_after <= now:
        state = receipt.state.name if receipt.state is not ForgetState.TOMBSTONED else "PURGING"
        raise PreconditionFailed(
            "the purge has begun, so nothing can be restored",
            resource_name=f"forgetReceipts/{receipt.receipt_id}",
            state=state,
        )


def _no_receipt(receipt_id: UUID) -> NotFound:
    return NotFound("there is no such receipt", resource_name=f"forgetReceipts/{receipt_id}")


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
