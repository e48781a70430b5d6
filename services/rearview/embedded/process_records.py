"""Which processes a supervisor started, on disk, so that the next one can clean up after a killed one.

A pid alone proves nothing: pids are used again. A process is taken for ours only when its pid, its start time and its
command line are those recorded.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from rearview.embedded.private_files import read_json, write_private_json
from rearview.embedded.processes import wait_until_ended

START_TIME_TOLERANCE_SECONDS = 2.0
STOP_TIMEOUT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One started process."""

    name: str
    pid: int
    started_at: float
    argv: tuple[str, ...]
    stop_signal: int

    def find(self) -> psutil.Process | None:
        """Return the process if it still runs and is the one recorded."""
        try:
            process = psutil.Process(self.pid)
            same_time = abs(process.create_time() - self.started_at) <= START_TIME_TOLERANCE_SECONDS
            same_command = tuple(process.cmdline()) == self.argv
            alive = process.status() != psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return None
        return process if same_time and same_command and alive else None


class ProcessRecords:
    """The records of one data folder, one file per process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, pid: int, argv: Sequence[str], stop_signal: signal.Signals) -> None:
        """Record a process that was just started; one that is gone already is not recorded."""
        try:
            started_at = psutil.Process(pid).create_time()
        except psutil.NoSuchProcess:
            return
        write_private_json(
            self._path(name),
            {"pid": pid, "started_at": started_at, "argv": list(argv), "stop_signal": int(stop_signal)},
        )

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def all(self) -> list[ProcessRecord]:
        """Return what is recorded, whether or not it still runs; unreadable files are left out."""
        records = []
        for path in sorted(self._folder.glob("*.json")):
            content = read_json(path) or {}
            pid, started_at, argv = content.get("pid"), content.get("started_at"), content.get("argv")
            stop_signal = content.get("stop_signal")
            if (
                isinstance(pid, int)
                and isinstance(started_at, float)
                and isinstance(argv, list)
                and isinstance(stop_signal, int)
            ):
                records.append(ProcessRecord(path.stem, pid, started_at, tuple(map(str, argv)), stop_signal))
        return records

    def stop_leftovers(self, timeout_seconds: float = STOP_TIMEOUT_SECONDS) -> list[str]:
        """Stop what an earlier supervisor left running, clear the records, return the names that were stopped.

        Only the holder of the data folder's lock may call it. Each leftover gets its own stop signal, and SIGKILL
        when it is still there after the time-out.
        """
        found = [(record, process) for record in self.all() if (process := record.find()) is not None]
        for record, process in found:
            _signal(process, record.stop_signal)
        alive = wait_until_ended([process for _, process in found], timeout_seconds)
        for process in alive:
            _signal(process, signal.SIGKILL)
        wait_until_ended(alive, timeout_seconds)
        for path in self._folder.glob("*.json"):
            path.unlink(missing_ok=True)
        return [record.name for record, _ in found]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
