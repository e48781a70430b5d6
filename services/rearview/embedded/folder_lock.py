"""One supervisor per data folder: a file lock that ends with the process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rearview.embedded.errors import AlreadyRunning, StackError
from rearview.embedded.paths import DataFolder

ATTEMPTS = 5
ATTEMPT_PAUSE_SECONDS = 0.1


class FolderLock:
    """Holds `run/lock` while entered; the file contains the holder's pid."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> FolderLock:
        descriptor = os.open(self._folder.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        for attempt in range(ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                pid = _written_pid(descriptor)
                if pid is not None or attempt == ATTEMPTS - 1:
                    os.close(descriptor)
                    raise AlreadyRunning(str(self._folder.root), pid) from None
                # Without a pid it may be someone who only looked (`holder`), for an instant.
                time.sleep(ATTEMPT_PAUSE_SECONDS)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


@dataclass(frozen=True, slots=True)
class Holder:
    """The supervisor that holds a data folder; `pid` is None in the instant before it has written it."""

    pid: int | None


def holder(lock_file: Path) -> Holder | None:
    """Return who holds the lock now, None when nobody does.

    Raises:
        StackError: the folder belongs to another account.
    """
    try:
        descriptor = os.open(lock_file, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise StackError(f"{lock_file} belongs to another account; use the account that started the stack") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return Holder(_written_pid(descriptor))
    finally:
        os.close(descriptor)
    return None


def _written_pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", errors="replace").strip()
    return int(text) if text.isdigit() else None
