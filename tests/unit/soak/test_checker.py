"""The soak's checker: catches each planted fault with the fewest operations that show it, and nothing that is legal."""

from __future__ import annotations

import random
from itertools import combinations, count, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.soak.checker import check, steps_of
from tests.support.soak.history import Action, Effect, Operation
from tests.support.soak.linearizability import FOREVER, State, Step, after, in_order

PLACE, OTHER = "a/work", "b/work"
NOTE, VALUE = f"{PLACE}/note", f"{PLACE}/=budget"
_numbers = count(1)


def op(begun: float, ended: float | None, *effects: Effect, reach: str = PLACE) -> Operation:
    return Operation(next(_numbers), "c", "Method", (reach,), begun, ended, effects)


def did(action: Action, version: int = 0, thing: str = NOTE) -> Effect:
    return Effect(thing, action, version)


CREATED = op(0, 1, did(Action.CREATE))
FORGOTTEN = op(10, 11, did(Action.FORGET))
NOISE = (
    op(1.5, 1.7, did(Action.SEE)),
    op(1.6, 2.1, did(Action.SEE), did(Action.SEE, thing=f"{PLACE}/other")),
    op(1.9, 2.5, did(Action.SEE)),
    op(0.1, 0.2, did(Action.CREATE, thing=f"{PLACE}/other")),
)


def seen(begun: float, version: int = 0, thing: str = NOTE) -> Operation:
    return op(begun, begun + 1, did(Action.SEE, version, thing))


def missed(begun: float) -> Operation:
    return op(begun, begun + 1, did(Action.MISS))


