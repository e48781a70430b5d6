"""`rearview eval scenarios`: the memory test set, one line each."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from rearview.cli.borrowed_stack import borrowed_stack, client_of, opener_of
from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_json

if TYPE_CHECKING:
    from rearview.evaluation.scenarios.files import ScenarioFile
    from rearview.evaluation.scenarios.run import Outcome


def register(evaluations: typer.Typer) -> None:
    """Add the command of this file."""
    evaluations.command("scenarios")(scenarios)


def scenarios(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="A folder of scenarios (YAML); the shipped ones unless given.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    only: Annotated[str, typer.Option(help="Play those whose name or subject contains this.")] = "",
    seed: Annotated[int | None, typer.Option(help="Order of play; a random one unless given.", min=0)] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play the memory test set through the public API: steps, and what must hold after each.

    Each scenario has a namespace of its own, so the order is free. One line each; what went otherwise than expected is
    said below its line. Exit code 1 when any failed. A file's words are explained in docs/scenarios.md.

    Examples:

      rearview eval scenarios

      rearview eval scenarios my-scenarios/ --only refund --json
    """
    from rearview.evaluation.scenarios.files import read_scenarios

    chosen_seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    with failures(as_json):
        files = [file for file in read_scenarios(folder) if _matches(file, only)]
        if not files:
            raise ValueError(f"no scenario's name or subject contains {only!r}")
        with borrowed_stack(data_dir) as endpoints_file:
            outcomes = _play(endpoints_file, files, chosen_seed)
    failed = sum(bool(outcome.broken) for outcome in outcomes)
    seconds = round(sum(outcome.seconds for outcome in outcomes), 1)
    err.print(f"{len(outcomes)} scenarios, {failed} failed, {seconds} s, --seed {chosen_seed}")
    if as_json:
        names = sorted(outcome.file.name for outcome in outcomes if outcome.broken)
        print_json(
            {"total": len(outcomes), "failed": failed, "failures": names, "seconds": seconds, "seed": chosen_seed}
        )
    if failed:
        raise typer.Exit(1)


def _play(endpoints_file: Path, files: list[ScenarioFile], seed: int) -> list[Outcome]:
    from rearview.evaluation.scenarios.run import play_all
    from rearview.evaluation.scenarios.stage import Theatre

    with client_of(endpoints_file, "admin") as admin, client_of(endpoints_file, "operator") as operator:
        return play_all(Theatre(admin, operator, opener_of(endpoints_file)), files, seed, _show)


def _show(outcome: Outcome) -> None:
    scenario = outcome.file.scenario
    mark = "[bold red]✗[/]" if outcome.broken else "[green]✓[/]"
    line = f"{outcome.file.name}  {scenario.title}"
    err.print(f"{mark} {outcome.seconds:5.1f} s  {escape(line)}", soft_wrap=True)
    for what in outcome.broken:
        err.print(f"          {escape(what)}", soft_wrap=True)


def _matches(file: ScenarioFile, only: str) -> bool:
    return not only or only in file.name or any(only in subject for subject in file.scenario.about)
