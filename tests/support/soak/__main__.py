"""`python -m tests.support.soak`: load, faults, a quiet time, a last look, and the report."""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

from rearview.client import Client
from tests.support.soak.checker import check
from tests.support.soak.faults import SERVICES, Fault, Injector, schedule, set_clocks
from tests.support.soak.figures import MemoryUse, Probe
from tests.support.soak.history import History
from tests.support.soak.last_look import last_look
from tests.support.soak.links import Links
from tests.support.soak.load import Agent
from tests.support.soak.place import clock_library, small_disk
from tests.support.soak.report import Happened, Report
from tests.support.soak.texts import NAMESPACES, TENANTS
from tests.support.soak.world import World
from tests.support.supervised_stack import SupervisedStack, discard

LOG = logging.getLogger("soak")
AGENTS_A_TENANT = 2
PAUSE_SECONDS = 0.4
GAP_SECONDS = 22.0
START_SECONDS = 600.0
WARM_UP_SHARE, FAULTS_SHARE = 0.1, 0.6
"""Of the time; what remains is quiet."""
WARM_AFTER, COLD_AFTER = timedelta(seconds=20), timedelta(seconds=40)


def main() -> None:
    """Run as the arguments say; the exit code says whether all was sound."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="decides which faults come when")
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="for the report and the history")
    parser.add_argument("--clock-library", default="", help="libfaketime, where it is not in its usual place")
    parser.add_argument("--only", default="", help="only faults whose names hold this text")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    arguments.out.mkdir(parents=True, exist_ok=True)
    LOG.info("seed %d", arguments.seed)
    report = soak(arguments.minutes, arguments.seed, arguments.out, arguments.clock_library, arguments.only)
    (arguments.out / "report.md").write_text(report.as_markdown(), encoding="utf-8")
    sys.stdout.write(f"{report.as_markdown()}\n{json.dumps(report.as_json())}\n")
    sys.exit(0 if report.sound else 1)


def soak(minutes: float, seed: int, out: Path, library: str, only: str) -> Report:
    """Run a stack under load and faults; leave its history in a folder, and its logs where something was wrong."""
    with ExitStack() as cleanup:
        disk, is_small = cleanup.enter_context(small_disk())
        library = clock_library(library)
        links = Links(disk / "data")
        cleanup.callback(links.stop)
        clocks = disk.parent / "clocks"
        clocks.mkdir()
        set_clocks(clocks, SERVICES, 0)
        arguments = ["-m", "tests.support.soak.linked_stack", "--links", json.dumps(links.ports)]
        arguments += ["--clocks", str(clocks), "--clock-library", library]
        stack = SupervisedStack(disk / "data", arguments, wait_seconds=START_SECONDS)
        cleanup.callback(discard, disk / "data")
        cleanup.callback(stack.stop)
        stack.start()
        left_out = [] if is_small else ["a full disk (no small file system could be mounted)"]
        left_out += [] if library else ["clock jumps (libfaketime is not installed)"]
        faults = schedule(seed, minutes * 60 * FAULTS_SHARE, GAP_SECONDS, clocks=bool(library), disk=is_small)
        run = Run(stack, seed, cleanup)
        cleanup.callback(run.history.write, out / "history.jsonl")
        happened = run.under(
            [fault for fault in faults if only in str(fault)], minutes * 60, Injector(stack, links, clocks)
        )
        report = run.report(seed, minutes, left_out, happened)
        if not report.sound:
            (out / "logs").mkdir(exist_ok=True)
            for log in stack.folder.logs.iterdir():
                (out / "logs" / log.name).write_bytes(log.read_bytes())
        return report


class Run:
    """The clients of one run, what they know, and what is measured."""

    def __init__(self, stack: SupervisedStack, seed: int, cleanup: ExitStack) -> None:
        self._stack = stack
        self.history = History()
        self._worlds = {tenant: World(tenant) for tenant in TENANTS}
        endpoints = stack.endpoints()
        assert endpoints.gateway is not None
        assert endpoints.operator_key is not None
        operator = cleanup.enter_context(Client.connect(endpoints.gateway, endpoints.operator_key))
        keys = {tenant: operator.create_tenant(f"soak-{tenant}").secret for tenant in TENANTS}
        self._clients = {
            tenant: cleanup.enter_context(Client.connect(endpoints.gateway, key)) for tenant, key in keys.items()
        }
        for client in self._clients.values():
            for namespace in NAMESPACES:
                client.create_namespace(namespace)
                client.update_namespace_policy(namespace=namespace, warm_after=WARM_AFTER, cold_after=COLD_AFTER)
        self._agents = [
            Agent(
                cleanup.enter_context(Client.connect(endpoints.gateway, keys[tenant])),
                self._worlds[tenant],
                self._worlds["b" if tenant == "a" else "a"],
                self.history,
                f"{tenant}{number}",
                seed,
            )
            for tenant in TENANTS
            for number in range(AGENTS_A_TENANT)
        ]
        self._probe = Probe(self._clients["a"], self.history)
        self._memory = MemoryUse(stack, self.history)
        self._quiet = (0.0, 0.0)
        self._normal = 0.0

    def under(self, faults: Sequence[Fault], seconds: float, injector: Injector) -> list[Happened]:
        """Put the stack under load, with faults after the warm-up; return what came of each."""
        stopped = threading.Event()
        runs: list[Callable[[], None]] = [partial(agent.run, stopped, PAUSE_SECONDS) for agent in self._agents]
        runs += [partial(self._probe.run, stopped), partial(self._memory.run, stopped)]
        threads = [threading.Thread(target=run, daemon=True) for run in runs]
        began = self.history.now()
        for thread in threads:
            thread.start()
        warm_up = seconds * WARM_UP_SHARE
        time.sleep(warm_up)
        self._normal = self._probe.p95(began + warm_up / 2, began + warm_up)
        LOG.info("recall p95 before the first fault: %.0f ms", self._normal * 1000)
        times = []
        for fault in faults:
            time.sleep(max(began + warm_up + fault.at - self.history.now(), 0))
            begun = self.history.now()
            injector.inject(fault)
            times.append((fault, begun, self.history.now()))
            LOG.info("%s", fault)
        quiet_from = self.history.now() + GAP_SECONDS
        time.sleep(max(began + seconds - self.history.now(), GAP_SECONDS))
        stopped.set()
        for thread in threads:
            thread.join()
        self._quiet = quiet_from, self.history.now()
        return [
            Happened(fault, begun, ended, self._probe.back_to_normal(ended, self._normal))
            for fault, begun, ended in times
        ]

    def report(self, seed: int, minutes: float, left_out: Sequence[str], happened: Sequence[Happened]) -> Report:
        """Take the last look, check the history, and say what there is to say."""
        LOG.info("the last look")
        first = {tenant: next(one for one in self._agents if one.tenant == tenant) for tenant in TENANTS}
        look = last_look(self._stack, self._clients, self._worlds, first)
        LOG.info("checking %d operations", len(self.history.operations))
        return Report(
            seed=seed,
            minutes=minutes,
            left_out=left_out,
            happened=happened,
            violations=check(self.history.operations),
            wrong=look.wrong,
            calls=sum((world.calls for world in self._worlds.values()), Counter()),
            errors=sum((world.errors for world in self._worlds.values()), Counter()),
            counts=look.counts,
            normal_p95_seconds=self._normal,
            quiet_p95_seconds=self._probe.p95(*self._quiet),
            growth=self._memory.growth(*self._quiet),
        )


if __name__ == "__main__":
    main()
