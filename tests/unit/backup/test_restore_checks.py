"""What a restore refuses before it writes anything, and what no stack is started from."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rearview.domain.ids import new_id
from rearview.domain.tombstone_ledger import DeletionEntry, LedgerWriter
from rearview.embedded.backup.errors import (
    BackupError,
    LedgerForeign,
    NotABackup,
    PartDamaged,
    RestoreUnfinished,
    TargetNotEmpty,
    WrongVersion,
)
from rearview.embedded.backup.files import BackupFolder
from rearview.embedded.backup.manifest import DATABASE, SECRETS, Manifest
from rearview.embedded.backup.marker import LOADING, Marker
from rearview.embedded.backup.restore import Restore
from rearview.embedded.paths import DataFolder
from rearview.embedded.stack import Stack
from rearview.embedded.wiring import Wiring
from rearview.lifecycle.fault_points import NO_FAULTS

TENANT = new_id()
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def quietly(_name: str, _total: int) -> Callable[[int], None]:
    return lambda _done: None


def backup(target: Path, *migrations: str, names: tuple[str, ...] = (DATABASE, SECRETS)) -> Path:
    with BackupFolder(target) as folder:
        for name in names:
            with folder.part(name) as write:
                write(b"{}")
        parts = tuple(folder.parts)
        folder.finish(Manifest("id", NOW.isoformat(), "18", migrations, (), (str(TENANT),), {}, parts))
    return target


def ledger(path: Path, *entries: DeletionEntry) -> Path:
    writer = LedgerWriter()
    path.write_text("".join([writer.begin(), *map(writer.entry, entries)]), encoding="utf-8")
    return path


def refused(kind: type[BackupError], words: str, path: Path, ledger_path: Path | None, target: Path) -> None:
    before = sorted(target.rglob("*")) if target.exists() else None
    with pytest.raises(kind, match=words):
        Restore(DataFolder(target), quietly, erasure_seconds=1, faults=NO_FAULTS).run(path, ledger_path)
    assert (sorted(target.rglob("*")) if target.exists() else None) == before


def test_what_cannot_be_restored_is_refused_before_anything_is_there(tmp_path: Path) -> None:
    target, whole = tmp_path / "data", backup(tmp_path / "backup")
    own = ledger(tmp_path / "own", DeletionEntry(TENANT, new_id(), NOW), DeletionEntry(new_id(), None, NOW))
    foreign = ledger(tmp_path / "foreign", DeletionEntry(new_id(), None, NOW))
    refused(LedgerForeign, "another installation", whole, foreign, target)
    refused(NotABackup, "ledger .* cannot be read", whole, tmp_path / "absent", target)
    refused(WrongVersion, r"9999\.pre\.future", backup(tmp_path / "later", "9999.pre.future"), own, target)
    refused(NotABackup, r"no secrets\.json", backup(tmp_path / "cluster", names=(DATABASE,)), own, target)
    (whole / DATABASE).write_bytes(b"[]")
    refused(PartDamaged, r"database\.dump", whole, own, target)
    target.mkdir()
    (target / "笔记.txt").touch()
    refused(TargetNotEmpty, "笔记", whole, own, target)


def test_no_stack_is_started_from_a_folder_whose_restore_has_not_ended(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    Marker("id", "/backups/monday.tar", LOADING).write(folder)
    with pytest.raises(RestoreUnfinished, match=r"rearview restore /backups/monday\.tar"):
        asyncio.run(Stack(folder, Wiring()).run())
    (folder.root / "restore.json").write_text("half")
    with pytest.raises(RestoreUnfinished):
        asyncio.run(Stack(folder, Wiring()).run())
