"""The worker thread in front of a model."""

import asyncio
import threading
from functools import partial
from typing import Any

import pytest

from rearview.adapters.models.model_thread import ModelThread
from rearview.domain.embedding_errors import ModelClosed, ModelOverloaded


async def held_thread(**bounds: Any) -> tuple[ModelThread, threading.Event, "asyncio.Task[bool]"]:
    """Return a thread that is busy until the event is set."""
    thread = ModelThread("test", **bounds)
    begun, release = threading.Event(), threading.Event()

    def hold() -> bool:
        begun.set()
        return release.wait()

    busy = asyncio.create_task(thread.run(hold))
    await asyncio.to_thread(begun.wait)
    return thread, release, busy


async def test_urgent_work_overtakes_and_order_is_kept() -> None:
    thread, release, _busy = await held_thread()
    done: list[str] = []
    jobs = [asyncio.create_task(thread.run(partial(done.append, name))) for name in ("a", "b")]
    await asyncio.sleep(0)
    jobs.append(asyncio.create_task(thread.run(lambda: done.append("urgent"), urgent=True)))
    await asyncio.sleep(0)
    release.set()
    await asyncio.gather(*jobs)
    assert done == ["urgent", "a", "b"]
    await thread.close()


async def test_work_given_up_before_it_starts_never_runs() -> None:
    thread, release, _busy = await held_thread()
    done: list[str] = []
    given_up = asyncio.create_task(thread.run(lambda: done.append("given up")))
    kept = asyncio.create_task(thread.run(lambda: done.append("kept")))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    release.set()
    await kept
    assert done == ["kept"]
    await thread.close()


async def test_a_failure_belongs_to_its_caller() -> None:
    thread = ModelThread("test")
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0)
    assert await thread.run(lambda: 7) == 7
    await thread.close()


async def test_a_full_queue_refuses() -> None:
    thread, release, _busy = await held_thread(max_waiting=1)
    waiting = asyncio.create_task(thread.run(lambda: 1))
    await asyncio.sleep(0)
    with pytest.raises(ModelOverloaded):
        await thread.run(lambda: 2)
    release.set()
    assert await waiting == 1
    await thread.close()


async def test_closing_finishes_the_running_and_fails_the_waiting() -> None:
    thread, release, busy = await held_thread()
    waiting = asyncio.create_task(thread.run(lambda: 1))
    await asyncio.sleep(0)
    closing = asyncio.create_task(thread.close())
    await asyncio.sleep(0)
    release.set()
    await closing
    assert await busy
    with pytest.raises(ModelClosed):
        await waiting
    with pytest.raises(ModelClosed):
        await thread.run(lambda: 2)


async def test_closing_leaves_a_model_behind_that_hangs() -> None:
    thread, release, busy = await held_thread(close_seconds=0.2)
    waiting = asyncio.create_task(thread.run(lambda: 1))
    await asyncio.sleep(0)
    await asyncio.wait_for(thread.close(), 10)
    with pytest.raises(ModelClosed):
        await asyncio.wait_for(waiting, 10)
    release.set()
    assert await busy
    await asyncio.wait_for(thread.close(), 10)
