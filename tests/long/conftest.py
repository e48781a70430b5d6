"""Runs too long for every day, on a stack like that of the acceptance tests; each has a target of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.acceptance.conftest import WHOLE_STACK, admin, endpoints
from tests.support.supervised_stack import SupervisedStack, throwaway_stack

__all__ = ["admin", "endpoints", "stack"]

START_SECONDS = 600.0


@contextmanager
def whole_stack() -> Iterator[SupervisedStack]:
    """A stack with nothing in it.

    It exports no traces: they would fill this process, whose memory is measured. Recalls are not counted as use for the
    day, so that two stacks that are asked the same hold the same, however fast each of them is.
    """
    with throwaway_stack(
        "long", WHOLE_STACK, environment={"REARVIEW_DRAIN_COUNTS_SECONDS": "86400"}, wait_seconds=START_SECONDS
    ) as opened:
        yield opened


@pytest.fixture(scope="session")
def stack() -> Iterator[SupervisedStack]:
    """The first stack of the run."""
    with whole_stack() as opened:
        yield opened
