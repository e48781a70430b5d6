"""Stacks of their own, for tests that kill and restart them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.supervised_stack import DEPENDENCIES_ONLY, TINY_SERVICES, SupervisedStack, processes_of

MakeStack = Callable[..., SupervisedStack]


@contextmanager
def stack_folder() -> Iterator[Path]:
    """Yield a folder for stacks; afterwards no process may be left that has to do with it."""
    folder = Path(tempfile.mkdtemp(prefix="rearview-stack-"))
    yield folder
    left = processes_of(folder)
    for process in left:
        process.kill()
    shutil.rmtree(folder, ignore_errors=True)
    assert left == []


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for one test's stacks."""
    with stack_folder() as folder:
        yield folder


@pytest.fixture
def dependencies(place: Path) -> Iterator[SupervisedStack]:
    """PostgreSQL, Valkey and S3 under a supervisor; not started yet, ended afterwards."""
    stack = SupervisedStack(place / "data", DEPENDENCIES_ONLY)
    yield stack
    stack.discard()


@pytest.fixture
def make_tiny_stack(place: Path) -> Iterator[MakeStack]:
    """Makes whole stacks with tiny services on one folder; ended afterwards."""
    made: list[SupervisedStack] = []

    def make(*arguments: str, environment: dict[str, str] | None = None) -> SupervisedStack:
        made.append(SupervisedStack(place / "data", [*TINY_SERVICES, *arguments], environment=environment))
        return made[-1]

    yield make
    for stack in made:
        stack.discard()
