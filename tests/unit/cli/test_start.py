"""Commands that are asked often start without what they do not need."""

from __future__ import annotations

import subprocess
import sys
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
