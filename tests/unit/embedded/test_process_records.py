"""Cleaning up after a killed supervisor: ours and nothing but ours."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.embedded.private_files import read_json, write_private_json
from rearview.embedded.process_records import ProcessRecords
from tests.support.processes import running

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)",
]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEP) as process:
        yield process
        process.kill()


def test_a_recorded_process_is_stopped(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    records = ProcessRecords(tmp_path)
    records.add("valkey", sleeper.pid, SLEEP, signal.SIGTERM)
    assert records.stop_leftovers() == ["valkey"]
    assert running([sleeper.pid]) == []
    assert records.all() == []


def test_one_that_ignores_its_stop_signal_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(STUBBORN, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        records = ProcessRecords(tmp_path)
        records.add("s3", process.pid, STUBBORN, signal.SIGTERM)
        assert records.stop_leftovers(timeout_seconds=0.5) == ["s3"]
        assert running([process.pid]) == []


@pytest.mark.parametrize("changed", [{"argv": [*SLEEP, "other"]}, {"started_at": 1.0e9}])
def test_a_foreign_process_with_the_same_pid_is_left_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes], changed: dict[str, object]
) -> None:
    records = ProcessRecords(tmp_path)
    records.add("valkey", sleeper.pid, SLEEP, signal.SIGTERM)
    path = tmp_path / "valkey.json"
    write_private_json(path, {**(read_json(path) or {}), **changed})
    assert records.stop_leftovers() == []
    assert sleeper.poll() is None
    assert records.all() == []


def test_damaged_records_are_cleared(tmp_path: Path) -> None:
    for name, content in (("a", "{"), ("b", '{"pid": "x"}'), ("c", "")):
        (tmp_path / f"{name}.json").write_text(content, encoding="utf-8")
    records = ProcessRecords(tmp_path)
    assert records.stop_leftovers() == []
    assert list(tmp_path.iterdir()) == []
