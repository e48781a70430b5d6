"""What stands around a method is put together once, not for every call of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import grpc
import grpc.aio

from rearview.rpc.interceptors.call_interceptor import Handler


class KnownHandlers(grpc.aio.ServerInterceptor):
    """Outermost: keeps the handler that all interceptors within have made of a method.

    grpc asks every interceptor anew for each call; none of these decides by the call, so the answers are the same. Only
    methods that are served are kept: callers can make up any number of others.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the method's handler, wrapped by all interceptors; of unknown methods nothing."""
        method = handler_call_details.method
        known = self._handlers.get(method)
        if known is not None:
            return known
        handler = await continuation(handler_call_details)
        if handler is not None:
            self._handlers[method] = handler
        return handler
