"""What the README tells people to type works as it stands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.document_blocks import assert_shows, blocks, marks, run_block
from tests.support.supervised_stack import ROOT, SupervisedStack

README = ROOT / "README.md"
BLOCKS = blocks(README)
# What the output of each block must show, in this order.
EXPECTED = {
    "first-grpcurl": ["我对花生过敏。My order is A2026-0815.", '"hits"', "我对花生过敏", '"context"'],
    "first-commands": ["created", "The boiler was serviced by 老陈 in March."],
    "first-python": ["electrician only works before noon"],
    "first-mcp": ["The spare key hangs behind the clock."],
}


@pytest.fixture
def newcomers_folder(tmp_path: Path, stack: SupervisedStack) -> Path:
    """A folder like the repository after `make up`: with .venv and .rearview in it."""
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    (tmp_path / ".rearview").symlink_to(stack.folder.root)
    return tmp_path


def test_every_mark_stands_before_a_block_that_is_known_here() -> None:
    assert marks(README) == set(BLOCKS) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_block_runs(newcomers_folder: Path, name: str) -> None:
    assert_shows(run_block(BLOCKS[name], newcomers_folder), EXPECTED[name])
