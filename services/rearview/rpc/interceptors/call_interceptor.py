"""One way to stand around a call, whatever its kind: unary or streaming on either side."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
import grpc.aio
from google.protobuf.message import Message

# Generic in the type stubs only.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass(frozen=True, slots=True)
class IncomingCall:
    """A call as it arrived. `method` is the path, `/rearview.v1.MemoryService/Recall`; `streaming` if there may be more
    than one message either way; `request` None where it is a stream, or no message that can be served."""

    method: str
    metadata: dict[str, str | bytes]
    context: Context
    streaming: bool = False
    request: Any = None

    @property
    def method_name(self) -> str:
        """The method without its service, `Recall`."""
        return self.method.rpartition("/")[2]

    @property
    def is_of_platform(self) -> bool:
        """True for the methods of grpc itself: health, reflection, channelz."""
        return self.method.startswith("/grpc.")

    def text(self, key: str) -> str:
        """Return a metadata value; empty when it is missing or binary."""
        value = self.metadata.get(key, "")
        return value if isinstance(value, str) else ""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Runs `around` as a context around every call; what the handler raises passes through it."""

    @abstractmethod
    def around(self, call: IncomingCall) -> AbstractAsyncContextManager[None]:
        """Return the context in which the call is served."""

    async def within_limits(self, step: Awaitable[Any]) -> Any:
        """Await one step of the handler: its answer, or one item of its stream."""
        return await step

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the method's handler, wrapped; of unknown methods nothing, so that grpc answers UNIMPLEMENTED.

        The handler is kept (see `KnownHandlers`), so nothing of one call may go into it.
        """
        handler = await continuation(handler_call_details)
        if handler is None:
            return handler
        method = handler_call_details.method
        return rebuilt(handler, lambda behaviour: self._wrapped(behaviour, handler, method))

    def _wrapped(self, behaviour: Callable[..., Any], handler: Handler, method: str) -> Callable[..., Any]:
        streaming = bool(handler.request_streaming or handler.response_streaming)

        def incoming(request: Any, context: Context) -> IncomingCall:
            metadata = dict(context.invocation_metadata() or ())
            return IncomingCall(method, metadata, context, streaming, _message_of(request))

        async def answer(request: Any, context: Context) -> Any:
            async with self.around(incoming(request, context)):
                return await self.within_limits(behaviour(request, context))

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            async with self.around(incoming(request, context)):
                items = behaviour(request, context)
                while True:
                    try:
                        item = await self.within_limits(anext(items))
                    except StopAsyncIteration:
                        return
                    yield item

        # A streaming method may also be a coroutine that writes to the context, as health's Watch is.
        return stream if handler.response_streaming and not inspect.iscoroutinefunction(behaviour) else answer


def _message_of(request: Any) -> Any:
    """Return a request that is one message; None for a stream, or what stands in for one that is refused."""
    return request if isinstance(request, Message) else None


def rebuilt(
    handler: Handler,
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]],
    request_deserializer: Callable[[bytes], Any] | None = None,
) -> Handler:
    """Return a handler of the same kind around a wrapped behaviour."""
    kinds: dict[tuple[bool, bool], tuple[Callable[..., Any], Callable[..., Any] | None]] = {
        (False, False): (grpc.unary_unary_rpc_method_handler, handler.unary_unary),
        (False, True): (grpc.unary_stream_rpc_method_handler, handler.unary_stream),
        (True, False): (grpc.stream_unary_rpc_method_handler, handler.stream_unary),
        (True, True): (grpc.stream_stream_rpc_method_handler, handler.stream_stream),
    }
    make, behaviour = kinds[handler.request_streaming, handler.response_streaming]
    assert behaviour is not None  # noqa: S101 - a handler has the behaviour of its kind
    made: Handler = make(
        wrap(behaviour),
        request_deserializer=request_deserializer or handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
    return made
