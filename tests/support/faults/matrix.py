"""Every fault point against every invariant."""

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from rearview.lifecycle.fault_points import FAULT_POINTS
from tests.support.faults.bench import FaultBench
from tests.support.faults.invariants import (
    FORGOTTEN,
    INVARIANTS,
    Problems,
    audit_verifies,
    erased,
    no_orphans,
    objects_of,
    readable,
)
from tests.support.faults.kill_server import SEAL, Work
from tests.support.faults.scenarios import SCENARIOS, Jobs, receipts, sweep_of
from tests.support.faults.world import MINUTES, World, new_world

REACHED = "reached"
MOST_ACTIONS = 6

TWO_SWEEPERS, BOTH_LIVE, ONE_DIES = "two_sweepers", "both-live", "one-dies"
"""Two of them on one namespace, whose clocks differ by `SKEW` and who lose their leases to each other."""
SKEW = timedelta(minutes=5)


def rows() -> list[tuple[str, str]]:
    """Return every kind of work with every point of it."""
    killed = [(kind, point) for kind, points in FAULT_POINTS.items() for point in points]
    return [*killed, (TWO_SWEEPERS, BOTH_LIVE), (TWO_SWEEPERS, ONE_DIES)]


@dataclass(slots=True)
class Matrix:
    """How often each invariant was found to hold, and not to, at each point."""

    runs: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    broken: dict[tuple[str, str], dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    failures: list[str] = field(default_factory=list)

    def note(self, kind: str, point: str, seed: int, problems: Problems) -> None:
        """Add what a run has found."""
        self.runs[kind, point] += 1
        for invariant in {invariant for invariant, _ in problems}:
            self.broken[kind, point][invariant] += 1
        replay = f"REARVIEW_FAULT_SEED={seed} REARVIEW_FAULT_ONLY={kind}/{point} make faults FAULT_RUNS=1"
        self.failures += [f"{kind}/{point}, {invariant}: {what}\n  replay: {replay}" for invariant, what in problems]

    def __str__(self) -> str:
        columns = (REACHED, *INVARIANTS)
        lines = [f"{'killed at':<42}{'runs':>5}  " + "  ".join(columns)]
        for row in self.runs:
            broken = self.broken.get(row, {})
            unseen = broken.get(REACHED, 0) == self.runs[row]  # then nothing else was looked at
            cells = [
                (f"{broken[name]} NOT" if broken.get(name) else "-" if unseen else "ok").ljust(len(name))
                for name in columns
            ]
            lines.append(f"{'/'.join(row):<42}{self.runs[row]:>5}  " + "  ".join(cells))
        points = {point for kind, point in self.runs if kind in FAULT_POINTS}
        return "\n".join([*lines, f"{len(self.runs)} rows, {len(points)} points, {sum(self.runs.values())} runs"])


async def fill_matrix(
    bench: FaultBench, chosen: Sequence[tuple[str, str]], runs: int, seed: int, on_run: Callable[[str], None]
) -> Matrix:
    """Kill at each of these points so often; run `n` of a point has the seed `seed + n`. `on_run` is told of each."""
    matrix = Matrix()
    for number in range(runs):
        for kind, point in chosen:
            try:
                problems = await kill_at(bench, kind, point, seed + number)
            except Exception:  # noqa: BLE001 -- the rest of the matrix is still wanted
                problems = [(REACHED, traceback.format_exc())]
            on_run(f"{kind}/{point} {seed + number}: {problems or 'ok'}")
            matrix.note(kind, point, seed + number, problems)
    return matrix


async def kill_at(bench: FaultBench, kind: str, point: str, seed: int) -> Problems:
    """Kill one work at one point while its tenant goes on, and return what does not hold right after it, and after
    the work was done again."""
    scenario, name = (
        SCENARIOS["sweep" if kind == TWO_SWEEPERS else kind],
        f"{kind}-{point}-{seed}".replace(".", "-").replace("_", "-"),
    )
    world = await new_world(bench, name)
    jobs = await scenario.prepare(world, point)
    stays = scenario.ends_in == "everything"
    busy = world if stays else await new_world(bench, f"{name}-beside")
    if not stays:
        await busy.write(3)
    nth = world.chance.randint(1, scenario.times.get(point, 1))
    deadly, now = {"REARVIEW_FAULT_POINT": f"{point}:{nth}"}, bench.clock.now()
    works, expected = [Work(jobs, now.isoformat(), deadly)], ["killed"]
    if kind == TWO_SWEEPERS:
        works, expected = _two_sweepers(world, jobs, now, dies=point == ONE_DIES)
    dying = asyncio.create_task(bench.killer.run(*works))
    problems: Problems = []
    for _ in range(MOST_ACTIONS):
        if dying.done():
            break
        wrong = await busy.act()
        problems += [(FORGOTTEN, wrong)] if wrong else []
        if kind == TWO_SWEEPERS:
            await let_leases_expire(world)
    ends = await dying
    world.reserved.clear()
    if ends != expected:
        return [(REACHED, f"{point}: {ends} instead of {expected}")]
    problems += await readable(busy)
    await let_leases_expire(world)
    await do_again(world, jobs)
    if stays:
        await settle(world)
        problems += await readable(world) + await no_orphans(world)
    else:
        await settle(busy)
        problems += await readable(busy) + await no_orphans(busy)
        problems += [(FORGOTTEN, f"an object is left: {key}") for key in objects_of(world)]
    await seal_all(bench)
    for each in {id(world): world, id(busy): busy}.values():
        if each is busy or scenario.ends_in == "no namespace":
            problems += await audit_verifies(each)
        problems += await erased(each)
    return problems


def _two_sweepers(world: World, jobs: Jobs, now: datetime, *, dies: bool) -> tuple[list[Work], list[str]]:
    # Each of its three passes begins with the lease, whoever moves what is to be moved.
    deadly = {"REARVIEW_FAULT_POINT": f"sweep.leased:{world.chance.randint(1, 3)}" if dies else ""}
    early, late = (now - SKEW / 2).isoformat(), (now + SKEW / 2).isoformat()
    return [Work([*jobs] * 3, early, deadly), Work([*jobs] * 3, late, {})], ["killed" if dies else "", ""]


async def do_again(world: World, jobs: Jobs) -> None:
    """Do the work to its end, as a retried job does."""
    for task, arguments in jobs:
        if task == SEAL:
            await world.bench.sealing.sealer.seal()
        else:
            await world.bench.work[task](arguments)


async def settle(world: World) -> None:
    """Purge what was forgotten meanwhile, and let the next sweep pass."""
    await world.writing.run_jobs()
    await do_again(world, await receipts(world))
    task, arguments = sweep_of(world)
    await world.bench.work[task](arguments)
    # What the sweep let expire is purged in turn, its segments rewritten.
    await do_again(world, await receipts(world))


async def seal_all(bench: FaultBench) -> None:
    """Let what was recorded grow old enough, and seal it."""
    bench.clock.moment += MINUTES
    await bench.sealing.sealer.seal()


async def let_leases_expire(world: World) -> None:
    """Let whoever held a lease of the tenant be silent for longer than it lasts."""
    await world.writing.rows(
        "UPDATE lifecycle_lease SET expires_at = now() - interval '1 second' WHERE tenant_id = %s",
        world.scope.tenant_id,
    )
