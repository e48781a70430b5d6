"""Waiting for what another task or process will do."""

import asyncio
import time
from collections.abc import Awaitable, Callable

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.02


async def wait_until(condition: Callable[[], bool | Awaitable[bool]], what: str) -> None:
    """Return when the condition holds; fail when it does not within a minute."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        holds = condition()
        if holds if isinstance(holds, bool) else await holds:
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        await asyncio.sleep(POLL_SECONDS)
