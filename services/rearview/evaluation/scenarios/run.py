"""Playing scenarios, one line each."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rearview.domain.errors import RearviewError
from rearview.evaluation.scenarios.answer import Answer, of_error
from rearview.evaluation.scenarios.expectations import broken
from rearview.evaluation.scenarios.files import ScenarioFile
from rearview.evaluation.scenarios.stage import Stage, Theatre
from rearview.evaluation.scenarios.steps import carry_out


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario went: empty `broken` means well."""

    file: ScenarioFile
    broken: tuple[str, ...]
    seconds: float


OnOutcome = Callable[[Outcome], None]


def play_all(theatre: Theatre, files: Sequence[ScenarioFile], seed: int, on_outcome: OnOutcome) -> list[Outcome]:
    """Play scenarios in an order that the seed decides; no scenario may depend on another."""
    shuffled = list(files)
    random.Random(seed).shuffle(shuffled)
    outcomes = []
    for file in shuffled:
        outcomes.append(play(theatre, file))
        on_outcome(outcomes[-1])
    return outcomes


def play(theatre: Theatre, file: ScenarioFile) -> Outcome:
    """Play one scenario to its end, or to the first step that goes otherwise than expected."""
    started = time.perf_counter()
    found: list[str] = []
    with Stage(theatre, file.scenario) as stage:
        for number, step in enumerate(file.scenario.steps, start=1):
            answer = _answer(stage, number)
            found = [f"step {number} ({step.action}): {what}" for what in broken(step.expect, answer)]
            if found:
                break
    return Outcome(file, tuple(found), time.perf_counter() - started)


def _answer(stage: Stage, number: int) -> Answer:
    try:
        return carry_out(stage.scenario.steps[number - 1], stage)
    except RearviewError as error:
        return of_error(error)
