"""Structured logs on standard error, as JSON or for people; the logs of libraries take the same way.

Texts of exceptions may quote what a user wrote, so tracebacks here show types and places, and the messages of the
project's own errors only, which never hold content.
"""

import logging
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor

from rearview.domain.errors import RearviewError
from rearview.telemetry.trace_context import current_trace

LogFormat = Literal["json", "console"]

_MAX_FRAMES = 40


def configure_logging(
    service: str, *, level: str = "info", log_format: LogFormat = "json", stream: TextIO | None = None
) -> None:
    """Send all logs of the process to `stream` (standard error), each with service, time and what is bound to the task.

    Raises:
        ValueError: `level` is not the name of a level.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"unknown log level {level!r}")

    def with_service(_logger: Any, _method: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    file, render = stream or sys.stderr, _renderer(log_format)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        with_service,
        _with_trace,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_exception_texts,
    ]
    handler = logging.StreamHandler(file)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    # A handler that fails would print the whole exception that was being logged, texts included, to standard error.
    logging.raiseExceptions = False
    # No format here asks where in the code a line was logged, nor by which thread or process; finding that out
    # is a quarter of what a line costs, and every call logs one. The switches are those of the library's manual.
    logging._srcfile = ""
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    # Every call logs a line, which costs more than twice as much on the way through the library's own loggers.
    structlog.configure(
        processors=[*shared, render],
        logger_factory=lambda *names: _Lines(file, *names),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=False,
    )


class _Lines(structlog.WriteLogger):
    """Writes lines; who logs is not to fail because nobody reads them any more."""

    def __init__(self, file: TextIO, name: str = "root") -> None:
        super().__init__(file)
        self.name = name

    def msg(self, message: str) -> None:
        """Write a line, without the lock of the base: a finalizer that logs meanwhile would wait for it."""
        with suppress(OSError, ValueError, RuntimeError):
            self._write(f"{message}\n")
            self._flush()

    debug = info = warning = error = critical = msg


def describe_exception(error: BaseException) -> str:
    """Return types and places of an exception and its causes, innermost last, without their texts."""
    parts: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(current.__traceback__)[-_MAX_FRAMES:]
        lines = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        kind = f"{type(current).__module__}.{type(current).__qualname__}"
        text = f": {current.message}" if isinstance(current, RearviewError) else ""
        parts.append("\n".join([*lines, f"{kind}{text}"]))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\ncaused by\n".join(parts)


def _with_trace(_logger: Any, _method: str, event: EventDict) -> EventDict:
    trace = current_trace()
    if trace is not None:
        event.setdefault("trace_id", trace.trace_id)
    return event


def _without_exception_texts(_logger: Any, _method: str, event: EventDict) -> EventDict:
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["exception"] = describe_exception(error)
    return event


def _renderer(log_format: LogFormat) -> Processor:
    if log_format == "console":
        return structlog.dev.ConsoleRenderer(colors=False)
    return structlog.processors.JSONRenderer(ensure_ascii=False)
