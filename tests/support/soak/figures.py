"""What is measured while a run goes on: how soon recall answers, and how much memory each process holds."""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import psutil

from rearview.client import Client
from rearview.domain.errors import RearviewError
from tests.support.soak.history import History
from tests.support.soak.texts import NAMESPACES, QUESTIONS
from tests.support.supervised_stack import SupervisedStack

PROBE_PAUSE_SECONDS = 0.3
PROBE_TIMEOUT_SECONDS = 5.0
SAMPLE_SECONDS = 5.0
WINDOW_SECONDS = 5.0
NORMAL_FACTOR, NORMAL_SLACK_SECONDS = 1.5, 0.1
"""Recall is back to normal when the 95th percentile of a window is at most so much above that of the warm-up."""
WARM_UP_SHARE, END_SHARE = 0.25, 0.25
LEAST_SAMPLES = 12
MEBIBYTE = 1024 * 1024


@dataclass
class Probe:
    """Recalls again and again, past the cache; `answers` are (when begun, seconds; None for an error)."""

    client: Client
    history: History
    answers: list[tuple[float, float | None]] = field(default_factory=list)

    def run(self, stopped: threading.Event) -> None:
        for number in itertools.count():
            if stopped.wait(PROBE_PAUSE_SECONDS):
                return
            at, begun = self.history.now(), time.perf_counter()
            question = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"
            client = self.client.with_options(namespace=NAMESPACES[0], timeout_seconds=PROBE_TIMEOUT_SECONDS)
            try:
                client.recall(question, no_cache=True)
            except RearviewError:
                self.answers.append((at, None))
            else:
                self.answers.append((at, time.perf_counter() - begun))

    def p95(self, begun: float, ended: float) -> float:
        """Return the 95th percentile of what was asked in this time, infinite with an error or without an answer."""
        times = [seconds for at, seconds in self.answers if begun <= at < ended]
        if not times or None in times:
            return float("inf")
        return float(np.percentile([seconds for seconds in times if seconds is not None], 95))

    def back_to_normal(self, ended: float, normal: float) -> float | None:
        """Return how long after a fault's end the first window began that was as before; None if none was."""
        bound = normal * NORMAL_FACTOR + NORMAL_SLACK_SECONDS
        starts = [at for at, _ in self.answers if at >= ended]
        last = self.answers[-1][0] if self.answers else 0.0
        for start in [ended, *starts]:
            if start + WINDOW_SECONDS > last:
                return None
            if self.p95(start, start + WINDOW_SECONDS) <= bound:
                return start - ended
        return None


@dataclass
class MemoryUse:
    """Bytes of each process over time, by (name, pid): resident ones; of PostgreSQL, whose processes share their
    buffers and fill them by design, those that are its processes' own."""

    stack: SupervisedStack
    history: History
    samples: dict[tuple[str, int], list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def run(self, stopped: threading.Event) -> None:
        while not stopped.wait(SAMPLE_SECONDS):
            for name, pid in self.stack.child_pids().items():
                with suppress(psutil.NoSuchProcess):
                    self.samples[name, pid].append((self.history.now(), _bytes_of(name, pid)))

    def growth(self, begun: float, ended: float) -> dict[str, tuple[float, float, float]]:
        """Return by process, of the one that lived through all of this time: MiB after its warm-up, at the end, and the
        growth as a share; without those that have restarted meanwhile."""
        found = {}
        for (name, _), samples in self.samples.items():
            own = [size for at, size in samples if begun <= at <= ended]
            whole = samples[0][0] <= begun + SAMPLE_SECONDS and samples[-1][0] >= ended - 2 * SAMPLE_SECONDS
            if whole and len(own) >= LEAST_SAMPLES:
                after_warm_up = own[int(len(own) * WARM_UP_SHARE) :]
                part = max(int(len(own) * END_SHARE), 1)
                first, last = _mean(after_warm_up[:part]), _mean(after_warm_up[-part:])
                found[name] = (first / MEBIBYTE, last / MEBIBYTE, last / first - 1)
        return found


def _bytes_of(name: str, pid: int) -> int:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    total = 0
    for one in family:
        with suppress(psutil.NoSuchProcess):
            total += one.memory_full_info().uss if name == "postgres" else one.memory_info().rss
    return total


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)
