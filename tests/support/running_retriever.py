"""A retriever in this process, over a real database and Valkey."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from rearview.ports.clock import Clock
from rearview.ports.reranker import Reranker
from rearview.retriever.app import run_retriever
from rearview.retriever.config import RetrieverConfig
from tests.support.stack import DatabaseUrls


@asynccontextmanager
async def running_retriever(
    database: DatabaseUrls,
    redis_url: str,
    internal_key: str,
    *,
    clock: Clock | None = None,
    reranker: Reranker | None = None,
    **settings: Any,
) -> AsyncIterator[str]:
    """Serve a retriever on a free port as long as the context lasts; yield its address."""
    config = RetrieverConfig(
        listen="127.0.0.1:0",
        database_url=SecretStr(database.service),
        redis_url=SecretStr(redis_url),
        internal_key=SecretStr(internal_key),
        drain_seconds=1,
        **settings,
    )
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    task = asyncio.create_task(
        run_retriever(config, clock=clock, reranker=reranker, on_started=started.set_result, stop=stop)
    )

    def tell_end(ended: asyncio.Task[None]) -> None:
        if not started.done():
            started.set_exception(ended.exception() or EOFError("the service ended before it served"))

    task.add_done_callback(tell_end)
    try:
        yield f"127.0.0.1:{await started}"
    finally:
        stop.set()
        await task
