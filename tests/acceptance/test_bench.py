"""`rearview bench` on the running stack."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import last_json, rearview
from tests.support.supervised_stack import SupervisedStack

SHARED_KEYS = {
    *("p50_ms", "p95_ms", "p99_ms", "per_s", "memories", "clients", "bytes_per_memory", "peak_rss_mb"),
    *("writer_rss_mb", "writer_rss_growth"),
}

RECALL_KEYS = {"queries", "neighbours", "filled", "recall@10", "recall@100"}


def bench(stack: SupervisedStack, *arguments: str) -> dict[str, Any]:
    """Run a benchmark and return its figures; its progress may not be among them."""
    result = rearview(stack.folder.root, "bench", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1
    return last_json(result)


@pytest.mark.parametrize("what", ["append", "ingest"])
def test_writing_is_measured(stack: SupervisedStack, what: str) -> None:
    figures = bench(stack, what, "--memories", "25", "--clients", "2")
    assert set(figures) == SHARED_KEYS
    assert (figures["memories"], figures["clients"]) == (25, 2)
    assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
    assert figures["per_s"] > 0
    assert figures["peak_rss_mb"] > 100


def test_the_wait_beside_a_backlog_is_measured(stack: SupervisedStack) -> None:
    figures = bench(stack, "backlog", "--memories", "30")
    assert figures["memories"] == 30
    assert figures["waiting_first"] >= figures["waiting_last"] >= 0
    assert 0 < figures["alone_p50_ms"] <= figures["alone_p95_ms"]
    assert 0 < figures["beside_p50_ms"] <= figures["beside_p95_ms"]


def test_recall_is_measured(stack: SupervisedStack) -> None:
    figures = bench(stack, "recall", "--memories", "25", "--clients", "2", "--queries", "10")
    assert set(figures) == {*SHARED_KEYS, *RECALL_KEYS}
    assert figures["filled"] == "through the API"
    assert figures["queries"] == 10
    assert figures["recall@10"] is None, "a small namespace is searched exactly"
    assert 0 < figures["p50_ms"] <= figures["p99_ms"]


def test_recall_among_neighbours_is_measured(stack: SupervisedStack, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    lines = [
        f"{thing}放在{place}的{n}号柜子里"
        for n in range(3)
        for place in "东西南北中上下"
        for thing in ("伞", "灯", "画", "书")
    ]
    texts.write_text("\n".join(lines), encoding="utf-8")
    figures = bench(stack, "recall", "--memories", "60", "--neighbours", "90", "--queries", "5", "--texts", str(texts))
    assert figures["filled"] == "in bulk"
    assert figures["neighbours"] == 90
    assert 0 < figures["p50_ms"] <= figures["p99_ms"]


@pytest.mark.parametrize("arguments", [("append", "--memories", "0"), ("recall", "--clients", "0"), ("nonsense",)])
def test_what_cannot_be_measured_is_refused(stack: SupervisedStack, arguments: tuple[str, ...]) -> None:
    assert rearview(stack.folder.root, "bench", *arguments).returncode == 2


@pytest.mark.parametrize(("how", "moved"), [((), range(24, 25)), (("--turns", "3", "--recalls"), range(8, 25))])
def test_moves_between_tiers_are_measured(stack: SupervisedStack, how: tuple[str, ...], moved: range) -> None:
    figures = bench(stack, "tiers", "--memories", "24", *how)
    assert figures["memories"] == 24
    assert figures["moved"] in moved
    assert figures["lost"] == 0
    assert figures["hot_to_warm_per_s"] > 0
    assert figures["warm_to_cold_per_s"] > 0
    assert figures["cold_first_ms"] > 0
    assert 0 < figures["cold_p50_ms"] <= figures["cold_p95_ms"]
    assert figures["cold_answered"] > 0.5
    assert figures["cold_recall@10"] >= 0.99
    beside = {"recall_p95_ms", "recall_p95_ms_hot_to_warm", "recall_p95_ms_warm_to_cold"}
    assert figures.keys() & beside == (beside if "--recalls" in how else set())
