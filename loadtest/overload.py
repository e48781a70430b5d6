"""The scenario `overload`: `python -m loadtest.overload`; see loadtest/README.md.

The peak first, by callers who wait for their answers; then four times as many calls a second for a minute, whatever
becomes of them; then half the peak, to see how soon all of them are answered again.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from loadtest.open_load import ANSWERED, SHED, Caller, Outcomes
from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.paths import DataFolder
from rearview.embedded.process_records import ProcessRecords
from rearview.evaluation.bench_load import fill, warmed_up_namespace
from rearview.evaluation.bench_texts import bench_sessions
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.measures import percentile_milliseconds

OVER = 4
CONCURRENCIES = (4, 8, 16)
MOST_ROUNDS = 6
RISE = 1.05
TURNS = 300
RECOVERY_SECONDS = 15
TIMEOUT_SECONDS = 10.0
MIB = 1024 * 1024
SERVICES = ("gateway", "retriever", "writer", "lifecycle")

LEAST_GOODPUT = 0.8
MOST_TIMES_PEAK_P99 = 2.0
MOST_WAIT_MS = 1_000.0
"""What waiting for a turn may add, `REARVIEW_CALL_WAIT_SECONDS`."""
MOST_GROWTH_MIB = 512
MOST_RECOVERY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Run:
    """What a run showed. `rss_mib` holds by service the resident memory before the overload and the most during it."""

    peak: Outcomes
    overload: Outcomes
    recovery: Outcomes
    rss_mib: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def figures(self) -> dict[str, object]:
        """Return the figures of the report."""
        return {
            "peak_per_s": round(self.peak.goodput, 1),
            "offered_per_s": round(OVER * self.peak.goodput, 1),
            "goodput_per_s": round(self.overload.goodput, 1),
            "goodput_of_peak": round(self.overload.goodput / self.peak.goodput, 3) if self.peak.goodput else 0.0,
            "peak_p99_ms": percentile_milliseconds(self.peak.latencies, 99),
            "p50_ms": percentile_milliseconds(self.overload.latencies, 50),
            "p99_ms": percentile_milliseconds(self.overload.latencies, 99),
            "ended": dict(self.overload.counts),
            "recovery_s": self.recovery_seconds(),
            "rss_mib": {name: list(sizes) for name, sizes in self.rss_mib.items()},
        }

    def recovery_seconds(self) -> int:
        """Return the second after the overload from which on every call was answered."""
        return max(self.recovery.refused_by_second, default=-1) + 1

    def broken(self) -> list[str]:
        """Return a line for each limit that was not kept."""
        lines = self.wrong_endings()
        if self.overload.goodput < LEAST_GOODPUT * self.peak.goodput:
            lines.append(f"{self.overload.goodput:.1f} answers/s are less than {LEAST_GOODPUT:.0%} of the peak")
        p99 = percentile_milliseconds(self.overload.latencies, 99)
        most = MOST_TIMES_PEAK_P99 * percentile_milliseconds(self.peak.latencies, 99) + MOST_WAIT_MS
        if p99 > most:
            lines.append(f"p99 of what was answered is {p99:.0f} ms, over {most:.0f} ms")
        for name, (before, most) in self.rss_mib.items():
            if most - before > MOST_GROWTH_MIB:
                lines.append(f"the {name} grew from {before} to {most} MiB")
        if self.recovery_seconds() > MOST_RECOVERY_SECONDS:
            lines.append(f"not every call was answered before second {self.recovery_seconds()} after the overload")
        return lines

    def wrong_endings(self) -> list[str]:
        """Return a line for each way for a call to end that an overload does not excuse."""
        others = {kind: count for kind, count in self.overload.counts.items() if kind not in (ANSWERED, SHED)}
        lines = [f"{count} calls ended with: {kind}" for kind, count in others.items()]
        if not self.overload.counts[SHED]:
            lines.append("no call was sent away: this was no overload")
        return lines


async def overload(
    endpoints: Endpoints,
    folder: DataFolder,
    namespace: str,
    questions: Sequence[str],
    *,
    peak_seconds: float,
    seconds: float,
    recovery_seconds: float = RECOVERY_SECONDS,
) -> Run:
    """Put the stack's gateway under load, whose namespace answers the questions."""
    caller = Caller(endpoints.gateway or "", endpoints.admin_key or "", namespace, questions, TIMEOUT_SECONDS)
    try:
        peak = await _peak(caller, peak_seconds)
        async with _memory(folder) as rss_mib:
            over = await caller.per_second(OVER * peak.goodput, seconds)
        after = await caller.per_second(peak.goodput / 2, recovery_seconds)
    finally:
        await caller.close()
    return Run(peak, over, after, rss_mib)


async def _peak(caller: Caller, seconds: float) -> Outcomes:
    """Return the peak, looked for until it rises no more: a fresh stack answers ever faster for a while, and four times
    the peak of a cold one is no fourfold overload."""
    peak = await caller.at_once(CONCURRENCIES[0], min(seconds, 2.0))  # connects
    for _ in range(MOST_ROUNDS):
        before = peak.goodput
        for calls in CONCURRENCIES:
            peak = max(peak, await caller.at_once(calls, seconds), key=lambda outcomes: outcomes.goodput)
        if peak.goodput <= RISE * before:
            break
    return peak


@asynccontextmanager
async def _memory(folder: DataFolder) -> AsyncIterator[dict[str, tuple[int, int]]]:
    """Yield by service the resident memory at first and the most of it, looked at each second as the context lasts."""
    found: dict[str, tuple[int, int]] = {}
    processes: dict[str, psutil.Process] = {}
    for record in ProcessRecords(folder.process_records).all():
        process = record.find() if record.name in SERVICES else None
        if process is not None:
            processes[record.name] = process

    async def watch() -> None:
        while True:
            for name, process in processes.items():
                size = process.memory_info().rss // MIB
                before, most = found.get(name, (size, size))
                found[name] = (before, max(most, size))
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    try:
        yield found
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def filled_namespace(client: Client) -> tuple[str, list[str]]:
    """Return a fresh namespace with indexed turns, half Chinese, half English, and a question for each of them."""
    sessions = list(bench_sessions(TURNS, seed=7))
    namespace = warmed_up_namespace(client)
    fill(client, namespace, sessions, 2, lambda _: None)
    wait_until_indexed(client, namespace, lambda _: None)
    return namespace, [question for session in sessions for question in session.questions]


def main() -> int:
    """Run it on the stack of a data folder; return 0 if all limits were kept, 1 if not, 2 without a stack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path(".rearview"), help="the folder of a running stack")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the overload lasts")
    parser.add_argument("--peak-seconds", type=float, default=10.0, help="how long each measurement of the peak lasts")
    options = parser.parse_args()
    folder = DataFolder(options.data_dir.resolve())
    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None or endpoints.gateway is None:
        sys.stderr.write(f"no stack runs in {options.data_dir}; start one with `make up`\n")
        return 2
    with Client.from_endpoints(str(folder.endpoints_file), key="admin", timeout_seconds=60) as client:
        namespace, questions = filled_namespace(client)
    measured = overload(
        endpoints, folder, namespace, questions, peak_seconds=options.peak_seconds, seconds=options.seconds
    )
    run = asyncio.run(measured)
    sys.stdout.write(json.dumps(run.figures(), indent=2) + "\n")
    for line in run.broken():
        sys.stderr.write(f"limit broken: {line}\n")
    return 1 if run.broken() else 0


if __name__ == "__main__":
    raise SystemExit(main())
