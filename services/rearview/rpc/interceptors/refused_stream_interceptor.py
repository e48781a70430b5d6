"""A refused stream of requests is read to its end, so that its sender hears why.

A server that ends a call while the caller is still sending makes the caller's next send fail, and grpc.aio then
reports INTERNAL from its own core instead of the status that the server gave. It stands directly within the one that
tells errors, so that whoever is refused further in - without a credential, too large - is heard out as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio

from rearview.rpc.interceptors.call_interceptor import Context, Handler, rebuilt

DRAIN_SECONDS = 2.0
"""Who sends for longer than this after the refusal may miss its reason."""


class RefusedStreamInterceptor(grpc.aio.ServerInterceptor):
    """Reads what is left of a request stream before an error leaves the handler."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the method's handler, which for a stream of requests hears the stream out."""
        handler = await continuation(handler_call_details)
        if handler is None or not handler.request_streaming or handler_call_details.method.startswith("/grpc."):
            return handler
        return rebuilt(handler, lambda behaviour: _hearing_out(behaviour, streaming=handler.response_streaming))


def _hearing_out(behaviour: Callable[..., Any], *, streaming: bool) -> Callable[..., Any]:
    async def answer(requests: AsyncIterator[Any], context: Context) -> Any:
        try:
            return await behaviour(requests, context)
        except Exception:
            await _read_to_the_end(requests)
            raise

    async def stream(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        try:
            async for item in behaviour(requests, context):
                yield item
        except Exception:
            await _read_to_the_end(requests)
            raise

    return stream if streaming else answer


async def _read_to_the_end(requests: AsyncIterator[Any]) -> None:
    # Whatever goes wrong with the rest, the caller is told what went wrong first.
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in requests:
                pass
