"""What the README tells people to type works as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.supervised_stack import ROOT, SupervisedStack, environment

README = ROOT / "README.md"
MARKED = re.compile(r"<!-- run: (?P<name>[a-z0-9-]+) -->\n```(?P<language>[a-z]+)\n(?P<code>.*?)```", re.DOTALL)
MARK = re.compile(r"<!-- run: ([a-z0-9-]+) -->")
TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block that is marked to be run."""

    name: str
    language: str
    code: str


def blocks() -> dict[str, Block]:
    text = README.read_text(encoding="utf-8")
    return {found["name"]: Block(**found.groupdict()) for found in MARKED.finditer(text)}


BLOCKS = blocks()
# What the output of each block must show, in this order.
EXPECTED = {
    "first-grpcurl": ["我对花生过敏。My order is A2026-0815.", '"hits"', "我对花生过敏", '"context"'],
    "first-python": ["electrician only works before noon"],
}


@pytest.fixture
def newcomers_folder(tmp_path: Path, stack: SupervisedStack) -> Path:
    """A folder like the repository after `make up`: with .venv and .rearview in it."""
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    (tmp_path / ".rearview").symlink_to(stack.folder.root)
    return tmp_path


def test_every_mark_stands_before_a_block_that_is_known_here() -> None:
    assert set(MARK.findall(README.read_text(encoding="utf-8"))) == set(BLOCKS) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_block_runs(newcomers_folder: Path, name: str) -> None:
    block = BLOCKS[name]
    program = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[block.language]
    result = subprocess.run(
        [*program, block.code],
        cwd=newcomers_folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert result.returncode == 0, result.stderr
    rest = result.stdout
    for piece in EXPECTED[name]:
        assert piece in rest, result.stdout
        rest = rest.split(piece, 1)[1]
