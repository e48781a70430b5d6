"""A real gRPC server that stands in for an internal service: it records calls and answers as it is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from rearview.domain.principal import Caller
from rearview.internal.v1 import lifecycle_service_pb2, retriever_service_pb2, writer_service_pb2
from rearview.rpc.call_context import current_caller, current_request_id, time_left_seconds
from rearview.rpc.interceptors import ErrorInterceptor, IdentityInterceptor
from rearview.rpc.internal_keys import parse_internal_keys

SERVICES = {
    "writer": writer_service_pb2.DESCRIPTOR.services_by_name["WriterService"],
    "retriever": retriever_service_pb2.DESCRIPTOR.services_by_name["RetrieverService"],
    "lifecycle": lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"],
}


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """What arrived: `request` is a list of messages where the method takes a stream."""

    method: str
    request: Any
    caller: Caller
    request_id: str
    time_left_seconds: float | None
    traceparent: str


@dataclass
class RecordingBackend:
    """`answers` gives a method's answer by its name: a message, a list of messages for a stream, or an error to raise.
    Methods without an entry answer with an empty message. `cut_off` is set when a call is cancelled in its delay."""

    name: str
    internal_key: str
    port: int = 0
    calls: list[RecordedCall] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    credentials: Callable[[], grpc.ServerCredentials] | None = None
    delay_seconds: float = 0.0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    cut_off: asyncio.Event = field(default_factory=asyncio.Event)
    _server: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def last(self) -> RecordedCall:
        return self.calls[-1]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve on `port` (a free one at first) as long as the context lasts."""
        server = grpc.aio.server(
            interceptors=[ErrorInterceptor(), IdentityInterceptor(self.name, parse_internal_keys(self.internal_key))]
        )
        self._register(server)
        servicer = health.aio.HealthServicer()
        await servicer.set("", health_pb2.HealthCheckResponse.SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        self.port = (
            server.add_insecure_port(self.address)
            if self.credentials is None
            else server.add_secure_port(self.address, self.credentials())
        )
        await server.start()
        self._server = server
        try:
            yield
        finally:
            await server.stop(0)

    async def die(self) -> None:
        """Stop serving before the context ends."""
        if self._server is not None:
            await self._server.stop(0)

    def _register(self, server: grpc.aio.Server) -> None:
        service = SERVICES[self.name]
        pool = descriptor_pool.Default()
        handlers = {}
        for method in service.methods:
            request_type = message_factory.GetMessageClass(pool.FindMessageTypeByName(method.input_type.full_name))
            response_type = message_factory.GetMessageClass(pool.FindMessageTypeByName(method.output_type.full_name))
            make: Callable[..., Any] = getattr(
                grpc,
                f"{'stream' if method.client_streaming else 'unary'}_"
                f"{'stream' if method.server_streaming else 'unary'}_rpc_method_handler",
            )
            behaviour = self._stream if method.server_streaming else self._unary
            handlers[method.name] = make(
                behaviour(method.name, response_type),
                request_deserializer=request_type.FromString,
                response_serializer=response_type.SerializeToString,
            )
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))

    def _unary(self, method: str, response_type: type[Any]) -> Callable[..., Any]:
        async def behaviour(request: Any, context: Any) -> Any:
            await self._record(method, request, context)
            return self._answer(method, response_type())

        return behaviour

    def _stream(self, method: str, response_type: type[Any]) -> Callable[..., Any]:
        async def behaviour(request: Any, context: Any) -> AsyncIterator[Any]:
            await self._record(method, request, context)
            for answer in self._answer(method, [response_type()]):
                yield answer

        return behaviour

    async def _record(self, method: str, request: Any, context: Any) -> None:
        if hasattr(request, "__aiter__"):
            request = [message async for message in request]
        metadata = dict(context.invocation_metadata())
        self.calls.append(
            RecordedCall(
                method,
                request,
                current_caller(),
                current_request_id(),
                time_left_seconds(),
                str(metadata.get("traceparent", "")),
            )
        )
        self.arrived.set()
        try:
            await asyncio.sleep(self.delay_seconds)
        except asyncio.CancelledError:
            self.cut_off.set()
            raise

    def _answer(self, method: str, default: Any) -> Any:
        answer = self.answers.get(method, default)
        if isinstance(answer, Exception):
            raise answer
        return answer


@asynccontextmanager
async def three_backends(
    internal_key: str, credentials: Callable[[], grpc.ServerCredentials] | None = None
) -> AsyncIterator[dict[str, RecordingBackend]]:
    """Serve a writer, a retriever and a lifecycle service; by name."""
    async with AsyncExitStack() as stack:
        backends = {name: RecordingBackend(name, internal_key, credentials=credentials) for name in SERVICES}
        for backend in backends.values():
            await stack.enter_async_context(backend.serving())
        yield backends
