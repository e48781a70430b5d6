"""The command `rearview` as a person or a script runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.supervised_stack import ROOT, environment

TIMEOUT_SECONDS = 240


def rearview(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with REARVIEW_HOME set to a data folder, and further variables."""
    return subprocess.run(
        [sys.executable, "-m", "rearview.cli", *arguments],
        cwd=ROOT,
        env=environment(REARVIEW_HOME=str(folder), **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def last_json(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the JSON object on the last line of stdout."""
    content: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return content
