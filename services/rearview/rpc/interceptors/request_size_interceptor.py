"""Requests that are too large, or no messages at all, are refused with the documented errors.

grpc's own limit ends a call before any interceptor sees it, with a code of its own. So the server's transport limit
is twice the documented one, and the documented one is checked here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from rearview.domain.errors import RearviewError, RequestTooLarge, invalid_field
from rearview.rpc.interceptors.call_interceptor import Context, Handler, rebuilt


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in for a request that cannot be served; raising while decoding would end in grpc's UNKNOWN."""

    error: RearviewError


class RequestSizeInterceptor(grpc.aio.ServerInterceptor):
    """Innermost: decodes requests, and raises RequestTooLarge or InvalidFields in the handler's place."""

    def __init__(self, max_message_bytes: int) -> None:
        self._limit_bytes = max_message_bytes

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the method's handler with a decoder that never raises."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith("/grpc."):
            return handler
        return rebuilt(handler, lambda behaviour: _checking(behaviour, handler), self._decoder(handler))

    def _decoder(self, handler: Handler) -> Callable[[bytes], Any]:
        decode = handler.request_deserializer

        def checked(octets: bytes) -> Any:
            if len(octets) > self._limit_bytes:
                return _Refused(
                    RequestTooLarge(
                        f"the request is too large: {len(octets)} bytes of at most {self._limit_bytes}",
                        size_bytes=str(len(octets)),
                        limit_bytes=str(self._limit_bytes),
                    )
                )
            try:
                return decode(octets) if decode else octets
            except DecodeError:
                return _Refused(invalid_field("", "the request is not a message of the method's type"))

        return checked


def _checking(behaviour: Callable[..., Any], handler: Handler) -> Callable[..., Any]:
    accepted: Callable[[Any], Any] = _each_accepted if handler.request_streaming else _accepted

    async def answer(request: Any, context: Context) -> Any:
        return await behaviour(accepted(request), context)

    async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
        async for item in behaviour(accepted(request), context):
            yield item

    return stream if handler.response_streaming else answer


def _accepted(request: Any) -> Any:
    if isinstance(request, _Refused):
        raise request.error
    return request


async def _each_accepted(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _accepted(request)
