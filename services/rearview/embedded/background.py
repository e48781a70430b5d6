"""Starting a supervisor in the background, watching it start, and stopping one."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import psutil

from rearview.embedded.errors import AlreadyRunning, StackError
from rearview.embedded.folder_lock import FolderLock, holder
from rearview.embedded.log_rotation import tail
from rearview.embedded.paths import DataFolder
from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.processes import wait_until_ended
from rearview.embedded.stack_status import StackState, StackStatus, read_status

POLL_SECONDS = 0.1
EXIT_TIMEOUT_SECONDS = 5.0
CONSOLE_LOG = "console"

OnStatus = Callable[[StackStatus], None]


def start_in_background(folder: DataFolder, foreground_arguments: Sequence[str], on_status: OnStatus) -> StackStatus:
    """Start a supervisor that outlives this process; return its status once the stack is ready.

    `foreground_arguments` run the stack in the foreground when passed to this Python. Interrupted, the start is
    undone.

    Raises:
        AlreadyRunning: another supervisor holds the folder.
        StackError: the stack did not start; the message says why.
    """
    folder.create()
    held = holder(folder.lock_file)
    if held is not None:
        raise AlreadyRunning(str(folder.root), held.pid)
    console_log = folder.log_file(CONSOLE_LOG)
    with console_log.open("wb") as console:
        supervisor = subprocess.Popen(
            [sys.executable, *foreground_arguments],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return _wait_until_ready(folder, supervisor, on_status)
    except BaseException:
        if supervisor.poll() is None:
            supervisor.send_signal(signal.SIGTERM)
            supervisor.wait()
        raise


def _wait_until_ready(folder: DataFolder, supervisor: subprocess.Popen[bytes], on_status: OnStatus) -> StackStatus:
    while True:
        ended = supervisor.poll() is not None
        status = read_status(folder.status_file)
        if status is not None and status.supervisor_pid == supervisor.pid:
            on_status(status)
            if status.state is StackState.READY and not ended:
                return status
            if ended and status.message:
                raise StackError(status.message)
        if ended:
            raise StackError(
                f"the supervisor ended with code {supervisor.returncode}:\n{tail(folder.log_file(CONSOLE_LOG))}"
            )
        time.sleep(POLL_SECONDS)


def stop(folder: DataFolder, timeout_seconds: float) -> bool:
    """Stop the folder's stack in order and wait; return False when none was running.

    After a supervisor that was killed, whatever it may have left is stopped.

    Raises:
        StackError: it did not end within the time; it is still stopping.
    """
    held = holder(folder.lock_file)
    if held is None:
        if not folder.run.is_dir():
            return False
        with FolderLock(folder):
            return bool(ProcessRecords(folder.process_records).stop_leftovers())
    deadline = time.monotonic() + timeout_seconds
    supervisors: list[psutil.Process] = []
    while held is not None:
        if held.pid is not None and held.pid not in [supervisor.pid for supervisor in supervisors]:
            with contextlib.suppress(psutil.NoSuchProcess):
                supervisors.append(psutil.Process(held.pid))
                supervisors[-1].send_signal(signal.SIGTERM)
        if time.monotonic() > deadline:
            raise StackError(f"process {held.pid} is still stopping the stack after {timeout_seconds:g} s")
        time.sleep(POLL_SECONDS)
        held = holder(folder.lock_file)
    # The lock goes a moment before its process does.
    wait_until_ended(supervisors, EXIT_TIMEOUT_SECONDS)
    return True
