"""Processes that are not our children: where nobody reaps orphans, one that has ended stays in the process table."""

import time
from collections.abc import Iterable

import psutil

POLL_SECONDS = 0.02


def is_running(process: psutil.Process) -> bool:
    """Whether a process runs; one that has ended and was not reaped yet does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(processes: Iterable[psutil.Process], timeout_seconds: float) -> list[psutil.Process]:
    """Wait until all processes have ended; return those that still run after the time-out."""
    deadline = time.monotonic() + timeout_seconds
    while (running := [process for process in processes if is_running(process)]) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        processes = running
    return running
