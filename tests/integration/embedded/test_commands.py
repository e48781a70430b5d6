"""`rearview up`, `down`, `status` and `doctor` as a person or a script uses them."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rearview.embedded.paths import DataFolder
from tests.integration.embedded.conftest import MakeStack
from tests.support.commands import last_json, rearview
from tests.support.supervised_stack import discard, processes_of


@pytest.fixture
def folder(place: Path) -> Iterator[Path]:
    folder = place / "data"
    yield folder
    discard(folder)


def verdicts(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {check["part"]: check["verdict"] for check in last_json(result)["checks"]}


def test_up_status_doctor_down(folder: Path) -> None:
    up = rearview(folder, "up", "--dependencies-only", "--json")
    assert up.returncode == 0, up.stderr
    endpoints = last_json(up)
    assert endpoints["state"] == "ready"
    assert endpoints["postgres_service_url"].startswith("postgresql://rearview_service:")
    kept = DataFolder(folder).endpoints_file
    assert json.loads(kept.read_text(encoding="utf-8")).items() <= endpoints.items()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    status = rearview(folder, "status", "--json")
    assert status.returncode == 0
    content = last_json(status)
    assert content["state"] == "ready"
    assert {process["name"] for process in content["processes"] if process["memory_bytes"]} == {
        "postgres",
        "valkey",
        "s3",
    }
    assert "ready" in rearview(folder, "status").stdout

    doctor = rearview(folder, "doctor", "--json")
    assert doctor.returncode == 0, doctor.stdout
    assert {part: verdicts(doctor)[part] for part in ("postgres", "pgvector", "valkey", "s3", "stack")} == {
        "postgres": "ok",
        "pgvector": "ok",
        "valkey": "ok",
        "s3": "ok",
        "stack": "ok",
    }

    again = rearview(folder, "up", "--dependencies-only", "--json")
    assert again.returncode == 1
    assert f"already run by process {content['supervisor_pid']}" in last_json(again)["error"]

    down = rearview(folder, "down", "--json")
    assert (down.returncode, last_json(down)["was_running"]) == (0, True)
    assert processes_of(folder) == []
    assert last_json(rearview(folder, "down", "--json"))["was_running"] is False
    gone = rearview(folder, "status", "--json")
    assert (gone.returncode, last_json(gone)["state"]) == (1, "down")


def test_doctor_without_a_stack_says_what_to_do(folder: Path) -> None:
    doctor = rearview(folder, "doctor", "--json")
    assert doctor.returncode == 0
    stack = next(check for check in last_json(doctor)["checks"] if check["part"] == "stack")
    assert (stack["verdict"], stack["remedy"]) == ("not_checked", "run: rearview up")
    assert not folder.exists()


def test_up_prints_no_secret_and_doctor_finds_exposed_ones_and_a_frozen_server(folder: Path) -> None:
    up = rearview(folder, "up", "--dependencies-only")
    assert up.returncode == 0, up.stderr
    secrets = json.loads(DataFolder(folder).secrets_file.read_text(encoding="utf-8"))
    assert not [name for name, secret in secrets.items() if secret in up.stdout + up.stderr]
    assert str(DataFolder(folder).endpoints_file) in up.stdout
    DataFolder(folder).secrets_file.chmod(0o644)
    processes = last_json(rearview(folder, "status", "--json"))["processes"]
    valkey = next(process["pid"] for process in processes if process["name"] == "valkey")
    os.kill(valkey, signal.SIGSTOP)
    try:
        doctor = rearview(folder, "doctor", "--json")
    finally:
        os.kill(valkey, signal.SIGCONT)
    assert doctor.returncode == 1
    found = verdicts(doctor)
    assert (found["data folder"], found["valkey"], found["postgres"]) == ("failed", "failed", "ok")
    assert all(check["remedy"] for check in last_json(doctor)["checks"] if check["verdict"] == "failed")


def test_doctor_asks_each_service(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack("--with-schema").start()
    doctor = rearview(stack.folder.root, "doctor", "--json")
    assert doctor.returncode == 0, doctor.stdout
    assert verdicts(doctor)["migrations"] == "ok"
    gateway = psutil.Process(stack.child_pids()["gateway"])
    gateway.suspend()
    try:
        doctor = rearview(stack.folder.root, "doctor", "--json")
    finally:
        gateway.resume()
    assert doctor.returncode == 1
    assert (verdicts(doctor)["gateway"], verdicts(doctor)["writer"]) == ("failed", "ok")


def test_a_start_that_fails_says_why_and_leaves_nothing_running(folder: Path) -> None:
    DataFolder(folder).create()
    DataFolder(folder).secrets_file.write_text("{}", encoding="utf-8")
    up = rearview(folder, "up", "--dependencies-only", "--json")
    assert up.returncode == 1
    assert "restore the file from a backup" in last_json(up)["error"]
    assert processes_of(folder) == []


@pytest.mark.parametrize("command", ["up", "down", "status", "doctor"])
def test_every_command_explains_itself(place: Path, command: str) -> None:
    answer = rearview(place, command, "--help")
    assert answer.returncode == 0
    assert "--data-dir" in answer.stdout
    assert "--json" in answer.stdout
