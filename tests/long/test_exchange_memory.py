"""A large export and import in little memory; REARVIEW_EXCHANGE_MEMORIES says how large."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from rearview.client import Client
from rearview.domain.exchange.records import EMPTY_CHECKSUM, End, chained
from rearview.domain.exchange.writing import written
from rearview.domain.ids import new_id
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.exports import exported
from tests.support.supervised_stack import SupervisedStack

MEMORIES = int(os.environ.get("REARVIEW_EXCHANGE_MEMORIES", "200000"))
MEBIBYTE = 1024 * 1024
MOST_GROWTH = 50 * MEBIBYTE
WARM_UP = 2_000


def _lines(manifest: str, memory: dict[str, Any], count: int) -> Iterator[str]:
    checksum = chained(EMPTY_CHECKSUM, manifest)
    yield manifest
    for at in range(count):
        own = str(new_id())
        units = [{**memory["units"][0], "id": own, "terms": [], "weights": []}]
        content = f"第{at}号箱子 holds the winter coats of family {at % 977}, 在{at % 31}号货架"
        line = json.dumps({**memory, "id": own, "content": content, "units": units}, ensure_ascii=False)
        checksum = chained(checksum, line)
        yield line
    yield written(End(0, count, checksum))


def _resident(stack: SupervisedStack) -> dict[str, int]:
    return {
        name: psutil.Process(pid).memory_info().rss
        for name, pid in stack.child_pids().items()
        if name in ("gateway", "retriever", "writer")
    }


def test_memory_does_not_grow_with_what_is_exported_or_imported(
    admin: Client, stack: SupervisedStack, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    client, full = in_fresh_namespace(admin), in_fresh_namespace(admin)
    client.remember("第一号箱子 holds the winter coats")
    manifest, memory, _ = exported(client, tmp_path / "one.jsonl")
    file = tmp_path / "many.jsonl"

    def filled(count: int) -> None:
        text = json.dumps({**manifest, "export_id": str(new_id())})
        with file.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in _lines(text, memory, count))

    own = psutil.Process()
    filled(WARM_UP)
    full.import_memories(file)
    sum(1 for _ in full.export_memories())
    before, before_own = _resident(stack), own.memory_info().rss
    filled(MEMORIES)
    assert full.import_memories(file).stored_count == MEMORIES
    imported, imported_own = _resident(stack), own.memory_info().rss
    assert sum(1 for _ in full.export_memories()) == WARM_UP + MEMORIES + 2
    after, after_own = _resident(stack), own.memory_info().rss
    growth = {
        "import": {**{name: imported[name] - before[name] for name in before}, "client": imported_own - before_own},
        "export": {**{name: after[name] - imported[name] for name in before}, "client": after_own - imported_own},
    }
    in_mebibytes = {step: {name: size // MEBIBYTE for name, size in sizes.items()} for step, sizes in growth.items()}
    record_property("growth_mebibytes", in_mebibytes)
    assert all(size < MOST_GROWTH for size in growth["export"].values()), in_mebibytes
