"""A large export and import in little memory; REARVIEW_EXCHANGE_MEMORIES says how large."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil

from rearview.client import Client
from tests.acceptance.conftest import in_fresh_namespace
from tests.long.report import report
from tests.support.exports import exported, multiplied
from tests.support.supervised_stack import SupervisedStack

MEMORIES = int(os.environ.get("REARVIEW_EXCHANGE_MEMORIES", "200000"))
MEBIBYTE = 1024 * 1024
MOST_GROWTH = 50 * MEBIBYTE
WARM_UP = 2_000


def _resident(stack: SupervisedStack) -> dict[str, int]:
    return {
        name: psutil.Process(pid).memory_info().rss
        for name, pid in stack.child_pids().items()
        if name in ("gateway", "retriever", "writer")
    }


def test_memory_does_not_grow_with_what_is_exported_or_imported(
    admin: Client, stack: SupervisedStack, tmp_path: Path
) -> None:
    client, full = in_fresh_namespace(admin), in_fresh_namespace(admin)
    client.remember("第一号箱子 holds the winter coats")
    manifest, memory, _ = exported(client, tmp_path / "one.jsonl")
    file = tmp_path / "many.jsonl"

    def filled(count: int) -> None:
        texts = (f"第{at}号箱子 holds the winter coats of family {at % 977}, 在{at % 31}号货架" for at in range(count))
        multiplied(file, manifest, memory, texts)

    own = psutil.Process()
    filled(WARM_UP)
    full.import_memories(file)
    sum(1 for _ in full.export_memories())
    before, before_own = _resident(stack), own.memory_info().rss
    filled(MEMORIES)
    began = time.monotonic()
    assert full.import_memories(file).stored_count == MEMORIES
    import_seconds = time.monotonic() - began
    imported, imported_own = _resident(stack), own.memory_info().rss
    began = time.monotonic()
    assert sum(1 for _ in full.export_memories()) == WARM_UP + MEMORIES + 2
    export_seconds = time.monotonic() - began
    after, after_own = _resident(stack), own.memory_info().rss
    growth = {
        "import": {**{name: imported[name] - before[name] for name in before}, "client": imported_own - before_own},
        "export": {**{name: after[name] - imported[name] for name in before}, "client": after_own - imported_own},
    }
    in_mebibytes = {step: {name: size // MEBIBYTE for name, size in sizes.items()} for step, sizes in growth.items()}
    report(
        "memory",
        {
            "memories": MEMORIES,
            "growth_mebibytes": in_mebibytes,
            "import_seconds": round(import_seconds, 1),
            "export_seconds": round(export_seconds, 1),
        },
    )
    assert all(size < MOST_GROWTH for size in growth["export"].values()), in_mebibytes
