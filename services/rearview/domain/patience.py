"""Waiting for something no longer than whoever asked waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_given_up: set[asyncio.Task[Any]] = set()


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns, and raise what it raises.

    Work that takes longer is cancelled, and not waited for: to stop a statement, a database that answers late takes
    another second, which nobody has. It keeps its connection until then, so the pool it is from bounds how much of it
    there can be.

    Raises:
        TimeoutError: it took longer.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        _give_up(task)
        raise
    if not done:
        _give_up(task)
        raise TimeoutError
    return task.result()


def _give_up(task: asyncio.Task[Any]) -> None:
    task.cancel()
    _given_up.add(task)
    task.add_done_callback(_ended)


def _ended(task: asyncio.Task[Any]) -> None:
    _given_up.discard(task)
    if not task.cancelled():
        task.exception()  # has been seen: nobody waits for it any more
