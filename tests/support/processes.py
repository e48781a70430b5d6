"""Which processes of a stack still run."""

import contextlib
from collections.abc import Iterable

import psutil

from rearview.embedded.processes import is_running


def running(pids: Iterable[int]) -> list[psutil.Process]:
    """Return those of the processes that run."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return [process for process in found if is_running(process)]
