"""What docs/export-import.md tells people to type does what it says."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_exchange import HINDSIGHT, MEM0
from tests.support.document_blocks import blocks, marks, run_block
from tests.support.left_as_found import left_as_found
from tests.support.supervised_stack import ROOT, SupervisedStack

DOCUMENT = ROOT / "docs/export-import.md"
BLOCKS = blocks(DOCUMENT)


@pytest.fixture
def home(tmp_path: Path, stack: SupervisedStack) -> Path:
    """A folder with the command on its path, the stack beside it and the files that the document speaks of."""
    command = tmp_path / "rearview"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rearview.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    (tmp_path / ".rearview").symlink_to(stack.folder.root)
    (tmp_path / "mem0.json").write_text(json.dumps(MEM0), encoding="utf-8")
    (tmp_path / "hindsight.json").write_text(json.dumps(HINDSIGHT), encoding="utf-8")
    return tmp_path


def run(home: Path, name: str) -> str:
    return run_block(BLOCKS[name], home, PATH=f"{home}:{os.environ['PATH']}")


def test_every_block_runs(home: Path, stack: SupervisedStack) -> None:
    assert set(BLOCKS) == marks(DOCUMENT)
    with left_as_found(stack):
        assert "沙发的预算是八千元" in run(home, "files")
        assert run(home, "client").splitlines()[-1].split()[2] == "0"
        assert run(home, "peers").count("stored_count") == 2
