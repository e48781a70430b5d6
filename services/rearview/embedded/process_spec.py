"""What the supervisor starts: processes that stay, and tasks that run once, in the order of their dependencies."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rearview.embedded.errors import StackError

ReadyCheck = Callable[[], Awaitable[None]]
"""Returns when the server answers; raises `NotReady` with the reason when it does not yet."""


@dataclass(frozen=True, slots=True)
class Account:
    """The system account a process runs under instead of the supervisor's."""

    name: str
    user_id: int
    group_id: int


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process that stays while the stack is up.

    `before_start` runs (in a worker thread) before each start, first or not, `after_end` after each end.
    `orphan_signal` is what the kernel sends it when the supervisor dies without a word. `environment` is complete:
    nothing is inherited. `niceness` is added to the supervisor's.
    """

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    ready: ReadyCheck
    depends_on: Sequence[str] = ()
    ready_timeout_seconds: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_seconds: float = 30.0
    orphan_signal: signal.Signals = signal.SIGTERM
    working_folder: Path | None = None
    account: Account | None = None
    niceness: int = 0
    before_start: Callable[[], None] | None = None
    after_end: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Something to be done once at each start of the stack (in a worker thread), before its dependants start."""

    name: str
    run: Callable[[], None]
    depends_on: Sequence[str] = ()


Spec = ProcessSpec | TaskSpec


def start_order(specs: Sequence[Spec]) -> list[list[Spec]]:
    """Return the specs in levels: each depends only on earlier levels, in the given order within a level.

    Raises:
        StackError: a name occurs twice, a dependency is unknown, or dependencies form a circle.
    """
    names = [spec.name for spec in specs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise StackError(f"these names stand for two things: {', '.join(twice)}")
    for spec in specs:
        unknown = [name for name in spec.depends_on if name not in names]
        if unknown:
            raise StackError(f"{spec.name} depends on unknown {', '.join(unknown)}")
    levels: list[list[Spec]] = []
    placed: set[str] = set()
    waiting = list(specs)
    while waiting:
        level = [spec for spec in waiting if placed.issuperset(spec.depends_on)]
        if not level:
            raise StackError(f"dependencies form a circle: {', '.join(spec.name for spec in waiting)}")
        levels.append(level)
        placed.update(spec.name for spec in level)
        waiting = [spec for spec in waiting if spec.name not in placed]
    return levels
