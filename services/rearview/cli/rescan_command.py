"""`rearview rescan`: rewriting what is stored by the redaction policy of today."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.output import DataDirOption, JsonOption, err, print_figures

if TYPE_CHECKING:
    from rearview.client import Client
    from rearview.v1 import lifecycle_pb2

_LOOK_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(rescan)


def rescan(
    operation: Annotated[
        str, typer.Argument(help="Show this one, as begun before or by a change of the policy; else begin one.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be rewritten; change nothing.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Print the operation and return.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rewrite everything stored of the tenant, cold memories included, as its redaction policy would have stored it.

    Ends with a receipt once a pass over every place has found nothing more.

    Example:

      rearview rescan --dry-run --json
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = client.get_operation(operation) if operation else client.rescan_redactions(dry_run=dry_run)
        if not no_wait:
            found = _waited_for(client, found)
    figures: dict[str, object] = {
        "operation": found.name,
        "done": found.done,
        "completed": found.completed,
        "total": found.total,
        **found.counts,
    }
    if found.HasField("rescan_receipt"):
        receipt = found.rescan_receipt
        figures |= {"verified": receipt.verify_time.ToJsonString(), "digest": receipt.digest}
    if found.error:
        figures["error"] = found.error
    print_figures(figures, as_json)
    if found.error:
        raise typer.Exit(1)


def _waited_for(client: Client, operation: lifecycle_pb2.Operation) -> lifecycle_pb2.Operation:
    columns = TextColumn("Rescanning"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("rescan", total=None)
        while not operation.done:
            time.sleep(_LOOK_SECONDS)
            operation = client.get_operation(operation.name)
            progress.update(bar, completed=operation.completed, total=operation.total or None)
    return operation
