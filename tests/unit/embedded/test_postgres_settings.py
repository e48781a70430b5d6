"""PostgreSQL's settings for machines of all sizes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rearview.embedded import postgres_settings
from rearview.embedded.postgres_settings import GIB, render, settings


@pytest.mark.parametrize(
    ("memory", "shared_buffers", "work_mem"),
    [(GIB // 8, "64MB", "4MB"), (GIB, "256MB", "8MB"), (4 * GIB, "1024MB", "32MB"), (256 * GIB, "2048MB", "64MB")],
)
def test_memory_is_shared_out_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, shared_buffers: str, work_mem: str
) -> None:
    monkeypatch.setattr(postgres_settings, "memory_bytes", lambda: memory)
    values = settings(tmp_path, 5432, "../run")
    assert values["shared_buffers"] == shared_buffers
    assert values["work_mem"] == work_mem
    assert values["jit"] == "off"
    assert values["random_page_cost"] == "1.1"
    assert values["listen_addresses"] == "127.0.0.1"


def test_a_small_shared_memory_limits_index_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_settings, "memory_bytes", lambda: 64 * GIB)
    monkeypatch.setattr(postgres_settings, "SHARED_MEMORY_FOLDER", tmp_path)

    class Usage:
        free = 64 * 1024 * 1024

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    assert settings(tmp_path, 5432, "../run")["maintenance_work_mem"] == "32MB"


def test_values_are_quoted() -> None:
    assert "a = 'it''s \\\\ here'" in render({"a": "it's \\ here"})
