"""`rearview demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rearview.cli.borrowed_stack import admin_client
from rearview.cli.output import DataDirOption, JsonOption, err, failures, out, print_json


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(demo)


def demo(
    locomo: Annotated[
        Path | None,
        typer.Option(
            help="A LoCoMo file: append its first conversation too, and ask some of its questions.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the main job on this machine, and check every claim.

    Appends a bilingual conversation of half a year, shows what was kept, dropped and redacted, recalls from it, and
    forgets a part of it. Uses the stack that runs in the data folder, or starts one for the time being. Exit code 0
    only if every claim held.
    """
    from rearview.evaluation.demo import run_demo
    from rearview.evaluation.locomo_demo import show_locomo

    console = err if as_json else out
    with failures(as_json), admin_client(data_dir) as client:
        claims = run_demo(client, console)
        if locomo is not None:
            show_locomo(client, locomo, claims)
    if as_json:
        print_json({"claims": claims.held + len(claims.broken), "held": claims.held, "broken": claims.broken})
    elif claims.broken:
        console.print(f"\n[bold red]{len(claims.broken)} of {claims.held + len(claims.broken)} claims did not hold.")
    else:
        console.print(f"\n[bold green]All {claims.held} claims were checked and hold.")
    if claims.broken:
        raise typer.Exit(1)
