"""Forgetting and restoring in PostgreSQL."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import (
    bump_epoch,
    enqueue_clear_working_memory,
    enqueue_index,
    enqueue_purge,
    enqueue_refresh,
    enqueue_restatement,
)
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.episode_turns import CutTurns, cut_turns, mend_turns
from rearview.adapters.postgres.fact_words import take_words
from rearview.adapters.postgres.facts import enqueue_summaries, recount
from rearview.adapters.postgres.forget_selection import SQL as _SQL
from rearview.adapters.postgres.forget_selection import Doomed, find_doomed, place_of
from rearview.adapters.postgres.legal_holds import check_holds
from rearview.adapters.postgres.receipt_rows import receipt_of
from rearview.adapters.postgres.request_ids import earlier_result, keep_result
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.session_locks import detach, lock_sessions
from rearview.domain.errors import NotFound, PreconditionFailed
from rearview.domain.forget import (
    DEFAULT_GRACE_PERIOD,
    Forget,
    ForgetReceipt,
    ForgetReplayed,
    ForgetSelection,
    ForgetState,
    ForgetTarget,
)
from rearview.domain.ids import new_id
from rearview.domain.names import MemoryName, SessionName
from rearview.domain.principal import Scope
from rearview.domain.tombstone_ledger import ForgetEntry
from rearview.ports.forgetting import Forgotten, ForgottenTurns
from rearview.ports.working_memory import SessionKey


class PostgresForgetting:
    """The `Forgetting` port."""

    def __init__(self, database: Database, units: SearchUnits) -> None:
        self._database = database
        self._units = units

    async def preview(self, scope: Scope, target: ForgetTarget) -> ForgetSelection:
        """Return what a forget would take; see `Forgetting.preview`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            return (await find_doomed(connection, scope, target)).selection

    async def forget(
        self,
        scope: Scope,
        command: Forget,
        *,
        now: datetime,
        confirm: Callable[[ForgetSelection], None] | None = None,
    ) -> Forgotten:
        """Mark as forgotten; see `Forgetting.forget`."""
        async with self._database.transaction(scope.tenant_id) as connection:
            earlier = await earlier_result(connection, scope.tenant_id, command.request)
            if earlier is not None:
                receipt_id = UUID(str(earlier["receipt_id"]))
            else:
                receipt_id = new_id()
                doomed = await find_doomed(connection, scope, command.target)
                await check_holds(connection, scope, (*doomed.memory_ids, *doomed.cut), doomed.event_ids)
                if confirm is not None:
                    confirm(doomed.selection)
                doomed, cut = await self._tombstone(connection, scope, receipt_id, doomed, now)
                await _revive_repetitions(connection, scope, doomed)
                purge_after = await _purge_after(connection, scope, command, now)
                await _keep_receipt(
                    connection, scope, command, receipt_id, doomed, cut, now=now, at=now, purge_after=purge_after
                )
            receipt = await _read_receipt(connection, scope.tenant_id, receipt_id)
            turns = await _turns(connection, scope.tenant_id, receipt_id)
        return Forgotten(receipt, turns)

    async def replay(self, scope: Scope, entry: ForgetEntry, *, now: datetime) -> None:
        """Forget once more, under the same receipt, what a forget took that this database does not know of; see
        `LedgerReplay.forget`."""
        target = ForgetReplayed(entry.memory_ids, entry.event_ids, entry.session_id)
        command = Forget(scope.namespace, target, reason="replayed from the tombstone ledger")
        async with self._database.transaction(scope.tenant_id) as connection:
            doomed = await find_doomed(connection, scope, target)
            doomed, cut = await self._tombstone(connection, scope, entry.receipt_id, doomed, now)
            await _revive_repetitions(connection, scope, doomed)
            named = replace(
                doomed,
                memory_ids=tuple(sorted({*doomed.memory_ids, *entry.memory_ids})),
                event_ids=tuple(sorted({*doomed.event_ids, *entry.event_ids})),
            )
            # What was stored after the backup is not there, but an import might still bring it.
            place = {**place_of(scope), "receipt_id": entry.receipt_id, "now": entry.at}
            for kind, ids in (("memory", named.memory_ids), ("event", named.event_ids)):
                await connection.execute(_SQL["keep_tombstones"], {**place, "kind": kind, "ids": list(ids)})
            purge_after = entry.purge_after
            if entry.state is ForgetState.TOMBSTONED and purge_after > entry.at:
                # Time to set anew what the backup does not know of: legal holds.
                purge_after = max(purge_after, now + DEFAULT_GRACE_PERIOD)
            elif entry.state is not ForgetState.TOMBSTONED:
                purge_after = min(purge_after, now)
            await _keep_receipt(
                connection,
                scope,
                command,
                entry.receipt_id,
                named,
                cut,
                now=now,
                at=entry.at,
                purge_after=purge_after,
            )

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
        place: dict[str, Any] = {**place_of(scope), "receipt_id": receipt_id, "now": now}
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
            for name in ("restore_events", "drop_tombstones"):
                await connection.execute(_SQL[name], place)
            events = list(row["event_ids"])
            mended = await mend_turns(connection, scope, row["cut"], now)
            await self._units.restore(connection, scope.tenant_id, scope.namespace_id, receipt.memory_ids, events)
            stale = await connection.execute(_SQL["neighbours"], {**place, "event_ids": events})
            stale_units = [found[0] for found in await stale.fetchall()]
            await connection.execute(_SQL["restore_receipt"], {**place, "stale_units": stale_units})
            if stale_units:
                await enqueue_refresh(connection, scope.tenant_id, scope.namespace_id, receipt_id)
            for session_id, first_pending in sorted(sessions.items()):
                await connection.execute(
                    _SQL["restore_session"], {**place, "session_id": session_id, "first_pending": first_pending}
                )
                if first_pending is not None:
                    await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)
            sizes = [size[0] for size in await restored.fetchall()]
            taken = {**place, "memories": -len(sizes), "bytes": -sum(sizes) - mended}
            await connection.execute(_SQL["take_from_counts"], taken)
            await recount(connection, scope.tenant_id, scope.namespace_id, fact_ids, now)
            await enqueue_summaries(connection, scope.tenant_id, scope.namespace_id, receipt.memory_ids)
            names = [f"forgetReceipts/{receipt_id}"]
            await record_audit(connection, scope.tenant_id, scope, "memory.restore", names, now)
            await bump_epoch(connection, scope.tenant_id, scope.namespace_id, breaking=True)
        return replace(receipt, state=ForgetState.RESTORED)

    async def _tombstone(
        self, connection: Connection, scope: Scope, receipt_id: UUID, doomed: Doomed, now: datetime
    ) -> tuple[Doomed, CutTurns]:
        """Mark what goes; return it with the units that must be made anew, and what episodes lost."""
        tenant_id, namespace_id = scope.tenant_id, scope.namespace_id
        place: dict[str, Any] = {
            **place_of(scope),
            "receipt_id": receipt_id,
            "now": now,
            "memory_ids": list(doomed.memory_ids),
            "event_ids": list(doomed.event_ids),
            "session_id": doomed.whole_session,
        }
        sizes = await connection.execute(_SQL["tombstone_memories"], place)
        open_units = await detach(connection, tenant_id, namespace_id, doomed.sessions, doomed.memory_ids)
        # Windows that are open know words of the turns before, so none may grow on.
        open_units += await _close_windows(connection, scope, doomed.event_ids)
        await self._units.tombstone(connection, tenant_id, namespace_id, doomed.memory_ids, doomed.event_ids)
        await self._units.close(connection, tenant_id, namespace_id, open_units)
        await connection.execute(_SQL["tombstone_events"], place)
        cut = await cut_turns(connection, scope, doomed.cut, doomed.event_ids, now)
        if doomed.whole_session:
            await connection.execute(_SQL["forget_session"], place)
            await connection.execute(_SQL["drop_windows"], place)
        for kind, ids in (("memory", doomed.memory_ids), ("event", doomed.event_ids)):
            await connection.execute(_SQL["keep_tombstones"], {**place, "kind": kind, "ids": list(ids)})
        taken_words = await take_words(connection, scope, doomed.reworded, now)
        for memory_id in doomed.reworded:
            await enqueue_restatement(connection, tenant_id, namespace_id, memory_id)
        found = [row[0] for row in await sizes.fetchall()]
        await connection.execute(
            _SQL["take_from_counts"], {**place, "memories": len(found), "bytes": sum(found) + cut.bytes + taken_words}
        )
        await recount(connection, tenant_id, namespace_id, doomed.weakened, now)
        others = await connection.execute(_SQL["other_values"], place)
        await enqueue_summaries(connection, tenant_id, namespace_id, [row[0] for row in await others.fetchall()])
        stale = {*doomed.stale, *open_units} - set(doomed.event_ids)
        return replace(doomed, stale=tuple(sorted(stale))), cut


