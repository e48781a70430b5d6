"""Locust under way, as `make loadtest` runs it, from the environment of its own that `make loadtest-tools` makes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.supervised_stack import ROOT

PYTHON = ROOT / ".venv-loadtest" / "bin" / "python"
SPAWNED = b"All users spawned"
"""What the log says once all agents talk."""


@contextmanager
def load(*arguments: str | Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the agents while the block lasts; what Locust says goes to the log."""
    if not PYTHON.is_file():
        pytest.fail(f"{PYTHON} is missing; run: make loadtest-tools")
    command = [PYTHON, "-m", "locust", "-f", "loadtest/locustfile.py", "--headless", "--only-summary", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
