"""`rearview bench` on the running stack."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.supervised_stack import ROOT, SupervisedStack, environment

SHARED_KEYS = {"p50_ms", "p95_ms", "p99_ms", "per_s", "memories", "clients", "bytes_per_memory", "peak_rss_mb"}


def bench(stack: SupervisedStack, *arguments: str) -> tuple[dict[str, Any], str]:
    """Run a benchmark and return its figures and what it said on stderr."""
    result = subprocess.run(
        [sys.executable, "-m", "rearview.cli", "bench", *arguments, "--json", "--data-dir", str(stack.folder.root)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures, result.stderr


@pytest.mark.parametrize("what", ["append", "ingest"])
def test_writing_is_measured(stack: SupervisedStack, what: str) -> None:
    figures, _ = bench(stack, what, "--memories", "25", "--clients", "2")
    assert set(figures) == SHARED_KEYS
    assert (figures["memories"], figures["clients"]) == (25, 2)
    assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
    assert figures["per_s"] > 0
    assert figures["peak_rss_mb"] > 100


def test_recall_is_measured(stack: SupervisedStack) -> None:
    figures, _ = bench(stack, "recall", "--memories", "25", "--clients", "2", "--queries", "10")
    assert set(figures) == {*SHARED_KEYS, "queries", "recall@10"}
    assert figures["queries"] == 10
    assert figures["recall@10"] is None
    assert 0 < figures["p50_ms"] <= figures["p99_ms"]