async def _close_windows(connection: Connection, scope: Scope, event_ids: Collection[UUID]) -> list[UUID]:
    place: dict[str, Any] = {**place_of(scope), "event_ids": list(event_ids)}
    found = await connection.execute(_SQL["sessions_of_events"], place)
    sessions = [row[0] for row in await found.fetchall()]
    closed = await connection.execute(_SQL["close_windows"], {**place, "sessions": sessions})
    await connection.execute(_SQL["end_episodes"], {**place, "sessions": sessions})
    return [row[0] for row in await closed.fetchall()]


async def _revive_repetitions(connection: Connection, scope: Scope, doomed: Doomed) -> None:
    """Have turns of other sessions indexed anew that had only been told to repeat what goes."""
    place: dict[str, Any] = {
        **place_of(scope),
        "memory_ids": list(doomed.memory_ids),
        "event_ids": list(doomed.event_ids),
    }
    revived = await connection.execute(_SQL["revive_repetitions"], place)
    session_ids = sorted(row[0] for row in await revived.fetchall())
    await connection.execute(_SQL["drop_revived_links"], place)
    for session_id in session_ids:
        await enqueue_index(connection, scope.tenant_id, scope.namespace_id, session_id)


async def _purge_after(connection: Connection, scope: Scope, command: Forget, now: datetime) -> datetime:
    if command.skip_grace_period:
        return now
    row = await (await connection.execute(_SQL["grace_period"], place_of(scope))).fetchone()
    return now + (row[0] if row else DEFAULT_GRACE_PERIOD)


