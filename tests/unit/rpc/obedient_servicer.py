"""A servicer that does what requests tell it to, and how tests call it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest

from rearview.domain import errors
from rearview.rpc.call_context import current_caller, current_request_id, outgoing_metadata, time_left_seconds
from rearview.rpc.errors import from_rpc_error
from rearview.v1 import event_pb2, memory_pb2, memory_service_pb2_grpc
from rearview.v1 import memory_service_pb2 as messages

SERVICE = "rearview.v1.MemoryService"


class Servicer(memory_service_pb2_grpc.MemoryServiceServicer):
    """Does what the name in the request says."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.seen: dict[str, Any] = {}
        self.elsewhere: memory_service_pb2_grpc.MemoryServiceAsyncStub | None = None

    async def GetMemory(self, request: messages.GetMemoryRequest, context: Any) -> memory_pb2.Memory:  # noqa: N802
        self.entered.set()
        what = request.name
        if what == "wait":
            await self.release.wait()
        elif what == "forever":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        elif what == "bug":
            raise ValueError("我的密码是 hunter2")
        elif what == "leaked cancellation":
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future
        elif what == "missing":
            raise errors.NotFound("没有这条记忆", resource_name="namespaces/a/memories/x")
        elif what == "abort":
            await context.abort(grpc.StatusCode.DATA_LOSS, "as it is")
        elif what == "pass on" and self.elsewhere is not None:
            await self.elsewhere.GetMemory(
                messages.GetMemoryRequest(name="bug"), metadata=(("x-request-id", "behind"),)
            )
        self.seen = {"left": time_left_seconds(), "request_id": current_request_id(), "out": outgoing_metadata()}
        return memory_pb2.Memory(name=self.seen["request_id"])

    async def EndSession(self, request: messages.EndSessionRequest, context: Any) -> Any:  # noqa: N802
        return event_pb2.Session(name=current_caller().principal)

    async def ExportMemories(  # noqa: N802
        self, request: messages.ExportMemoriesRequest, context: Any
    ) -> AsyncIterator[messages.ExportMemoriesResponse]:
        try:
            for index in range(3):
                yield messages.ExportMemoriesResponse(line=f"{current_request_id()} {index}")
            if request.parent == "forever":
                await asyncio.Event().wait()
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled.set()
            raise
        if request.include_history:
            raise errors.invalid_field("parent", "坏了")

    async def ImportMemories(  # noqa: N802
        self, requests: AsyncIterator[messages.ImportMemoriesRequest], context: Any
    ) -> messages.ImportMemoriesResponse:
        count = 0
        async for request in requests:
            if request.line == "bad":
                raise errors.invalid_field("line", "不是 JSON")
            count += 1
        return messages.ImportMemoriesResponse(stored_count=count)


def new_servicer() -> Servicer:
    # What it does not define, the generated methods answer; the stubs for type checkers want all of them.
    return Servicer()  # type: ignore[abstract]


def register(servicer: Servicer) -> Any:
    def add(server: grpc.aio.Server) -> list[str]:
        memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(servicer, server)
        return [SERVICE]

    return add


def untyped(make: Any, *args: Any) -> Any:
    return make(*args)


async def failure(call: Any) -> tuple[grpc.aio.AioRpcError, errors.RearviewError]:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return error.value, from_rpc_error(error.value, dependency="test")


async def until_failure(stream: Any) -> tuple[list[str], grpc.aio.AioRpcError]:
    lines: list[str] = []
    try:
        async for response in stream:
            lines += [response.line]
    except grpc.aio.AioRpcError as error:
        return lines, error
    raise AssertionError("the stream ended well")


def get(stub: Any, name: str, **kwargs: Any) -> Any:
    return stub.GetMemory(messages.GetMemoryRequest(name=name), **{"timeout": 20, **kwargs})
