"""One running child: started so that it cannot outlive the supervisor, its output kept, stopped within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rearview.embedded.errors import StackError
from rearview.embedded.log_rotation import LineSplitter, RotatingLog
from rearview.embedded.process_spec import ProcessSpec

CHUNK_BYTES = 64 * 1024
PR_SET_PDEATHSIG = 1
OUTPUT_DRAIN_SECONDS = 2.0

OnLine = Callable[[str, str], None]
"""Receives (process name, line) of a child's output."""


class ChildProcess:
    """A started process. Make one with `start`, from the main thread only.

    The kernel's parent-death signal follows the *thread* that forked: from a worker thread, the child would be told
    to stop when that thread ends.
    """

    def __init__(self, spec: ProcessSpec, process: asyncio.subprocess.Process, output: asyncio.Task[None]) -> None:
        self._spec = spec
        self._process = process
        self._output = output

    @classmethod
    async def start(cls, spec: ProcessSpec, log_file: Path, on_line: OnLine | None) -> ChildProcess:
        """Start the process in a session (and so a process group) of its own.

        Raises:
            StackError: the program cannot be executed.
        """
        options: dict[str, Any] = {}
        if spec.account is not None:
            # The working folder is entered before the account changes, see postgres_server.py.
            options = {"user": spec.account.user_id, "group": spec.account.group_id, "extra_groups": []}
        try:
            process = await asyncio.create_subprocess_exec(
                *spec.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(spec.environment),
                cwd=spec.working_folder,
                start_new_session=True,
                preexec_fn=_before_exec(spec),
                **options,
            )
        except OSError as error:
            raise StackError(f"{spec.name}: cannot execute {spec.argv[0]}: {error.strerror}") from error
        output = asyncio.create_task(_keep_output(spec.name, process, log_file, on_line), name=f"log of {spec.name}")
        return cls(spec, process, output)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        """Wait for the end; return the exit code, -n for signal n. The output is in the log by then."""
        code = await self._process.wait()
        # A grandchild may still hold the pipe; then the log is complete enough.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._output), OUTPUT_DRAIN_SECONDS)
        if not self._output.done():
            self._output.cancel()
        return code

    async def stop(self) -> bool:
        """Ask it to stop, wait, kill its group when it does not; return whether it stopped by itself in time."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(self._spec.stop_signal)
        try:
            await asyncio.wait_for(self._process.wait(), self._spec.stop_timeout_seconds)
            stopped_by_itself = True
        except TimeoutError:
            stopped_by_itself = False
        # What it may have left behind in its group goes as well.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        await self.wait()
        return stopped_by_itself


def _before_exec(spec: ProcessSpec) -> Callable[[], None]:
    """Return what a child runs between fork and exec: it takes its niceness, and on Linux is signalled when its parent
    dies.

    It runs after the account has changed, as it must: the kernel clears the setting when credentials change.
    """
    prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None
    supervisor = os.getpid()

    def before_exec() -> None:
        os.nice(spec.niceness)
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, int(spec.orphan_signal), 0, 0, 0)
            if os.getppid() != supervisor:  # it died before the setting took hold
                os._exit(1)

    return before_exec


async def _keep_output(name: str, process: asyncio.subprocess.Process, log_file: Path, on_line: OnLine | None) -> None:
    stream = process.stdout
    if stream is None:
        return
    log = RotatingLog(log_file)
    splitter = LineSplitter(lambda line: on_line(name, line)) if on_line is not None else None
    try:
        while chunk := await stream.read(CHUNK_BYTES):
            # Whatever happens to the log and the console (a full disk), the pipe must be drained, or the child would
            # block on it; and whoever waits for the child's end must hear of that alone.
            with contextlib.suppress(OSError):
                log.write(chunk)
            if splitter is not None:
                with contextlib.suppress(OSError):
                    splitter.feed(chunk)
    finally:
        if splitter is not None:
            with contextlib.suppress(OSError):
                splitter.flush()
        log.close()
