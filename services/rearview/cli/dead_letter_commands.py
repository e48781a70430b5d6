"""`rearview dead-letters ...`: work that failed for good."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.memory_texts import as_dict
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json
from rearview.cli.times import shown

commands = typer.Typer(
    name="dead-letters", help="List jobs that failed for good, and run them again.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(commands)


@commands.command("list")
def list_letters(gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the tenant's jobs that failed for good, newest first, and why they did.

    Example:

      rearview dead-letters list
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = list(client.list_dead_letters())
    if as_json:
        print_json({"dead_letters": [as_dict(one) for one in found]})
        return
    table = Table("dead letter", "task", "concerns", "tries", "failed", "why", box=None)
    for letter in found:
        table.add_row(
            letter.name,
            letter.task,
            letter.resource_name,
            str(letter.attempts),
            shown(letter.fail_time),
            letter.error,
        )
    out.print(table)


@commands.command()
def replay(
    dead_letters: Annotated[
        list[str] | None, typer.Argument(help="As `rearview dead-letters list` shows them; none with --all.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that there are now.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run jobs again, once their cause is mended.

    Example:

      rearview dead-letters replay --all
    """
    if bool(dead_letters) == everything:
        raise typer.BadParameter("name the dead letters, or give --all")
    with connected(gateway, data_dir, as_json=as_json) as client:
        names = dead_letters or [letter.name for letter in client.list_dead_letters()]
        replayed = [client.replay_dead_letter(name).name for name in names]
    if as_json:
        print_json({"replayed": replayed})
    else:
        err.print(f"{len(replayed)} put back into the queue.")
