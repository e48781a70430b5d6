"""`rearview doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import os
from dataclasses import asdict

import typer
from rich.markup import escape
from rich.table import Table

from rearview.cli.output import DataDirOption, JsonOption, failures, out, print_json
from rearview.embedded.diagnosis import Diagnosis, Verdict
from rearview.embedded.paths import DataFolder

STYLES = {
    Verdict.OK: "green",
    Verdict.WARNING: "yellow",
    Verdict.FAILED: "bold red",
    Verdict.NOT_CHECKED: "dim",
}


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(doctor)


def doctor(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Check every part of the platform on this machine and say what to do for each that is not well.

    Checks Python, the packages, the server programs, disk, shared memory, ports and permissions; on a running stack
    also PostgreSQL, pgvector, the schema, Valkey, a put, get and delete on S3, and each service's health.
    Exit code 1 when something is broken; a stack that is down is not broken.
    """
    from rearview.embedded.stack_checks import diagnose
    from rearview.embedded.wiring import Wiring

    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        found = diagnose(folder, Wiring())
    broken = [one for one in found if one.verdict is Verdict.FAILED]
    if as_json:
        print_json({"ok": not broken, "data_dir": str(folder.root), "checks": [asdict(one) for one in found]})
    else:
        out.print(_table(found))
        out.print(f"[bold red]{len(broken)} broken[/]" if broken else "[green]Nothing is broken.[/]")
    if broken:
        raise typer.Exit(1)


def _table(found: list[Diagnosis]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("part", "", "found", "what to do"):
        table.add_column(heading, overflow="fold")
    for one in found:
        table.add_row(
            one.part,
            f"[{STYLES[one.verdict]}]{one.verdict.replace('_', ' ')}[/]",
            escape(one.finding),
            escape(one.remedy),
        )
    return table
