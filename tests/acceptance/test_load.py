"""The load test itself on the real stack: nothing fails while services are replaced, and a broken limit is seen."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.locust import SPAWNED, load
from tests.support.supervised_stack import SupervisedStack

SERVICES = ("lifecycle", "retriever", "worker", "writer", "gateway")
END_SECONDS = 120.0


def test_no_call_fails_while_every_service_is_replaced(stack: SupervisedStack, tmp_path: Path) -> None:
    log, report = tmp_path / "log", tmp_path / "report.html"
    endpoints = stack.folder.endpoints_file
    with load("--scenario", "rolling", "--endpoints", endpoints, "--html", report, log=log) as process:
        stack.wait_until(lambda: SPAWNED in log.read_bytes(), "the agents to talk")
        for name in SERVICES:
            stack.replace(name)
        process.send_signal(signal.SIGINT)
        ended = process.wait(END_SECONDS)
    said = log.read_text(encoding="utf-8")
    assert ended == 0, said
    assert "all thresholds of rolling kept" in said
    assert "AppendEvents of 2" in report.read_text(encoding="utf-8")


def test_a_broken_threshold_ends_with_an_error(stack: SupervisedStack, tmp_path: Path) -> None:
    limits, log = tmp_path / "limits.yaml", tmp_path / "log"
    limits.write_text('smoke: {"Recall of tomorrow": {min_calls: 1}}', encoding="utf-8")
    arguments = ("--endpoints", stack.folder.endpoints_file, "--thresholds", limits)
    with load(*arguments, log=log) as process:
        stack.wait_until(lambda: SPAWNED in log.read_bytes(), "the agents to talk")
        process.send_signal(signal.SIGINT)
        assert process.wait(END_SECONDS) == 1
    assert "threshold broken: Recall of tomorrow: 0 calls, fewer than 1" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--endpoints", "nowhere.json"), "nowhere.json is not the endpoints file of a running stack"),
        (("--host", "127.0.0.1:1"), "api_key"),
        (("--thresholds", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_it_says_why_it_cannot_start(
    stack: SupervisedStack, tmp_path: Path, arguments: tuple[str, str], reason: str
) -> None:
    log = tmp_path / "log"
    with load("--endpoints", stack.folder.endpoints_file, *arguments, log=log) as process:
        assert process.wait(END_SECONDS) == 2
    said = log.read_text(encoding="utf-8")
    assert "cannot start" in said
    assert reason in said
