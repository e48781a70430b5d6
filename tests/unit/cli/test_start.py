"""Commands that are asked often start without what they do not need."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

HEAVY = ("numpy", "grpc", "google", "psycopg", "redis", "minio", "procrastinate", "phonenumbers", "tokenizers", "yaml")


@pytest.mark.parametrize("command", [["--help"], ["status", "--help"], ["status"], ["down"]], ids=" ".join)
def test_no_driver_dictionary_or_model_is_loaded(command: list[str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rearview.cli", *command],
        env={"REARVIEW_HOME": str(tmp_path / "data"), "PYTHONPATH": "services"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines()}
    assert "typer" in imported, ended.stderr
    assert imported.isdisjoint(HEAVY)


@pytest.mark.parametrize("command", ["up", "bench append"])
def test_paragraphs_of_help_are_as_wide_as_the_terminal(command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "rearview.cli", *command.split(), "--help"],
        env={"PYTHONPATH": "services", "COLUMNS": "100", "TERMINAL_WIDTH": "100"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    paragraphs = re.split(r"\n\s*\n", ended.stdout.partition("Example")[0])
    wide = [paragraph.strip().splitlines() for paragraph in paragraphs[2:]]
    assert any(len(lines) > 1 for lines in wide)
    for line, following in (pair for lines in wide for pair in pairwise(lines)):
        assert len(line.strip()) + 1 + len(following.split()[0]) > 96, (line, following)
