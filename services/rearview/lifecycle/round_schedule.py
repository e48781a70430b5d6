"""Rounds at intervals, for as long as the process runs. One that fails is tried again at its next time."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import structlog

from rearview.domain.errors import RearviewError

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Round:
    """Something to be done every `interval_seconds`; returns how much there was to do."""

    name: str
    interval_seconds: float
    run: Callable[[], Awaitable[int]]


class RoundSchedule:
    """Runs rounds beside each other. Replicas start theirs at different moments."""

    def __init__(self, rounds: Sequence[Round], *, on_end: Callable[[str, bool], None] = lambda _name, _well: None):
        self._rounds = rounds
        self._on_end = on_end

    @property
    def names(self) -> list[str]:
        """The names of the rounds."""
        return [each.name for each in self._rounds]

    async def run(self) -> NoReturn:
        """Run until cancelled. `on_end` is told the name of each round that ended, and whether it went well."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._rounds:
                tasks.create_task(self._repeat(each), name=f"round {each.name}")
        raise AssertionError("rounds do not end by themselves")

    async def _repeat(self, each: Round) -> NoReturn:
        await asyncio.sleep(each.interval_seconds * random.random())  # noqa: S311 -- spreads load, keeps no secret
        while True:
            try:
                done = await each.run()
            except RearviewError as error:
                _log.warning("a round failed", round=each.name, reason=error.reason, error=error.message)
                self._on_end(each.name, False)
            except Exception as error:  # noqa: BLE001 -- a bug in one round must not end the others
                _log.error("a round failed", round=each.name, exc_info=error)
                self._on_end(each.name, False)
            else:
                if done:
                    _log.info("round", round=each.name, done=done)
                self._on_end(each.name, True)
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # a library on the way may have kept it to itself
                raise asyncio.CancelledError
            await asyncio.sleep(each.interval_seconds)
