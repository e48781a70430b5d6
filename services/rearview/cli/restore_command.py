"""`rearview restore`: a forget taken back by its receipt, or a whole stack from a backup."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.forget_commands import print_receipt
from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_figures
from rearview.embedded.paths import DataFolder

_RECEIPT = re.compile(r"(forgetReceipts/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(restore)


def restore(
    what: Annotated[str, typer.Argument(metavar="RECEIPT|BACKUP", help="A receipt's name, or a backup's path.")],
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Of a backup: the tombstone ledger; what it names does not come back."),
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Of a backup: there is none; what was forgotten since does come back.")
    ] = False,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=1, help="Of a backup: how long erasing may take.")
    ] = 1_800.0,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a forget back, by its receipt; or restore a backup, by its path, into an empty data folder.

    A forget can be taken back until it is purged.

    A backup is checked before anything is written. Then the database and the objects are loaded, what the ledger names
    is forgotten again, erased and verified, and only then can `rearview up` serve from the folder. Killed on the way,
    run the same command again.

    Examples:

      rearview restore 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b

      rearview restore /backups/monday.tar --data-dir ~/memory --ledger /elsewhere/rearview.ledger
    """
    path = Path(what).expanduser()
    if not path.exists() and _RECEIPT.fullmatch(what):
        with connected(gateway, data_dir, as_json=as_json) as client:
            found = client.restore(what)
        print_receipt(found, as_json)
        return
    with failures(as_json):
        _restore_backup(path, ledger, no_ledger, wait, DataFolder.choose(data_dir, os.environ), as_json)


def _restore_backup(
    path: Path, ledger: Path | None, no_ledger: bool, wait: float, folder: DataFolder, as_json: bool
) -> None:
    from rearview.embedded.backup.errors import LedgerMissing, NotABackup
    from rearview.embedded.backup.restore import Restore
    from rearview.evaluation.progress import shown_steps
    from rearview.lifecycle.fault_points import FaultPoints

    if not path.exists():
        raise NotABackup(f"{path} is neither the name of a receipt nor the path of a backup")
    if (ledger is None) != no_ledger:
        raise LedgerMissing
    faults = FaultPoints(os.environ.get("REARVIEW_FAULT_POINT", ""))
    with shown_steps(err) as steps:
        restored = Restore(folder, steps.start, erasure_seconds=wait, faults=faults).run(path, ledger)
    if restored.held:
        err.print(
            f"{restored.held} forgets stay out of reach and wait for a legal hold of the backup to be lifted.",
            soft_wrap=True,
        )
    figures: dict[str, object] = {
        "data_dir": str(folder.root),
        "backup_id": restored.manifest.backup_id,
        "backup_of": restored.manifest.created_at,
        "ledger_reached": restored.reached.isoformat() if restored.reached else None,
        **restored.manifest.counts,
        **{f"ledger_{name}": count for name, count in restored.replayed.items()},
        "held": restored.held,
    }
    print_figures(figures, as_json)
    if not as_json:
        err.print(f"Restored. Start it: rearview up --data-dir {folder.root}", soft_wrap=True)
