"""`rearview generations`: the models whose vectors memories are found by, and embedding memories with another one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_figures, print_json

if TYPE_CHECKING:
    from rearview.v1 import lifecycle_pb2

_LOOK_SECONDS = 0.5

generations = typer.Typer(help="Embedding models, and changing to another one.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(generations, name="generations")


@generations.command("list")
def list_generations(
    gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Show the model generations: which one new vectors are made with, and which one answers the tenant.

    Example:

      rearview generations list
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = client.list_model_generations().model_generations
    if as_json:
        print_json(
            {
                one.name: {
                    "model": one.model,
                    "dimension": one.dimension,
                    "current": one.current,
                    "answering": one.answering,
                    "units": one.unit_count,
                }
                for one in found
            }
        )
        return
    table = Table("generation", "model", "dimension", "new vectors", "answers", "units", box=None)
    for one in found:
        marks = ["yes" if mark else "" for mark in (one.current, one.answering)]
        table.add_row(one.name, one.model, str(one.dimension), *marks, f"{one.unit_count:,}")
    out.print(table)


@generations.command()
def start(
    model: Annotated[str, typer.Argument(help="As REARVIEW_NEXT_EMBEDDER or REARVIEW_EMBEDDER names it.")],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until that model answers.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Embed the tenant's memories with another model, which answers once it has them all.

    Example:

      rearview generations start use:universal-sentence-encoder-multilingual --wait
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        operation = client.start_reembedding(model)
        if wait:
            with err.status("Embedding ...") as shown:
                while not operation.done:
                    time.sleep(_LOOK_SECONDS)
                    operation = client.get_operation(operation.name)
                    shown.update(f"Embedding: {operation.completed:,} of {operation.total:,} units ...")
    _print(operation, as_json)


@generations.command()
def status(
    operation: Annotated[str, typer.Argument(help="What `start` printed.")],
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far embedding has come.

    Example:

      rearview generations status operations/0198c0de-0000-7000-8000-000000000000 --json
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = client.get_operation(operation)
    _print(found, as_json)


def _print(operation: lifecycle_pb2.Operation, as_json: bool) -> None:
    figures: dict[str, object] = {
        "operation": operation.name,
        "done": operation.done,
        "completed": operation.completed,
        "total": operation.total,
        **operation.counts,
    }
    if operation.error:
        figures["error"] = operation.error
    print_figures(figures, as_json)
    if operation.error:
        raise typer.Exit(1)
