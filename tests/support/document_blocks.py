"""Fenced blocks of a document that are marked to be run: `<!-- run: name -->` stands before them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.supervised_stack import environment

TIMEOUT_SECONDS = 300
_PROGRAMS = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}

MARKED = re.compile(r"<!-- run: (?P<name>[a-z0-9-]+) -->\n```(?P<language>[a-z]+)\n(?P<code>.*?)```", re.DOTALL)
MARK = re.compile(r"<!-- run: ([a-z0-9-]+) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block that is marked to be run."""

    name: str
    language: str
    code: str


def blocks(document: Path) -> dict[str, Block]:
    """Return the marked blocks by name."""
    text = document.read_text(encoding="utf-8")
    return {found["name"]: Block(**found.groupdict()) for found in MARKED.finditer(text)}


def marks(document: Path) -> set[str]:
    """Return the names of all marks, whether a block follows them or not."""
    return set(MARK.findall(document.read_text(encoding="utf-8")))


def run_block(block: Block, folder: Path, **variables: str) -> str:
    """Run a block in a folder as a reader would; return what it writes. Fails when it does."""
    result = subprocess.run(
        [*_PROGRAMS[block.language], block.code],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def assert_shows(output: str, pieces: Sequence[str]) -> None:
    """Check that an output holds pieces of text in their order."""
    rest = output
    for piece in pieces:
        assert piece in rest, output
        rest = rest.split(piece, 1)[1]
