"""Which processes still run: one that has ended and was not yet reaped by its parent does not."""

from collections.abc import Iterable

import psutil


def running(pids: Iterable[int]) -> list[int]:
    """Return those of the processes that run; orphans may stay zombies for as long as the first process likes."""
    return [pid for pid in pids if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
