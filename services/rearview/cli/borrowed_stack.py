"""A running stack for commands that need one: the one that runs already, or one for the time being."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rearview.cli.output import err
from rearview.embedded.background import start_in_background, stop
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.folder_lock import holder
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.client import Client
    from rearview.client.connection import KeyKind

STOP_TIMEOUT_SECONDS = 180.0
CALL_TIMEOUT_SECONDS = 60.0


@contextmanager
def borrowed_stack(data_dir: Path | None) -> Iterator[Path]:
    """Yield the endpoints file of the folder's stack.

    A stack that was not running is started, and stopped again when the block ends.

    Raises:
        StackError: the stack could not be started.
    """
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
        yield folder.endpoints_file
    finally:
        if borrowed:
            with err.status("Stopping the stack ..."):
                stop(folder, STOP_TIMEOUT_SECONDS)


def client_of(endpoints: Path, key: KeyKind) -> Client:
    """Return a client of a stack, patient enough for measurements."""
    from rearview.client import Client

    return Client.from_endpoints(endpoints, key=key, timeout_seconds=CALL_TIMEOUT_SECONDS)


def opener_of(endpoints_file: Path) -> Callable[[str], Client]:
    """Return what opens a client of a stack for a key.

    Raises:
        StackError: the stack has no gateway.
    """
    from rearview.client import Client

    endpoints = Endpoints.read(endpoints_file)
    if endpoints is None or endpoints.gateway is None:
        raise StackError("the stack has no gateway; run `rearview doctor`")
    gateway = endpoints.gateway
    return lambda key: Client.connect(gateway, key, timeout_seconds=CALL_TIMEOUT_SECONDS)


@contextmanager
def admin_client(data_dir: Path | None) -> Iterator[Client]:
    """Yield a client of the folder's stack with the first tenant's admin key; the stack is as of `borrowed_stack`.

    Raises:
        StackError: the stack could not be started.
    """
    with borrowed_stack(data_dir) as endpoints, client_of(endpoints, "admin") as client:
        yield client
