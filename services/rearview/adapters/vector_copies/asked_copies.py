"""Copies of the vectors of namespaces that are asked often, kept up to date and within a bound."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.vector_copies.vector_copy import VectorCopy
from rearview.adapters.vector_copies.vector_list import BYTES_BESIDE
from rearview.domain.errors import RearviewError
from rearview.ports.vector_copies import CopyPlace, NearUnits, VectorSource

LEAST_UNITS = 1_000
"""In smaller namespaces the database compares all in less time than a copy saves."""

PAGE_UNITS = 2_000
MOST_CHANGES = 20_000
"""After more changes than these a copy is made anew."""

_ASKED_TIMES = 2
_MOST_ASKED = 10_000
_LARGEST_SHARE = 0.5
_LONGEST_UNREAD_SECONDS = 600.0  # a third of the time for which changes are kept
_LOOKS_WHILE_IDLE = 20
_PAUSE_SECONDS = 30.0
_MOST_DISCARDED = 0.5
_INLINE_UNITS = 20_000
_FIRST = UUID(int=0)


@dataclass(slots=True)
class _Held:
    """A copy in use; times are monotonic seconds."""

    copy: VectorCopy
    asked_at: float
    read_at: float
    renewing: asyncio.Task[None] | None = None


class AskedCopies:
    """The `VectorCopies` port. Use as a context.

    A namespace gets a copy when it is asked for the second time within `idle_seconds`, and loses it after as long
    without a question, or when others need the room; of all bytes one copy takes at most half.
    """

    def __init__(
        self,
        source: VectorSource,
        *,
        capacity_bytes: int,
        least_units: int = LEAST_UNITS,
        renew_seconds: float = 2.0,
        idle_seconds: float = 600.0,
        on_change: Callable[[int, int], None] = lambda _copies, _bytes: None,
        on_answer: Callable[[bool], None] = lambda _by_copy: None,
    ) -> None:
        """Describe the copies. One is brought up to date when it is asked `renew_seconds` after it was last; what
        changed since then the database compares itself. `on_change` is told how many there are and their bytes,
        `on_answer` of each question whether a copy answered it."""
        self._source = source
        self._capacity_bytes = capacity_bytes
        self._least_units = least_units
        self._renew_seconds = renew_seconds
        self._idle_seconds = idle_seconds
        self._on_change = on_change
        self._on_answer = on_answer
        self._held: OrderedDict[CopyPlace, _Held] = OrderedDict()
        self._asked: OrderedDict[CopyPlace, tuple[int, float]] = OrderedDict()
        self._making: asyncio.Task[None] | None = None
        self._tending: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._tending = asyncio.create_task(self._tend())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = [self._tending, self._making, *(held.renewing for held in self._held.values())]
        running = [task for task in tasks if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._held.clear()

    async def nearest(self, place: CopyPlace, vector: NDArray[np.float32], limit: int) -> NearUnits | None:
        """Return the `limit` nearest units of each language, or all there are; None where there is no copy."""
        held = self._held.get(place)
        now = time.monotonic()
        if held is not None and now - held.read_at > _LONGEST_UNREAD_SECONDS:
            self._drop(place)
            held = None
        self._on_answer(held is not None)
        if held is None:
            return None
        held.asked_at = now
        self._held.move_to_end(place)
        if now - held.read_at > self._renew_seconds and held.renewing is None:
            held.renewing = asyncio.create_task(self._renew(place, held))
        copy = held.copy
        if len(copy) <= _INLINE_UNITS:
            return copy.nearest(vector, limit)
        return await asyncio.to_thread(copy.nearest, vector, limit)

    def asked(self, place: CopyPlace, units: int) -> None:
        """Take note that a namespace of so many units was searched: one that is asked again gets a copy."""
        if place in self._held or units < self._least_units:
            return
        now = time.monotonic()
        times, since = self._asked.pop(place, (0, now))
        if now - since > self._idle_seconds:
            times, since = 0, now
        self._asked[place] = times + 1, since
        if len(self._asked) > _MOST_ASKED:
            self._asked.popitem(last=False)
        if times + 1 >= _ASKED_TIMES and since <= now and self._making is None:
            self._making = asyncio.create_task(self._make(place, units))

    async def settled(self) -> None:
        """Wait until what is being made or renewed is done."""
        while running := [
            task for task in (self._making, *(held.renewing for held in self._held.values())) if task is not None
        ]:
            await asyncio.wait(running)

    async def _make(self, place: CopyPlace, expected_units: int) -> None:
        try:
            made = await self._made(place, expected_units)
        except RearviewError:
            made = None
        finally:
            self._making = None
        now = time.monotonic()
        if made is None:
            self._asked[place] = 0, now + _PAUSE_SECONDS  # it would most likely fail again
            return
        self._asked.pop(place, None)
        copy, read_at = made
        self._held[place] = _Held(copy, asked_at=now, read_at=read_at)
        self._changed()

    async def _made(self, place: CopyPlace, expected_units: int) -> tuple[VectorCopy, float] | None:
        read_at = time.monotonic()
        since = await self._source.moment(place)
        copy: VectorCopy | None = None
        after = _FIRST
        while True:
            page = await self._source.page(place, after, PAGE_UNITS)
            if copy is None:
                dimension = page.vectors.shape[1] if len(page) else 1
                if not self._make_room(expected_units * (dimension + BYTES_BESIDE)):
                    return None
                copy = VectorCopy.empty(dimension, since)
            if len(page):
                copy = await asyncio.to_thread(copy.adding, page)
                after = UUID(bytes=page.ids[-1].tobytes())
            if len(page) < PAGE_UNITS:
                break
            if copy.bytes > self._capacity_bytes * _LARGEST_SHARE:
                return None
        return (copy, read_at) if self._make_room(copy.bytes) else None

    async def _renew(self, place: CopyPlace, held: _Held) -> None:
        try:
            read_at = time.monotonic()
            moment, changed = await self._source.changes(place, held.copy.since, MOST_CHANGES + 1)
            if len(changed) > MOST_CHANGES:
                self._drop(place)
                return
            if changed:
                units = await self._source.units(place, changed)
                held.copy = await asyncio.to_thread(held.copy.brought_up_to, moment, changed, units)
            else:
                held.copy = replace(held.copy, since=moment)
            held.read_at = read_at
            if held.copy.discarded_share > _MOST_DISCARDED or held.copy.bytes > self._capacity_bytes * _LARGEST_SHARE:
                self._drop(place)
            self._changed()
        except RearviewError:
            held.read_at += self._renew_seconds  # the next question tries again
        finally:
            held.renewing = None

    def _make_room(self, wanted: int) -> bool:
        if wanted > self._capacity_bytes * _LARGEST_SHARE:
            return False
        while self._held and sum(held.copy.bytes for held in self._held.values()) + wanted > self._capacity_bytes:
            self._drop(next(iter(self._held)))
        return True

    def _drop(self, place: CopyPlace) -> None:
        held = self._held.pop(place, None)
        if held is not None and held.renewing is not None and held.renewing is not asyncio.current_task():
            held.renewing.cancel()
        self._changed()

    def _changed(self) -> None:
        self._on_change(len(self._held), sum(held.copy.bytes for held in self._held.values()))

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(self._idle_seconds / _LOOKS_WHILE_IDLE)
            with suppress(StopIteration):
                now = time.monotonic()
                while now - (oldest := next(iter(self._held.items())))[1].asked_at > self._idle_seconds:
                    self._drop(oldest[0])
