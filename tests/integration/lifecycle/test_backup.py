"""Backups beside a lifecycle at work, and the tombstone ledger replayed into what was restored from one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from rearview.adapters.postgres.backup import load
from rearview.domain.forget import Forget, ForgetLastTurns, ForgetMemories, ForgetState
from rearview.domain.tombstone_ledger import DeletionEntry, ForgetEntry, Ledger
from rearview.embedded.backup.files import BackupSource
from rearview.embedded.backup.ledger_file import append_to_ledger, read_ledger_file
from rearview.embedded.backup.manifest import DATABASE, OBJECTS
from rearview.embedded.backup.stores import Stores, postgres_programs
from rearview.embedded.backup.take import Taken, take_backup
from rearview.lifecycle.app import open_replayer
from rearview.ports.clock import SystemClock
from tests.support.stack import DatabaseUrls
from tests.support.tier_bench import TierBench, lifecycle_config

Show = Callable[[str, int], Callable[[int], None]]


def quietly(_name: str, _total: int) -> Callable[[int], None]:
    return lambda _done: None


async def backed_up(tiers: TierBench, target: Path, show: Show = quietly) -> Taken:
    address = tiers.bucket
    stores = Stores(tiers.urls.owner, address.endpoint, address.access_key, address.secret_key, address.bucket)
    return await asyncio.to_thread(take_backup, stores, target, show)


def rows(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def restored_into(target: Path, empty: DatabaseUrls) -> None:
    with BackupSource(target) as source:
        load(postgres_programs(), empty.superuser, empty.owner, source.chunks(DATABASE))


async def replayed(tiers: TierBench, urls: DatabaseUrls, ledger: Ledger) -> dict[str, int]:
    config = lifecycle_config(urls, tiers.config.redis_url.get_secret_value(), tiers.bucket)
    async with open_replayer(config, urls.owner) as replayer:
        return dict(await replayer.replay(ledger))


async def test_a_segment_replaced_while_it_is_copied_makes_the_backup_begin_with_a_newer_snapshot(
    tiers: TierBench, tmp_path: Path
) -> None:
    ids = await tiers.write()
    await tiers.make_cold()
    loop, forgotten, seen = asyncio.get_running_loop(), list(ids[:2]), list[str]()

    async def replace_segment() -> None:
        scope, memory_id = tiers.writing.scope, forgotten.pop()
        command = Forget("notes", ForgetMemories((memory_id,)), skip_grace_period=True)
        await tiers.writing.writer.forgetter.forget(scope, command)
        await tiers.tiers.eraser.erase(scope.tenant_id, scope.namespace_id, [memory_id])

    def show(name: str, total: int) -> Callable[[int], None]:
        # The first copies are made before any snapshot, the second under one: both find their object gone.
        seen.append(name)
        if name == "objects" and forgotten:
            asyncio.run_coroutine_threadsafe(replace_segment(), loop).result()
        return quietly(name, total)

    taken = await backed_up(tiers, tmp_path / "backup", show)

    assert taken.attempts == 2
    assert seen == ["objects", "objects", "objects", "database"]
    parts = {part.name.removeprefix(OBJECTS) for part in taken.manifest.parts if part.name.startswith(OBJECTS)}
    assert parts == await tiers.catalog() == tiers.objects()
    with BackupSource(tmp_path / "backup") as source:
        source.verify()
        for memory_id in ids[:2]:
            assert not any(memory_id.bytes in source.read(OBJECTS + key) for key in parts)


async def test_a_replayed_ledger_leaves_what_the_forgets_had_left(
    tiers: TierBench, empty_database: DatabaseUrls, tmp_path: Path
) -> None:
    """Forgets of hot and of cold memories, and of some turns of a cold episode, which is written anew."""
    writing, scope = tiers.writing, tiers.writing.scope
    ids = await tiers.write()
    await writing.append(["四月去京都，住在岚山。", "The safe opens with marzipan nine.", "我住在北京"], "trip")
    await writing.writer.ender.end(scope, "trip")
    await writing.run_jobs()
    await tiers.make_cold()
    (late,) = [(await writing.remember("The attic leaks. 阁楼漏水。")).memory.memory_id]
    await backed_up(tiers, tmp_path / "backup")
    restored_into(tmp_path / "backup", empty_database)
    forgets = (ForgetMemories((ids[0], late)), ForgetLastTurns("trip", 2), ForgetMemories((ids[1],)))
    receipts = [
        (await writing.writer.forgetter.forget(scope, Forget("notes", each, skip_grace_period=True))).receipt_id
        for each in forgets
    ]
    await writing.writer.forgetter.restore(scope, await forgotten_with_grace(tiers, ids[2]))

    path = tmp_path / "ledger"
    assert append_to_ledger(path, tiers.urls.owner).entries == 4
    assert append_to_ledger(path, tiers.urls.owner).entries == 0
    assert not any(text in path.read_text() for text in ("marzipan", "京都", "attic", "阁楼"))
    # A line that was cut in half by a kill is no line, and the next export goes on behind the whole ones.
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    ledger = read_ledger_file(path)
    append_to_ledger(path, tiers.urls.owner)
    assert read_ledger_file(path).forgets == ledger.forgets

    counts = await replayed(tiers, empty_database, ledger)
    assert (counts["forgotten"], counts["known"]) == (3, 1)
    for statement in (
        "SELECT memory_id, state, CASE WHEN tier <> 3 THEN content END, receipt_id FROM memory ORDER BY 1",
        "SELECT event_id, tombstoned, content, receipt_id FROM event ORDER BY 1",
        "SELECT memory_id, event_id FROM memory_event ORDER BY 1, 2",
        "SELECT resource_id, kind, receipt_id FROM tombstone ORDER BY 1",
        "SELECT receipt_id, memory_ids, event_ids, tombstoned_at FROM forget_receipt WHERE state = 1 ORDER BY 1",
    ):
        assert rows(empty_database.superuser, statement) == rows(tiers.urls.superuser, statement)
    again = await replayed(tiers, empty_database, ledger)
    assert (again["forgotten"], again["known"]) == (0, 4)
    due = rows(empty_database.superuser, "SELECT receipt_id FROM forget_receipt WHERE purge_after <= now()")
    assert {receipt_id for (receipt_id,) in due} == set(receipts)


async def test_a_receipt_of_the_backup_is_brought_to_the_state_that_the_ledger_tells(tiers: TierBench) -> None:
    ids = await tiers.write()
    entries = []
    for memory_id, state in zip(
        ids, (ForgetState.VERIFIED, ForgetState.RESTORED, ForgetState.TOMBSTONED), strict=False
    ):
        receipt_id = await forgotten_with_grace(tiers, memory_id)
        now, scope = SystemClock().now(), tiers.writing.scope
        entries.append(
            ForgetEntry(scope.tenant_id, scope.namespace_id, receipt_id, state, (memory_id,), (), "", now, now)
        )
    # The bench's clock is behind the database's.
    await tiers.writing.rows("UPDATE forget_receipt SET purge_after = now() + interval '1 day' RETURNING 1")
    await tiers.writing.rows(
        "UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 day' WHERE task_name = 'purge' RETURNING 1"
    )
    counts = await replayed(tiers, tiers.urls, ledger_of(*entries))
    assert (counts["hastened"], counts["taken_back"], counts["known"]) == (1, 1, 1)
    states = {
        row["receipt_id"]: (row["state"], row["due"], row["started"])
        for row in await tiers.writing.rows(
            "SELECT receipt_id, state, purge_after <= now() AS due, purge_started_at IS NOT NULL AS started"
            " FROM forget_receipt"
        )
    }
    assert [states[each.receipt_id] for each in entries] == [(1, True, True), (4, False, False), (1, False, False)]
    assert (await tiers.contents([ids[1]]))[0]
    jobs = await tiers.writing.rows(
        "SELECT args ->> 'receipt_id' AS receipt_id FROM procrastinate_jobs"
        " WHERE task_name = 'purge' AND status = 'todo' AND scheduled_at <= now()"
    )
    assert [UUID(row["receipt_id"]) for row in jobs] == [entries[0].receipt_id]


@pytest.mark.parametrize("whole_tenant", [False, True])
async def test_a_deletion_is_repeated_whatever_holds_the_backup_knows(tiers: TierBench, whole_tenant: bool) -> None:
    await tiers.write()
    scope, now = tiers.writing.scope, SystemClock().now()
    await tiers.writing.rows(
        "INSERT INTO legal_hold (tenant_id, hold_id, namespace_id, scope, target, principal, created_at)"
        " VALUES (%s, gen_random_uuid(), %s, 'namespace', '', 'tester', now()) RETURNING 1",
        scope.tenant_id,
        scope.namespace_id,
    )
    entry = DeletionEntry(scope.tenant_id, None if whole_tenant else scope.namespace_id, now)
    assert (await replayed(tiers, tiers.urls, ledger_of(entry)))["deleted"] == 1
    assert (await replayed(tiers, tiers.urls, ledger_of(entry)))["known"] == 1
    assert await tiers.writing.count("namespace", "deleted_at IS NULL") == 0
    assert await tiers.writing.count("tenant", "deleted_at IS NULL") == (0 if whole_tenant else 1)
    task = "erase_tenant" if whole_tenant else "operation"
    assert await tiers.writing.count("procrastinate_jobs", "task_name = %s AND status = 'todo'", task) == 1


async def forgotten_with_grace(tiers: TierBench, memory_id: UUID) -> UUID:
    command = Forget("notes", ForgetMemories((memory_id,)))
    return (await tiers.writing.writer.forgetter.forget(tiers.writing.scope, command)).receipt_id


def ledger_of(*entries: ForgetEntry | DeletionEntry) -> Ledger:
    forgets = {entry.receipt_id: entry for entry in entries if isinstance(entry, ForgetEntry)}
    return Ledger(forgets, frozenset(entry for entry in entries if isinstance(entry, DeletionEntry)), None, "")
