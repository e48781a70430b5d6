"""The links between a stack's services and its servers, kept alive by whoever runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from tests.support.ports import free_port
from tests.support.soak.linked_stack import LINKED
from tests.support.supervised_stack import ROOT, environment


class Links:
    """One process a server; `ports` are what the services connect to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ports = {name: free_port() for name in LINKED}
        self._processes = {name: self._start(name) for name in LINKED}

    def pids(self, name: str) -> list[psutil.Process]:
        """Return the link's process."""
        return [psutil.Process(self._processes[name].pid)]

    def cut(self, name: str) -> None:
        """End every connection, and let new ones in at once."""
        self._end(name)
        self._processes[name] = self._start(name)

    def stop(self) -> None:
        """End all links."""
        for name in LINKED:
            self._end(name)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.support.soak.link", "--name", name, "--port", str(self.ports[name])]
        return subprocess.Popen([*command, "--data-dir", str(self._folder)], cwd=ROOT, env=environment())

    def _end(self, name: str) -> None:
        self._processes[name].kill()
        self._processes[name].wait()
