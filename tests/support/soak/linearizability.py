"""Whether one object's steps can be put into an order that a sequential memory would allow.

Each step takes effect at one moment between its begin and its end (Herlihy and Wing), so what ended before another
began comes first. The search is that of Wing and Gong with Lowe's memory of what was tried; steps that only read are
taken as soon as they fit, since they change nothing. Objects are independent of each other: a history is in order when
that of each object is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.support.soak.history import Action

State: TypeAlias = int | None
"""The version that is there; None before the first one, GONE after it was forgotten."""
GONE = -1
FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Step:
    """What an operation did to the object. What is not `certain` may have happened or not."""

    begun: float
    ended: float
    action: Action
    version: int
    certain: bool = True


def after(state: State, step: Step) -> tuple[bool, State]:
    """Return whether a sequential memory allows the step, and its state afterwards."""
    present = state is not None and state != GONE
    match step.action:
        case Action.CREATE:
            return state is None, step.version
        case Action.UPDATE:
            return present, step.version
        case Action.SET:
            return state != GONE, step.version
        case Action.FORGET:
            return state is not None, GONE
        case Action.SEE:
            return state == step.version, state
        case Action.MISS:
            return not present, state


def in_order(steps: Sequence[Step]) -> bool:
    """True if there is such an order."""
    ordered = sorted(steps, key=lambda step: step.begun)
    by_end = sorted((at for at, step in enumerate(ordered) if step.certain), key=lambda at: ordered[at].ended)
    tried: set[tuple[int, State]] = set()
    to_try: list[tuple[int, State]] = [(0, None)]
    while to_try:
        done, state = to_try.pop()
        done, open_steps = _with_fitting_reads(ordered, by_end, done, state)
        if open_steps is None:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        for at in open_steps:
            allowed, then = after(state, ordered[at])
            if allowed and not ordered[at].action.reads:
                to_try.append((done | 1 << at, then))
    return False


def _with_fitting_reads(
    ordered: Sequence[Step], by_end: Sequence[int], done: int, state: State
) -> tuple[int, list[int] | None]:
    """Take every read that may come now and fits; return what is done, and which steps may come next: None when no
    certain one is left."""
    next_end, next_begin = 0, 0
    waiting: list[int] = []
    while True:
        while next_end < len(by_end) and done >> by_end[next_end] & 1:
            next_end += 1
        if next_end == len(by_end):
            return done, None
        first_end = ordered[by_end[next_end]].ended
        while next_begin < len(ordered) and ordered[next_begin].begun <= first_end:
            if not done >> next_begin & 1:
                waiting.append(next_begin)
            next_begin += 1
        fitting = [at for at in waiting if ordered[at].action.reads and after(state, ordered[at])[0]]
        if not fitting:
            return done, waiting
        for at in fitting:
            done |= 1 << at
        waiting = [at for at in waiting if not done >> at & 1]
