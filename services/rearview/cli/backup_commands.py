"""`rearview backup` and `rearview ledger`: whole stacks as files, and what may not come back from them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_figures
from rearview.domain.errors import Unavailable
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.folder_lock import holder
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.embedded.backup.stores import Stores

OWNER_VARIABLE = "REARVIEW_DATABASE_OWNER_URL"

DatabaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar=OWNER_VARIABLE,
        help="PostgreSQL as its owner, instead of a stack in a data folder; REARVIEW_S3_... names the bucket.",
        show_default=False,
    ),
]

ledger = typer.Typer(
    help="The tombstone ledger: ids of what was forgotten, kept apart from backups, so that no restore brings it back.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(backup)
    app.add_typer(ledger, name="ledger")


def backup(
    target: Annotated[Path, typer.Argument(help="Folder to make; with a name that ends in .tar, one file.")],
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write one consistent backup of everything while the stack runs: the database, the cold tier's objects, and the
    stack's keys.

    It appears under its name when it is whole, readable for its owner only: it holds what people said. What is
    forgotten later is still in it, so keep a ledger beside it (rearview ledger export), in another place.

    Examples:

      rearview backup /backups/monday

      rearview backup /backups/monday.tar --data-dir ~/memory --json
    """
    from rearview.embedded.backup.take import take_backup
    from rearview.evaluation.progress import shown_steps

    with failures(as_json):
        stores, secrets = _stores(database_url, data_dir)
        with shown_steps(err) as steps:
            taken = take_backup(stores, target.expanduser().absolute(), steps.start, secrets_file=secrets)
    manifest = taken.manifest
    figures: dict[str, object] = {
        "backup": str(taken.path),
        "backup_id": manifest.backup_id,
        "created_at": manifest.created_at,
        "schema": manifest.schema,
        **manifest.counts,
        "objects": sum(part.name.startswith("objects/") for part in manifest.parts),
        "bytes": sum(part.bytes for part in manifest.parts),
        "snapshots": taken.attempts,
    }
    print_figures(figures, as_json)


@ledger.command()
def export(
    file: Annotated[Path, typer.Argument(help="The ledger; made where there is none, else appended to.")],
    every: Annotated[
        float | None,
        typer.Option("--every", metavar="SECONDS", min=1, help="Go on, and append so often, until Ctrl-C."),
    ] = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Append to a ledger what was forgotten or deleted since the last time: ids and times of all tenants, no content.

    Keep it on another disk than the stack and its backups. What is forgotten after its last line comes back with a
    restore, so let it run every minute.

    Examples:

      rearview ledger export /elsewhere/rearview.ledger

      rearview ledger export /elsewhere/rearview.ledger --every 60
    """
    from rearview.embedded.backup.ledger_file import append_to_ledger

    with failures(as_json):
        stores, _ = _stores(database_url, data_dir)
        while every is not None:
            try:
                appended = append_to_ledger(file.expanduser(), stores.owner_url)
            except Unavailable as error:  # the stack may be restarted meanwhile
                err.print(f"{error}; tried again in {every:g} s", markup=False)
            else:
                if appended.entries:
                    err.print(f"{appended.reached:%H:%M:%S} {appended.entries} entries")
            time.sleep(every)
        appended = append_to_ledger(file.expanduser(), stores.owner_url)
    figures = {"ledger": str(file), "entries": appended.entries, "reached": appended.reached.isoformat()}
    print_figures(figures, as_json)


@ledger.command()
def replay(
    file: Annotated[Path, typer.Argument(help="The ledger.", exists=True, dir_okay=False)],
    database_url: DatabaseUrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget again, in a cluster's restored database, what the ledger names; before any gateway serves from it.

    Takes the lifecycle service's environment, and the database's owner. When it returns, nothing of it can be recalled;
    the writer's workers and the lifecycle service erase it. `rearview restore` does all of this for a data folder.

    Example:

      rearview ledger replay /elsewhere/rearview.ledger --database-url postgresql://rearview_owner:...@host/rearview
    """
    import asyncio

    from pydantic import ValidationError

    from rearview.embedded.backup.ledger_file import read_ledger_file
    from rearview.evaluation.progress import Steps, shown_steps
    from rearview.lifecycle.app import open_replayer
    from rearview.lifecycle.config import LifecycleConfig
    from rearview.rpc.service_config import problems_of

    async def run(steps: Steps, url: str, config: LifecycleConfig) -> dict[str, object]:
        found = read_ledger_file(file)
        shown = steps.start("ledger", len(found.forgets) + len(found.deletions))
        async with open_replayer(config, url) as replayer:
            counts = await replayer.replay(found, shown)
        return {**counts, "reached": found.reached.isoformat() if found.reached else None}

    with failures(as_json):
        if database_url is None:
            raise StackError(f"name the restored database with --database-url or {OWNER_VARIABLE}")
        try:
            config = LifecycleConfig()  # type: ignore[call-arg]
        except ValidationError as error:
            raise StackError("; ".join(problems_of(error))) from None
        with shown_steps(err) as steps:
            figures = asyncio.run(run(steps, database_url, config))
    print_figures(figures, as_json)


def _stores(database_url: str | None, data_dir: Path | None) -> tuple[Stores, Path | None]:
    """Return what is backed up, and the secrets of a stack."""
    from rearview.embedded.backup.stores import Stores

    if database_url is not None:
        return Stores.of_environment(database_url), None
    folder = DataFolder.choose(data_dir, os.environ)
    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None or holder(folder.lock_file) is None:
        raise StackError(
            f"no stack runs in {folder.root}; start it with `rearview up --data-dir {folder.root}`, or without its "
            "services with --dependencies-only"
        )
    return Stores.of_stack(endpoints), folder.secrets_file
