"""Holds recorded histories against a sequential memory, and finds the shortest that no such memory could have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.support.soak.history import Action, Effect, Operation
from tests.support.soak.linearizability import FOREVER, Step, in_order


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with which object (`tenant/namespace/name`), and the fewest operations that show it."""

    kind: str
    thing: str
    history: tuple[Operation, ...]

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.thing}"]
        for operation in self.history:
            told = ", ".join(f"{effect.action} v{effect.version}" for effect in of_thing(operation, self.thing))
            lines.append(f"  {operation}  {told or 'may reach ' + ', '.join(operation.reach)}")
        return "\n".join(lines)


def check(operations: Sequence[Operation]) -> list[Violation]:
    """Return what is wrong with the history, at most one violation of an object, the shortest first."""
    by_thing: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        for thing in {effect.thing for effect in operation.effects}:
            by_thing[thing].append(operation)
    found = [violation for thing, own in by_thing.items() if (violation := _violation_of(thing, own)) is not None]
    return sorted(found, key=lambda violation: (len(violation.history), violation.history[-1].begun))


def of_thing(operation: Operation, thing: str) -> list[Effect]:
    """Return what an operation did to an object, or saw of it."""
    return [effect for effect in operation.effects if effect.thing == thing]


def _violation_of(thing: str, operations: Sequence[Operation]) -> Violation | None:
    place = thing.rpartition("/")[0]
    for operation in operations:
        seen = [effect for effect in of_thing(operation, thing) if effect.action is Action.SEE]
        if seen and place not in operation.reach:
            return Violation("seen where it does not belong", thing, (*_writers(thing, operations), operation))
        if len(seen) > 1:
            versions = {effect.version for effect in seen}
            kind = "two active values" if len(versions) > 1 else "duplicated"
            return Violation(kind, thing, (*_writers(thing, operations, versions), operation))
    if in_order(steps_of(thing, operations)):
        return None
    history = shortest(operations, lambda kept, hidden: not in_order(steps_of(thing, kept, hidden)))
    return Violation(_kind(thing, history), thing, history)


def steps_of(thing: str, shown: Sequence[Operation], hidden: Sequence[Operation] = ()) -> list[Step]:
    """Return an object's steps. Of what is hidden reads are left out, and writes are taken as having happened at any
    time or never: so no history can become wrong by hiding some of it."""
    steps = [
        Step(
            operation.begun,
            FOREVER if operation.ended is None else operation.ended,
            effect.action,
            effect.version,
            certain=operation.ended is not None,
        )
        for operation in shown
        for effect in of_thing(operation, thing)
    ]
    return steps + [
        Step(-FOREVER, FOREVER, effect.action, effect.version, certain=False)
        for operation in hidden
        for effect in of_thing(operation, thing)
        if not effect.action.reads
    ]


Wrong = Callable[[Sequence[Operation], Sequence[Operation]], bool]
"""Whether what is shown is impossible, whatever became of what is hidden."""


def shortest(operations: Sequence[Operation], wrong: Wrong) -> tuple[Operation, ...]:
    """Return operations that are wrong of which none can be hidden (delta debugging, by ever smaller pieces)."""
    shown, hidden = sorted(operations, key=lambda operation: operation.begun), list[Operation]()
    size = max(len(shown) // 2, 1)
    while True:
        at, before = 0, len(shown)
        while at < len(shown):
            kept, piece = shown[:at] + shown[at + size :], shown[at : at + size]
            if wrong(kept, hidden + piece):
                shown, hidden = kept, hidden + piece
            else:
                at += size
        if size > 1:
            size //= 2
        elif len(shown) == before:
            return tuple(shown)


def _writers(thing: str, operations: Sequence[Operation], versions: set[int] | None = None) -> list[Operation]:
    """Return the operations that gave an object these versions, or its first one."""
    writers = [
        (operation, effect.version)
        for operation in operations
        for effect in of_thing(operation, thing)
        if not effect.action.reads and effect.action is not Action.FORGET
    ]
    return [operation for operation, version in writers if versions is None or version in versions][
        : len(versions or "1")
    ]


def _kind(thing: str, history: Sequence[Operation]) -> str:
    actions = Counter(effect.action for operation in history for effect in of_thing(operation, thing))
    if actions[Action.FORGET] and (actions[Action.SEE] or actions[Action.UPDATE]):
        return "came back after it was forgotten"
    if actions[Action.MISS]:
        return "lost"
    if sum(actions.values()) == 1:
        return "seen, but nobody wrote it"
    return "an old value"
