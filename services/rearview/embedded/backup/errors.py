"""What can go wrong with a backup; each has a reason for programs, and its message names what is wrong."""

from pathlib import Path
from typing import ClassVar

from rearview.embedded.errors import StackError


class BackupError(StackError):
    """A backup cannot be taken or restored."""

    reason: ClassVar[str] = "BACKUP_FAILED"


class TargetExists(BackupError):
    """Nothing is overwritten."""

    reason = "BACKUP_TARGET_EXISTS"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} exists already; a backup overwrites nothing, so name another place")


class DiskFull(BackupError):
    """What was written of it was removed."""

    reason = "BACKUP_DISK_FULL"

    def __init__(self, path: Path) -> None:
        super().__init__(f"there is no space left where {path} is to be written; free some, or name another place")


class NotABackup(BackupError):
    """There is no manifest of a backup."""

    reason = "BACKUP_NOT_FOUND"


class WrongVersion(BackupError):
    """A newer version made it."""

    reason = "BACKUP_WRONG_VERSION"


class PartDamaged(BackupError):
    """A part is missing, or not what was written; `part` is its name in the backup."""

    reason = "BACKUP_PART_DAMAGED"

    def __init__(self, part: str, problem: str) -> None:
        self.part = part
        super().__init__(f"{part} {problem}; nothing was restored, use another copy of the backup")


class ObjectsKeepChanging(BackupError):
    """Cold segments were replaced faster than they could be copied."""

    reason = "BACKUP_OBJECTS_CHANGING"


class TargetNotEmpty(BackupError):
    """What is there is not touched."""

    reason = "RESTORE_TARGET_NOT_EMPTY"

    def __init__(self, folder: Path, found: list[str]) -> None:
        some = ", ".join(found[:8]) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
        super().__init__(f"{folder} is not empty: it holds {some}; restore into an empty or new folder with --data-dir")


class LedgerMissing(BackupError):
    """Without a ledger what was forgotten after the backup would come back."""

    reason = "RESTORE_LEDGER_MISSING"

    def __init__(self) -> None:
        super().__init__(
            "name the tombstone ledger with --ledger FILE, so that nothing comes back that was forgotten after the "
            "backup; with --no-ledger it does come back"
        )


class LedgerForeign(BackupError):
    """It is of another installation."""

    reason = "RESTORE_LEDGER_FOREIGN"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} speaks of no tenant of this backup: it is the ledger of another installation")


class ErasureUnfinished(BackupError):
    """What the ledger names is out of reach, and not yet erased."""

    reason = "RESTORE_ERASURE_UNFINISHED"


class RestoreUnfinished(BackupError):
    """A restore into this folder did not come to its end, so nothing may be served from it."""

    reason = "RESTORE_UNFINISHED"

    def __init__(self, folder: Path, source: str) -> None:
        super().__init__(
            f"a restore into {folder} did not come to its end, so it is not started; run the same "
            f"`rearview restore {source} --data-dir {folder}` again: it goes on, or begins anew"
        )
