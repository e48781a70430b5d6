"""Leaves the process's logging as it was."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def restored_logging() -> Iterator[None]:
    """Undo within the test what `configure_logging` sets for a process."""
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.raiseExceptions = raising
        structlog.reset_defaults()
        structlog.contextvars.clear_contextvars()
