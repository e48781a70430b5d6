"""Fenced blocks of a document that are marked to be run: `<!-- run: name -->` stands before them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

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
