"""A stack under its real supervisor, in a process of its own, as tests start, watch, kill and stop it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from rearview.embedded.endpoints import Endpoints
from rearview.embedded.log_rotation import tail
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import SECOND_PORT_DISTANCE
from rearview.embedded.private_files import read_json
from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.processes import wait_until_ended
from rearview.embedded.s3_server import SOCKET_FOLDER
from rearview.embedded.stack_status import ProcessState, ProcessStatus, StackState, StackStatus, read_status

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 120.0
POLL_SECONDS = 0.05
DEPENDENCIES_ONLY = ("-m", "rearview.cli", "up", "--foreground", "--dependencies-only")
TINY_SERVICES = ("-m", "tests.support.tiny_stack")


class SupervisedStack:
    """Runs `python <arguments> --data-dir <folder>` and talks about it in terms of the stack."""

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str] = DEPENDENCIES_ONLY,
        *,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._wait_seconds = wait_seconds
        self.folder = DataFolder(folder)
        self._command = [*prefix, sys.executable, *arguments, "--data-dir", str(folder)]
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._console = folder.with_name(f"{folder.name}.console")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def console(self) -> str:
        """What the supervisor printed."""
        return self._console.read_text(encoding="utf-8", errors="replace")

    def start(self) -> SupervisedStack:
        """Start and wait until everything is ready."""
        self.launch()
        self.wait_for_state(StackState.READY)
        return self

    def launch(self) -> None:
        """Start without waiting."""
        with self._console.open("wb") as console:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=environment(**self._environment),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_the_tests,
            )

    def status(self) -> StackStatus | None:
        """What this supervisor (no earlier one) last said."""
        status = read_status(self.folder.status_file)
        return status if status is not None and status.supervisor_pid == self.pid else None

    def process(self, name: str) -> ProcessStatus:
        status = self.status()
        assert status is not None
        return next(process for process in status.processes if process.name == name)

    def endpoints(self) -> Endpoints:
        endpoints = Endpoints.read(self.folder.endpoints_file)
        assert endpoints is not None
        return endpoints

    def wait_for_state(self, state: StackState) -> None:
        def reached() -> bool:
            status = self.status()
            return status is not None and status.state is state

        self.wait_until(reached, f"the stack to be {state}")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; fail with the console's end when the supervisor ends first or nothing happens."""
        assert self._process is not None
        deadline = time.monotonic() + self._wait_seconds
        while not condition():
            ended = self._process.poll() is not None
            if (ended and not condition()) or time.monotonic() > deadline:
                raise AssertionError(
                    f"waited in vain for {what} ({'supervisor ended' if ended else 'too long'}):\n"
                    f"{tail(self._console, 30)}"
                )
            time.sleep(POLL_SECONDS)

    def replace(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End a process and wait until its successor is ready."""
        pid = self.child_pids()[name]
        os.kill(pid, how)
        self.wait_until_replaced(name, pid)

    def wait_until_replaced(self, name: str, old_pid: int) -> None:
        """Return when the process runs again and is ready."""

        def replaced() -> bool:
            process = self.process(name)
            return process.state is ProcessState.READY and process.pid not in (None, old_pid)

        self.wait_until(replaced, f"{name} to be back")

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait_for_end(self) -> int:
        assert self._process is not None
        return self._process.wait(timeout=WAIT_SECONDS)

    def stop(self) -> int:
        """Stop in order; return the supervisor's exit code."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self.wait_for_end()

    def kill(self) -> None:
        """End the supervisor as a crash or the kernel would: without a word."""
        self.signal(signal.SIGKILL)
        self.wait_for_end()

    def discard(self) -> None:
        """End all of its processes at once, for a stack whose test is over: an orderly end takes seconds."""
        discard(self.folder.root)
        if self._process is not None:
            self.wait_for_end()
        self._process = None

    def child_pids(self) -> dict[str, int]:
        """The pids of the supervised processes as recorded."""
        return {record.name: record.pid for record in ProcessRecords(self.folder.process_records).all()}


@contextlib.contextmanager
def throwaway_stack(
    name: str, arguments: Sequence[str], *, environment: Mapping[str, str], wait_seconds: float = WAIT_SECONDS
) -> Iterator[SupervisedStack]:
    """A stack with nothing in it, in a folder of its own; nothing is left of either."""
    place = Path(tempfile.mkdtemp(prefix=f"rearview-{name}-"))
    stack = SupervisedStack(place / "data", arguments, environment=environment, wait_seconds=wait_seconds)
    try:
        yield stack.start()
    finally:
        stack.stop()
        discard(stack.folder.root)
        shutil.rmtree(place, ignore_errors=True)


def discard(folder: Path) -> None:
    """End everything that has to do with a data folder, without a word."""
    deadline = time.monotonic() + WAIT_SECONDS
    # Its supervisor may have started another process meanwhile.
    while processes := processes_of(folder):
        assert time.monotonic() < deadline, processes
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        wait_until_ended(processes, WAIT_SECONDS)
    # The S3 server's sockets lie outside of the folder; its supervisor removes them at an orderly end.
    for port in (read_json(DataFolder(folder).ports_file) or {}).values():
        if isinstance(port, int):
            for socket in SOCKET_FOLDER.glob(f"seaweedfs-*-grpc-{port + SECOND_PORT_DISTANCE}.sock"):
                socket.unlink(missing_ok=True)


def environment(**further: str) -> dict[str, str]:
    """Return the environment in which the command line runs from the source tree."""
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'services'}{os.pathsep}{ROOT}", "COLUMNS": "200", **further}


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return all processes that have anything to do with a data folder, however they came to be."""
    found = []
    for process in psutil.process_iter():
        try:
            related = str(folder) in " ".join(process.cmdline()) or process.cwd().startswith(str(folder))
            if related and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _end_with_the_tests() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)