async def _keep_receipt(
    connection: Connection,
    scope: Scope,
    command: Forget,
    receipt_id: UUID,
    doomed: Doomed,
    cut: CutTurns,
    *,
    now: datetime,
    at: datetime,
    purge_after: datetime,
) -> None:
    await connection.execute(
        _SQL["keep_receipt"],
        {
            **place_of(scope),
            "receipt_id": receipt_id,
            "namespace": scope.namespace,
            "principal": scope.principal,
            "reason": command.reason,
            "session_id": doomed.whole_session,
            "memory_ids": list(doomed.memory_ids),
            "event_ids": list(doomed.event_ids),
            "now": at,
            "purge_after": purge_after,
            "cut": Jsonb(cut.links),
            "stale_units": list(doomed.stale),
            "reworded": list(doomed.reworded),
        },
    )
    await keep_result(connection, scope.tenant_id, command.request, {"receipt_id": str(receipt_id)}, now)
    await enqueue_purge(connection, scope.tenant_id, receipt_id, purge_after)
    await enqueue_clear_working_memory(connection, scope.tenant_id, receipt_id)
    if doomed.stale:
        await enqueue_refresh(connection, scope.tenant_id, scope.namespace_id, receipt_id)
    names = [f"forgetReceipts/{receipt_id}"]
    if doomed.whole_session:
        names.append(str(SessionName(scope.namespace, doomed.whole_session)))
    names += [
        str(MemoryName(scope.namespace, memory_id)) for memory_id in (*doomed.memory_ids, *doomed.selection.rewritten)
    ]
    count = len(doomed.selection.rewritten)
    rewritten = f" rewritten={count}" if count else ""
    detail = f"memories={len(doomed.memory_ids)} events={len(doomed.event_ids)}{rewritten} reason={command.reason}"
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
