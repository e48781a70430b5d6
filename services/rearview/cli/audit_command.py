"""`rearview audit`: whether the audit log is what it was when it was sealed."""

from __future__ import annotations

import typer

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.output import DataDirOption, JsonOption, print_figures

_BROKEN = 2

audit = typer.Typer(help="The audit log: who did what to which resources.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(audit, name="audit")


@audit.command()
def verify(gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Compare every sealed audit record of a tenant with its seal. The exit code is 2 if one is not intact.

    Examples:

      rearview audit verify

      rearview audit verify --json
    """
    checked, start = 0, 1
    with connected(gateway, data_dir, as_json=as_json) as client:
        while True:
            found = client.verify_audit(start_sequence=start)
            checked, start = checked + found.checked_count, found.next_sequence
            if not start:
                break
    sealed_until = found.sealed_until_time.ToJsonString() if found.HasField("sealed_until_time") else None
    figures: dict[str, object] = {"intact": found.intact, "checked": checked, "sealed_until": sealed_until}
    if not found.intact:
        figures |= {"first_broken_sequence": found.first_broken_sequence, "problem": found.problem}
    print_figures(figures, as_json)
    if not found.intact:
        raise typer.Exit(_BROKEN)
