"""What goes wrong during a run, and when: the seed alone decides."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support.soak.links import Links
from tests.support.supervised_stack import SupervisedStack

SERVICES = ("gateway", "writer", "worker", "retriever", "lifecycle")
DEPENDENCIES = ("postgres", "valkey", "s3")
KILLED = (*SERVICES, *DEPENDENCIES, "postgres+valkey", "writer+worker")
CLOCK_JUMPS = (-3600, -45, 45, 3600)
"""Seconds; the small ones are what clocks of a cluster differ by on a bad day."""
LEFT_FREE_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class Fault:
    """`at` in seconds since the first one could be; `seconds` it lasts, 0 for a kill; `amount` of a clock's jump."""

    at: float
    kind: str
    target: str
    seconds: float = 0.0
    amount: int = 0

    def __str__(self) -> str:
        jump = f" by {self.amount:+d} s" if self.amount else ""
        return f"{self.kind} {self.target}{jump}" + (f", {self.seconds:.0f} s" if self.seconds else "")


def schedule(seed: int, seconds: float, gap_seconds: float, *, clocks: bool, disk: bool) -> list[Fault]:
    """Return what happens within so many seconds: every kind of fault to every target in some order, and again."""
    chance = random.Random(seed)
    faults: list[Fault] = []
    round_: list[Fault] = []
    at = 0.0
    while at < seconds:
        if not round_:
            round_ = _one_round(chance, clocks=clocks, disk=disk)
        fault = round_.pop()
        faults.append(Fault(round(at, 1), fault.kind, fault.target, fault.seconds, fault.amount))
        at += gap_seconds * chance.uniform(0.7, 1.3) + fault.seconds
    return faults


def _one_round(chance: random.Random, *, clocks: bool, disk: bool) -> list[Fault]:
    faults = [Fault(0, "kill", target) for target in KILLED]
    faults += [Fault(0, "stall the link to", target, chance.uniform(3, 12)) for target in DEPENDENCIES]
    faults += [Fault(0, "cut the link to", target) for target in DEPENDENCIES]
    faults += [Fault(0, "pause", target, chance.uniform(3, 10)) for target in SERVICES]
    if clocks:
        faults += [Fault(0, "move the clock of", target, 15, chance.choice(CLOCK_JUMPS)) for target in SERVICES]
        faults.append(Fault(0, "move the clock of", "+".join(SERVICES), 15, chance.choice(CLOCK_JUMPS)))
    if disk:
        faults += [Fault(0, "fill", "the disk", chance.uniform(5, 12)) for _ in range(2)]
    chance.shuffle(faults)
    return faults


class Injector:
    """Makes faults happen to a stack. `clocks` holds a file for each service, read by its clock."""

    def __init__(self, stack: SupervisedStack, links: Links, clocks: Path) -> None:
        self._stack, self._links, self._clocks = stack, links, clocks

    def inject(self, fault: Fault) -> None:
        """Let it happen, and be over: return when what was broken is whole again, or was killed."""
        kinds: Mapping[str, Callable[[Fault], None]] = {
            "kill": self._kill,
            "cut the link to": lambda fault: self._links.cut(fault.target),
            "stall the link to": lambda fault: _paused(self._links.pids(fault.target), fault.seconds),
            "pause": lambda fault: _paused(self._family(fault.target), fault.seconds),
            "move the clock of": self._move_clock,
            "fill": self._fill_disk,
        }
        kinds[fault.kind](fault)

    def _kill(self, fault: Fault) -> None:
        for name in fault.target.split("+"):
            for process in self._family(name):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()

    def _family(self, name: str) -> list[psutil.Process]:
        """Return a process and, unless they end by themselves without it, its children."""
        pid = self._stack.child_pids().get(name)
        if pid is None:
            return []
        try:
            parent = psutil.Process(pid)
            return [parent] if name == "postgres" else [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def _move_clock(self, fault: Fault) -> None:
        services = fault.target.split("+")
        set_clocks(self._clocks, services, fault.amount)
        try:
            time.sleep(fault.seconds)
        finally:
            set_clocks(self._clocks, services, 0)

    def _fill_disk(self, fault: Fault) -> None:
        with filled(self._stack.folder.root):
            time.sleep(fault.seconds)


def set_clocks(folder: Path, services: Sequence[str], seconds: int) -> None:
    """Let the clocks of services be wrong by so many seconds, from about a second later on."""
    for service in services:
        (folder / service).write_text(f"{seconds:+d}s\n", encoding="ascii")


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Leave no room to speak of on the folder's file system while the block lasts."""
    room = os.statvfs(folder)
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        size = max(room.f_bavail * room.f_frsize - LEFT_FREE_BYTES, 1)
        with contextlib.suppress(OSError):  # somebody else took the rest meanwhile: full it is
            os.posix_fallocate(file.fileno(), 0, size)
    try:
        yield
    finally:
        ballast.unlink()


def _paused(processes: Sequence[psutil.Process], seconds: float) -> None:
    stopped = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGSTOP)
            stopped.append(process)
    try:
        time.sleep(seconds)
    finally:
        for process in stopped:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)
