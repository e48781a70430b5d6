"""Leaves the process's logging as it was."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

SWITCHES = ("raiseExceptions", "_srcfile", "logThreads", "logProcesses", "logMultiprocessing")


@contextmanager
def restored_logging() -> Iterator[None]:
    """Undo within the test what `configure_logging` sets for a process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    switches = {name: getattr(logging, name) for name in SWITCHES}
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, value in switches.items():
            setattr(logging, name, value)
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()
