"""`rearview up`, `down`, `status`: the one-machine stack."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Annotated

import typer
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from rearview.cli.console_log import STATE_STYLES, ConsoleLog
from rearview.cli.output import DataDirOption, JsonOption, err, failures, out, print_json
from rearview.cli.stack_figures import memory_bytes
from rearview.embedded.background import start_in_background, stop
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.folder_lock import holder
from rearview.embedded.paths import DataFolder
from rearview.embedded.stack_status import ProcessStatus, StackState, StackStatus, read_status

MIB = 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(up)
    app.command()(down)
    app.command()(status)


def up(
    data_dir: DataDirOption = None,
    foreground: Annotated[
        bool,
        typer.Option(
            "--foreground/--detach", help="Stay in the foreground and show all logs, or return once the stack is ready."
        ),
    ] = False,
    dependencies_only: Annotated[
        bool,
        typer.Option("--dependencies-only", help="PostgreSQL, Valkey and S3 without the services, to develop those."),
    ] = False,
    tenant: Annotated[str, typer.Option(help="Name of the first tenant, made at the first start.")] = "default",
    log_level: Annotated[str, typer.Option(help="Log level of the services: debug, info, warning, error.")] = "info",
    as_json: JsonOption = False,
) -> None:
    """Start the whole platform on this machine.

    Starts PostgreSQL, Valkey and an S3 server, brings the schema up to date, starts the four services and makes a
    first tenant with its keys. Nothing needs to be installed or configured beforehand, and nothing listens beyond
    127.0.0.1. Addresses and keys are written to endpoints.json in the data folder. What was stored is there again at
    the next start.

    Examples:

      rearview up                      start in the background, return when ready

      rearview up --foreground         stay, show all logs; Ctrl-C stops everything in order

      rearview up --data-dir ~/memory  keep the data elsewhere
    """
    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        if foreground:
            import asyncio

            from rearview.embedded.stack import Stack
            from rearview.embedded.wiring import Wiring

            wiring = Wiring.dependencies_only() if dependencies_only else replace(Wiring(), tenant_id=tenant)
            log = ConsoleLog(out)
            asyncio.run(Stack(folder, wiring, on_event=log.event, on_line=log.line, log_level=log_level).run())
            return
        arguments = ["-m", "rearview.cli", "up", "--foreground", "--data-dir", str(folder.root)]
        arguments += ["--tenant", tenant, "--log-level", log_level]
        if dependencies_only:
            arguments.append("--dependencies-only")
        with Live(console=err, transient=True, refresh_per_second=8) as live:
            started = start_in_background(folder, arguments, lambda state: live.update(_table(state.processes)))
        endpoints = Endpoints.read(folder.endpoints_file)
        if endpoints is None:
            raise StackError(f"{folder.endpoints_file} was not written; see {folder.logs}")
    if as_json:
        print_json({"state": "ready", "data_dir": str(folder.root), **asdict(endpoints)})
        return
    out.print(f"[bold green]Ready.[/] Supervisor: process {started.supervisor_pid}, data: {folder.root}")
    _print_endpoints(folder, endpoints)


def down(
    data_dir: DataDirOption = None,
    timeout_seconds: Annotated[
        float, typer.Option("--timeout-seconds", help="How long to wait for an orderly end.")
    ] = 180.0,
    as_json: JsonOption = False,
) -> None:
    """Stop the platform in order; the data stays.

    The gateway stops taking calls first, then the services finish what they have begun, then the databases flush and
    end. Stopping what is not running is not an error.
    """
    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        was_running = stop(folder, timeout_seconds)
    if as_json:
        print_json({"state": "down", "was_running": was_running, "data_dir": str(folder.root)})
    else:
        out.print("Stopped." if was_running else f"Nothing was running in {folder.root}.")


def status(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show what runs: each process with its state, pid, restarts and memory.

    Exit code 0 when everything is ready, 1 otherwise. For a diagnosis of what is wrong use `rearview doctor`.
    """
    folder = DataFolder.choose(data_dir, os.environ)
    held = holder(folder.lock_file)
    current = read_status(folder.status_file) if held is not None else None
    state = current.state.value if current is not None else ("starting" if held is not None else "down")
    endpoints = Endpoints.read(folder.endpoints_file) if state == StackState.READY else None
    if as_json:
        print_json(_status_json(folder, state, current, endpoints))
    else:
        out.print(f"[bold]{state}[/]  {folder.root}")
        if current is not None:
            out.print(_table(current.processes))
        if endpoints is not None:
            _print_endpoints(folder, endpoints)
        if state == "down":
            out.print("Start it with: rearview up")
    if state != StackState.READY:
        raise typer.Exit(1)


def _status_json(
    folder: DataFolder, state: str, current: StackStatus | None, endpoints: Endpoints | None
) -> dict[str, object]:
    processes = current.processes if current is not None else []
    return {
        "state": state,
        "data_dir": str(folder.root),
        "supervisor_pid": current.supervisor_pid if current is not None else None,
        "message": current.message if current is not None else "",
        "gateway": endpoints.gateway if endpoints is not None else None,
        "processes": [{**asdict(process), "memory_bytes": memory_bytes(process)} for process in processes],
    }


def _table(processes: list[ProcessStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("process", "state", "pid", "restarts", "memory", ""):
        table.add_column(heading, overflow="fold")
    for process in processes:
        memory = memory_bytes(process)
        table.add_row(
            process.name,
            f"[{STATE_STYLES.get(process.state, 'dim')}]{process.state}[/]",
            str(process.pid or ""),
            str(process.restarts or ""),
            f"{memory // MIB} MiB" if memory is not None else "",
            escape(process.message.splitlines()[0]) if process.message else "",
        )
    return table


def _print_endpoints(folder: DataFolder, endpoints: Endpoints) -> None:
    if endpoints.gateway is not None:
        out.print(f"  gateway   {endpoints.gateway}  (gRPC, tenant {endpoints.tenant})", soft_wrap=True)
    out.print(f"  keys      in {folder.endpoints_file}", soft_wrap=True)
    out.print(f"  logs      in {folder.logs}", soft_wrap=True)