PLANTED = {
    "lost": ((CREATED, *NOISE, missed(5), missed(6)), "lost", 2),
    "lost at its creation": ((CREATED, missed(1.2)), "lost", 2),
    "forgotten comes back": (
        (CREATED, *NOISE, FORGOTTEN, missed(11.5), seen(13)),
        "came back after it was forgotten",
        2,
    ),
    "updated after it was forgotten": (
        (CREATED, *NOISE, FORGOTTEN, op(12, 13, did(Action.UPDATE, 1))),
        "came back after it was forgotten",
        2,
    ),
    "its own write is not read": ((CREATED, *NOISE, op(3, 4, did(Action.UPDATE, 1)), seen(5)), "an old value", 2),
    "goes back to an old value": (
        (CREATED, op(3, None, did(Action.UPDATE, 1)), seen(4, 1), seen(6, 0), seen(8, 0)),
        "an old value",
        2,
    ),
    "a refused write is seen": ((CREATED, *NOISE, seen(5, 7)), "seen, but nobody wrote it", 1),
    "seen before it was written": ((op(5, 6, did(Action.CREATE)), seen(1)), "an old value", 2),
    "an old value wins": (
        (op(0, 1, did(Action.SET, 1, VALUE)), op(2, 3, did(Action.SET, 2, VALUE)), seen(4, 1, VALUE)),
        "an old value",
        3,
    ),
    "two active values": (
        (
            op(0, 1, did(Action.SET, 1, VALUE)),
            op(2, 3, did(Action.SET, 2, VALUE)),
            op(4, 5, did(Action.SET, 3, VALUE)),
            op(6, 7, did(Action.SEE, 2, VALUE), did(Action.SEE, 3, VALUE)),
        ),
        "two active values",
        3,
    ),
    "stored twice": (
        (op(0, None, did(Action.CREATE)), *NOISE, op(4, 5, did(Action.SEE), did(Action.SEE))),
        "duplicated",
        2,
    ),
    "another tenant sees it": (
        (CREATED, *NOISE, op(4, 5, did(Action.SEE), reach=OTHER)),
        "seen where it does not belong",
        2,
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found_and_told_in_the_fewest_operations(name: str) -> None:
    operations, kind, size = PLANTED[name]
    (violation,) = check(operations)
    assert (violation.kind, len(violation.history)) == (kind, size), str(violation)
    assert all(f"#{operation.number}" in str(violation) for operation in violation.history)


def test_what_is_told_is_wrong_and_no_part_of_it_is() -> None:
    for operations, _, _ in PLANTED.values():
        (violation,) = check(operations)
        if violation.kind in ("two active values", "duplicated", "seen where it does not belong"):
            continue
        for kept in combinations(violation.history, len(violation.history) - 1):
            rest = [operation for operation in operations if operation not in kept]
            assert in_order(steps_of(violation.thing, kept, rest))


LEGAL = {
    "a write that nobody answered shows late": (
        op(0, None, did(Action.CREATE)),
        missed(1),
        missed(3),
        seen(5),
        seen(7),
    ),
    "a write that nobody answered never happens": (CREATED, op(3, None, did(Action.UPDATE, 1)), seen(5), seen(50)),
    "reads beside a write see either": (
        CREATED,
        op(2, 9, did(Action.UPDATE, 1)),
        seen(3, 0),
        op(3, 8, did(Action.SEE, 1)),
    ),
    "a forget beside a read": (CREATED, FORGOTTEN, op(10.5, 12, did(Action.SEE)), missed(12.5)),
    "forgotten twice": (CREATED, FORGOTTEN, op(12, 13, did(Action.FORGET)), missed(14)),
    "a forget that nobody answered": (CREATED, op(3, None, did(Action.FORGET)), seen(4), missed(6), missed(8)),
    "writes side by side, in either order": (
        op(0, 5, did(Action.SET, 1, VALUE)),
        op(1, 6, did(Action.SET, 2, VALUE)),
        seen(7, 1, VALUE),
        seen(9, 1, VALUE),
    ),
    "each tenant reads its own": (
        CREATED,
        op(0, 1, did(Action.CREATE, 0, f"{OTHER}/note"), reach=OTHER),
        seen(4),
        op(4, 5, did(Action.SEE, 0, f"{OTHER}/note"), reach=OTHER),
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_gives_no_alarm(name: str) -> None:
    assert check(LEGAL[name]) == []


@pytest.mark.parametrize("seed", range(20))
def test_histories_of_an_atomic_memory_give_no_alarm(seed: int) -> None:
    """Operations overlap at random, each takes effect at one moment, and some answers are lost."""
    chance = random.Random(seed)
    state: State = None
    operations, version = [], 0
    for moment in range(300):
        action = chance.choice((Action.UPDATE, Action.SEE, Action.SEE, Action.SEE, Action.FORGET))
        if state is None:
            action = Action.CREATE
        elif state < 0:
            action = Action.MISS
        elif action is Action.FORGET and moment < 250:
            action = Action.SEE
        if action is Action.UPDATE:
            version += 1
        happens = action.reads or chance.random() > 0.1
        answered = action.reads or (happens and chance.random() > 0.2)
        step = Step(0, 0, action, state if action is Action.SEE and state else version if not action.reads else 0)
        if happens:
            allowed, state = after(state, step)
            assert allowed
        begun, ended = moment - 4 * chance.random(), moment + 4 * chance.random()
        operations.append(op(begun, ended if answered else None, did(action, step.version)))
    assert check(operations) == []


_times = st.integers(0, 6)
_steps = st.builds(
    lambda begun, length, action, version, certain: Step(
        begun, begun + length if certain else FOREVER, action, version, certain or action.reads
    ),
    _times,
    _times,
    st.sampled_from(Action),
    st.integers(0, 2),
    st.booleans(),
)


@given(st.lists(_steps, max_size=5))
def test_the_search_agrees_with_trying_every_order(steps: list[Step]) -> None:
    assert in_order(steps) == _in_some_order(steps)


def _in_some_order(steps: list[Step]) -> bool:
    certain = [step for step in steps if step.certain]
    doubtful = [step for step in steps if not step.certain]
    for size in range(len(doubtful) + 1):
        for some in combinations(doubtful, size):
            for order in permutations([*certain, *some]):
                in_time = all(first.begun <= later.ended for at, first in enumerate(order) for later in order[at:])
                if in_time and _allowed(order):
                    return True
    return False


def _allowed(order: tuple[Step, ...]) -> bool:
    state: State = None
    for step in order:
        allowed, state = after(state, step)
        if not allowed:
            return False
    return True
