"""What processes have taken: CPU seconds of trees of them, and the machine they run on."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and all below it, nothing when it has ended."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """Return the CPU seconds so far, with those of children that have ended and been waited for (backends that were
    closed)."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def rss_bytes(processes: Iterable[psutil.Process]) -> int:
    """Return the resident memory; what several share counts for each."""
    total = 0
    for process in processes:
        try:
            total += int(process.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return total


@dataclass(frozen=True, slots=True)
class Machine:
    """What a report has to say of the machine."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str

    @classmethod
    def here(cls) -> "Machine":
        """Return this one."""
        return cls(
            processor=_processor(),
            cores=os.cpu_count() or 0,
            memory_gib=round(psutil.virtual_memory().total / 1024**3, 1),
            system=f"{platform.system()} {platform.release()} {platform.machine()}",
            python=platform.python_version(),
        )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
