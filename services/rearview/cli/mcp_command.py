"""`rearview mcp`: memory for agents that speak the Model Context Protocol."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from rearview.cli.output import DataDirOption, err
from rearview.embedded.paths import DataFolder


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(mcp)


def mcp(
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdin and stdout."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Where calls go that name no namespace.", show_default="default")
    ] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Serve Rearview's memory to an agent's host over the Model Context Protocol.

    On stdin and stdout (the default) the adapter speaks for one agent, with the key of REARVIEW_API_KEY or of the data
    folder's endpoints.json. With --http it serves many: each caller sends its own API key as a bearer token.
    REARVIEW_GATEWAY names a gateway elsewhere; docs/mcp.md lists all variables.

    Examples:

      rearview mcp                          started by the agent's host

      rearview mcp --http 127.0.0.1:8808    for several agents, at http://127.0.0.1:8808/mcp
    """
    try:
        from rearview.mcp_adapter.__main__ import main
    except ModuleNotFoundError as error:
        err.print(f"[bold red]error:[/] {error.name} is missing; install rearview-memory\\[mcp]", soft_wrap=True)
        raise typer.Exit(1) from error
    overrides: dict[str, object] = {}
    if http is not None:
        overrides["mcp_listen"] = http
    if namespace is not None:
        overrides["namespace"] = namespace
    if data_dir is not None or "REARVIEW_ENDPOINTS_FILE" not in os.environ:
        overrides["endpoints_file"] = DataFolder.choose(data_dir, os.environ).endpoints_file
    raise typer.Exit(main(**overrides))
