"""Prometheus and its promtool, which come with the system. Without them these tests fail, and say so."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.expressions import RULES
from tests.support.ports import free_port

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.2
SCRAPE_SECONDS = 1


def program(name: str) -> str:
    """Return the path of a program; fail the test where it is missing."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is missing; run: apt-get install prometheus (or put a release of it on the PATH)")
    return found


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promtool and return how it ended."""
    command = [program("promtool"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


class Prometheus:
    """A server that scrapes; how tests ask it."""

    def __init__(self, base: str) -> None:
        self._base = base

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series of an instant query. Raises: AssertionError: it was refused."""
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def healthy_targets(self) -> int:
        """Return how many targets were scraped well the last time."""
        return sum(1 for target in self._get("targets")["activeTargets"] if target["health"] == "up")

    def alerts(self) -> set[str]:
        """Return the names of the alerts that are pending or firing."""
        return {alert["labels"]["alertname"] for alert in self._get("alerts")["alerts"]}

    def _get(self, what: str, **parameters: str) -> Any:
        with urllib.request.urlopen(
            f"{self._base}/api/v1/{what}?{urllib.parse.urlencode(parameters)}", timeout=30
        ) as response:
            answer = json.load(response)
        assert answer["status"] == "success", answer
        return answer["data"]

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"{self._base}/-/ready", timeout=5):
                return True
        except OSError:
            return False


@contextmanager
def running_prometheus(folder: Path, targets: Mapping[str, str]) -> Iterator[Prometheus]:
    """Run a server with the chart's rules that scrapes each target, as a job of its own, every second."""
    configuration = {
        "global": {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"},
        "rule_files": [str(RULES / "*.yaml")],
        "scrape_configs": [
            {"job_name": name, "static_configs": [{"targets": [address]}]} for name, address in targets.items()
        ],
    }
    path, port = folder / "prometheus.yaml", free_port()
    path.write_text(yaml.safe_dump(configuration), "utf-8")
    command = [program("prometheus"), f"--config.file={path}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage", "--log.level=warn"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    prometheus = Prometheus(f"http://127.0.0.1:{port}")
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not prometheus.is_ready():
            assert process.poll() is None, (folder / "prometheus.log").read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(POLL_SECONDS)
        yield prometheus
    finally:
        process.terminate()
        process.wait(timeout=WAIT_SECONDS)
