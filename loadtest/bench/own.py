"""Rearview alone: `rearview bench ...` by size, one after the other on one stack."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from loadtest.bench.parts import Figures
from rearview.cli.borrowed_stack import borrowed_stack

COMMANDS: dict[str, Sequence[str]] = {
    "recall": ("recall",),
    "recall8": ("recall", "--clients", "8"),
    "append": ("append",),
    "ingest": ("ingest",),
    "cache": ("cache",),
    "tiers": ("tiers",),
}
IN_BULK = ("recall", "recall8")
"""These fill in bulk and reach any size; the others write through the API."""


@contextmanager
def own_stack(folder: Path) -> Iterator[Path]:
    """Keep a stack up while the block runs, and yield its data folder."""
    with borrowed_stack(folder):
        yield folder


def measured(what: str, memories: int, data_dir: Path) -> Figures:
    """Return the figures of a command at a size; its progress is shown.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-m", "rearview.cli", "bench", *COMMANDS[what]]
    command += ["--memories", str(memories), "--data-dir", str(data_dir), "--json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command[2:])} ended with {result.returncode}")
    figures: Figures = json.loads(result.stdout.splitlines()[-1])
    return figures
