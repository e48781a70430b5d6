"""A running stack for commands that need one: the one that runs already, or one for the time being."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rearview.cli.output import err
from rearview.embedded.background import start_in_background, stop
from rearview.embedded.folder_lock import holder
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.client import Client

STOP_TIMEOUT_SECONDS = 180.0
CALL_TIMEOUT_SECONDS = 60.0


@contextmanager
def admin_client(data_dir: Path | None) -> Iterator[Client]:
    """Yield a client of the folder's stack with the first tenant's admin key.

    A stack that was not running is started, and stopped again when the block ends.

    Raises:
        StackError: the stack could not be started.
    """
    from rearview.client import Client

    folder = DataFolder.choose(data_dir, os.environ)
    borrowed = holder(folder.lock_file) is None
    if borrowed:
        with err.status("Starting the stack (the first time builds the embedding model, half a minute) ..."):
            start_in_background(
                folder,
                ["-m", "rearview.cli", "up", "--foreground", "--data-dir", str(folder.root)],
                lambda _: None,
            )
    try:
        with Client.from_endpoints(folder.endpoints_file, key="admin", timeout_seconds=CALL_TIMEOUT_SECONDS) as client:
            yield client
    finally:
        if borrowed:
            with err.status("Stopping the stack ..."):
                stop(folder, STOP_TIMEOUT_SECONDS)
