"""A real gRPC server in the test's own event loop, or in a thread of its own for blocking clients."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

import grpc.aio

from rearview.rpc.server import serve

Register = Callable[[grpc.aio.Server], Sequence[str]]


@asynccontextmanager
async def running_server(
    register: Register,
    interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
    *,
    max_message_bytes: int = 1_000_000,
    drain_seconds: float = 5.0,
    max_concurrent_calls: int | None = None,
    readiness: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Yield its address and the event that makes it drain and stop."""
    stop = asyncio.Event()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(
            service="test",
            listen="127.0.0.1:0",
            register=register,
            interceptors=interceptors,
            max_message_bytes=max_message_bytes,
            drain_seconds=drain_seconds,
            max_concurrent_calls=max_concurrent_calls,
            on_started=port.set_result,
            stop=stop,
            readiness=readiness,
        )
    )
    try:
        yield f"127.0.0.1:{await port}", stop
    finally:
        stop.set()
        await task


@contextmanager
def server_in_thread(register: Register, interceptors: Sequence[grpc.aio.ServerInterceptor] = ()) -> Iterator[str]:
    """Yield the address of a server that runs beside the test."""
    address: list[str] = []
    started, finished = threading.Event(), threading.Event()

    async def main() -> None:
        async with running_server(register, interceptors, drain_seconds=0.5) as (at, _):
            address.append(at)
            started.set()
            await asyncio.to_thread(finished.wait)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    started.wait(30)
    try:
        yield address[0]
    finally:
        finished.set()
        thread.join()
