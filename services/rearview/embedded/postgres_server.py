"""PostgreSQL as a child process: cluster creation, configuration, readiness, leftovers of a crash.

The data folder may lie where PostgreSQL's account cannot go (below /root, mode 0700). Nothing is opened up for it.
The supervisor enters the cluster's folder first and only then changes the account, and the server is told that its
data is in `/proc/self/cwd`: the kernel resolves that to the folder itself, without walking the path to it. Its
configuration lies inside, and its socket's folder is named relative to it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from rearview.adapters.postgres.probe import PostgresUnreachable, ping
from rearview.embedded.environment import SUPERUSER
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.postgres_settings import render, settings
from rearview.embedded.postgres_software import PostgresSoftware
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.processes import is_running, wait_until_ended
from rearview.embedded.readiness import probe_in_thread

MAJOR_VERSION = "18"
CURRENT_FOLDER = "/proc/self/cwd"
CONFIGURATION = "stack.conf"
PASSWORD_FILE = "initdb.password"  # noqa: S105 -- a file's name
INITDB_TIMEOUT_SECONDS = 300
LEFTOVER_TIMEOUT_SECONDS = 20.0
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


class PostgresServer:
    """The server of one data folder."""

    def __init__(
        self,
        folder: DataFolder,
        software: PostgresSoftware,
        *,
        port: int,
        superuser_password: str,
        superuser_url: str,
    ) -> None:
        self._folder = folder
        self._software = software
        self._port = port
        self._superuser_password = superuser_password
        self._superuser_url = superuser_url

    def spec(self) -> ProcessSpec:
        """Return how to run it. It stops by "fast shutdown": open transactions are rolled back, data is flushed."""
        return ProcessSpec(
            name="postgres",
            argv=(
                str(self._software.programs / "postgres"),
                "-D",
                self._seen_by_server(),
                "-c",
                f"config_file={self._seen_by_server()}/{CONFIGURATION}",
            ),
            environment=ENVIRONMENT,
            ready=probe_in_thread(lambda: ping(self._superuser_url), PostgresUnreachable),
            ready_timeout_seconds=180.0,
            stop_signal=signal.SIGINT,
            stop_timeout_seconds=60.0,
            orphan_signal=signal.SIGINT,
            working_folder=self._folder.postgres_data,
            account=self._software.account,
            before_start=self.prepare,
        )

    def prepare(self) -> None:
        """Make the cluster if there is none, write the configuration, clear what a crash left behind.

        Raises:
            StackError: initdb failed, or the cluster is of another major version.
        """
        data = self._folder.postgres_data
        if not (data / "PG_VERSION").exists():
            self._create_cluster()
        version = (data / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise StackError(
                f"{data} was made by PostgreSQL {version}, this installation has {MAJOR_VERSION}; export with the old "
                "installation and import into a new data folder"
            )
        self._own(self._folder.postgres_sockets)
        configuration = data / CONFIGURATION
        sockets = os.path.relpath(self._folder.postgres_sockets, data)
        configuration.write_text(render(settings(data, self._port, sockets)), encoding="utf-8")
        configuration.chmod(0o600)
        self._own(configuration)
        clear_leftovers(data)

    def _create_cluster(self) -> None:
        data = self._folder.postgres_data
        if data.exists() and any(data.iterdir()):
            raise StackError(f"{data} is not empty and not a database; move it away")
        # Made aside and renamed when complete: an interrupted initdb leaves nothing that looks like a database.
        unfinished = data.with_name("data.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        password_file = self._folder.postgres / PASSWORD_FILE
        password_file.touch(mode=0o600)
        try:
            password_file.write_text(self._superuser_password + "\n", encoding="ascii")
            for path in (self._folder.postgres, unfinished, password_file):
                self._own(path)
            self._run_initdb(unfinished)
        finally:
            password_file.unlink(missing_ok=True)
        unfinished.rename(data)

    def _run_initdb(self, folder: Path) -> None:
        place = CURRENT_FOLDER if sys.platform == "linux" else str(folder)
        command = [
            str(self._software.programs / "initdb"),
            *("-D", place, "-U", SUPERUSER, "-E", "UTF8"),
            # Sorts by code point, the same on every machine: no index depends on the system's libc.
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            *("-A", "scram-sha-256", f"--pwfile={place}/../{PASSWORD_FILE}"),
        ]
        account = self._software.account
        result = subprocess.run(
            command,
            cwd=folder,
            env=ENVIRONMENT,
            user=account.user_id if account else None,
            group=account.group_id if account else None,
            extra_groups=[] if account else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=INITDB_TIMEOUT_SECONDS,
        )
        if result.returncode != 0:
            raise StackError(f"initdb failed: {(result.stderr or result.stdout).strip()}")

    def _seen_by_server(self) -> str:
        return CURRENT_FOLDER if sys.platform == "linux" else str(self._folder.postgres_data)

    def _own(self, path: Path) -> None:
        account = self._software.account
        if account is not None:
            os.chown(path, account.user_id, account.group_id)


def clear_leftovers(data: Path) -> None:
    """Stop PostgreSQL processes that still run on this cluster; drop a pid file that names somebody else's process.

    A pid file that names nobody is left to the server: with it, it checks that no shared memory is still in use.
    """
    pid = _recorded_pid(data / "postmaster.pid")
    running = [process for process in psutil.process_iter(["name"]) if _runs_on(process, data)]
    main = [process for process in running if process.pid == pid]
    _signal_and_wait(main, signal.SIGINT)
    running = wait_until_ended(running, timeout_seconds=2.0)  # without their parent they end by themselves
    _signal_and_wait(running, signal.SIGQUIT)
    _signal_and_wait([process for process in running if is_running(process)], signal.SIGKILL)
    if pid is not None and not main and psutil.pid_exists(pid):
        (data / "postmaster.pid").unlink(missing_ok=True)


def _signal_and_wait(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue
    wait_until_ended(processes, LEFTOVER_TIMEOUT_SECONDS)


def _recorded_pid(pid_file: Path) -> int | None:
    try:
        first_line = pid_file.read_text(errors="replace").splitlines()[0].strip()
    except (FileNotFoundError, IndexError):
        return None
    return int(first_line) if first_line.isdigit() else None


def _runs_on(process: psutil.Process, data: Path) -> bool:
    try:
        return process.name() == "postgres" and Path(process.cwd()) == data.resolve()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
