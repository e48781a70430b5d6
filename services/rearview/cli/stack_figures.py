"""What a running stack takes up: memory of its processes, size of its database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import psutil

from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.stack_status import ProcessStatus, read_status

SAMPLE_SECONDS = 0.5
_WRITER = ("writer", "worker")


def memory_bytes(process: ProcessStatus) -> int | None:
    """The resident memory of the process and its children, None when it does not run."""
    if process.pid is None:
        return None
    try:
        parent = psutil.Process(process.pid)
        return sum(int(one.memory_info().rss) for one in (parent, *parent.children(recursive=True)))
    except psutil.Error:
        return None


def database_bytes(folder: DataFolder) -> int:
    """Return the size of the stack's database on disk, indexes included.

    Raises:
        StackError: the stack is not running, or its database does not answer.
    """
    from rearview.adapters.postgres.probe import PostgresUnreachable, inspect

    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None:
        raise StackError(f"there is no {folder.endpoints_file}")
    try:
        return inspect(endpoints.postgres_owner_url).size_bytes
    except PostgresUnreachable as error:
        raise StackError(f"the database does not answer: {error}") from error


@dataclass(slots=True)
class PeakMemory:
    """The most memory that the stack's processes had together, in bytes; memory shared by several counts for each. And
    the writer's at each look, in bytes, with that of the process that indexes for it."""

    rss_bytes: int = 0
    writer: list[int] = field(default_factory=list)

    def sample(self, folder: DataFolder) -> None:
        """Look once more."""
        status = read_status(folder.status_file)
        found = {process.name: memory_bytes(process) or 0 for process in status.processes} if status is not None else {}
        self.rss_bytes = max(self.rss_bytes, sum(found.values()))
        if "writer" in found:
            self.writer.append(sum(found.get(name, 0) for name in _WRITER))

    def writer_growth(self) -> float | None:
        """Return by what share the writer's memory grew from the second tenth of the looks to the last one, medians of
        both; None with too few looks to tell."""
        tenth = len(self.writer) // 10
        if tenth < 2:
            return None
        return round(median(self.writer[-tenth:]) / median(self.writer[tenth : 2 * tenth]) - 1, 3)


@contextmanager
def peak_memory(folder: DataFolder) -> Iterator[PeakMemory]:
    """Watch the stack's memory while the block runs."""
    peak, ended = PeakMemory(), threading.Event()

    def watch() -> None:
        peak.sample(folder)
        while not ended.wait(SAMPLE_SECONDS):
            peak.sample(folder)

    watcher = threading.Thread(target=watch, name="peak-memory")
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
