"""The tombstone ledger as a file: appended to, never rewritten, readable for its owner only."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from rearview.adapters.postgres.tombstone_ledger import forgotten_since
from rearview.domain.tombstone_ledger import Ledger, LedgerWriter, read_ledger
from rearview.embedded.backup.errors import BackupError, NotABackup

_SAY_REACHED_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Appended:
    """What an export added to a ledger, and up to which moment the ledger reaches now."""

    entries: int
    reached: datetime


def append_to_ledger(path: Path, owner_url: str) -> Appended:
    """Append what was forgotten and deleted since the ledger was written last; a new file gets all there is.

    A line that a kill cut in half is taken out first. Two at a time take turns.

    Raises:
        InvalidFields: the file is not a ledger, or is damaged.
        BackupError: the file cannot be written.
        Unavailable: PostgreSQL cannot be reached; what was appended before that stays.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise BackupError(f"the ledger {path} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whole = _whole_lines(file)
        file.truncate(len(whole))
        file.seek(len(whole))
        writer = LedgerWriter()
        if not whole:
            file.write(writer.begin().encode())
        ledger = (
            read_ledger(whole.decode(errors="replace").splitlines())
            if whole
            else Ledger({}, frozenset(), None, writer.check)
        )
        writer.check = ledger.check
        now, entries = datetime.now(UTC), 0
        known = {receipt_id: entry.state for receipt_id, entry in ledger.forgets.items()}
        for entry in forgotten_since(owner_url, known, ledger.deletions):
            file.write(writer.entry(entry).encode())
            entries += 1
        reached = ledger.reached
        if entries or reached is None or now - reached > _SAY_REACHED_AFTER:
            file.write(writer.reached(now).encode())
        file.flush()
        os.fsync(file.fileno())
    return Appended(entries, now)


def read_ledger_file(path: Path) -> Ledger:
    """Return what a ledger's file says; a last line that a kill cut in half counts as not written.

    Raises:
        NotABackup: there is no such file.
        InvalidFields: it is not a ledger, or is damaged.
    """
    try:
        with path.open("rb") as file:
            return read_ledger(_whole_lines(file).decode(errors="replace").splitlines())
    except OSError as error:
        raise NotABackup(f"the ledger {path} cannot be read: {error.strerror}") from None


def _whole_lines(file: IO[bytes]) -> bytes:
    content = file.read()
    return content[: content.rfind(b"\n") + 1]
