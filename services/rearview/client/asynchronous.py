"""The asynchronous client: the blocking one's methods, to be awaited or iterated with `async for`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message
from tenacity import AsyncRetrying

from rearview.client import (
    event_calls,
    exchange_calls,
    lifecycle_calls,
    memory_calls,
    recall_calls,
    session_calls,
    tenancy_calls,
)
from rearview.client.call import Call, Defaults, Pages
from rearview.client.call_metadata import call_metadata
from rearview.client.caller import Caller, ConnectedCaller
from rearview.client.connection import Connection
from rearview.client.retry_policy import Deadline, retry_arguments
from rearview.client.values import encodable
from rearview.rpc.channel import open_channel
from rearview.rpc.errors import from_rpc_error
from rearview.v1 import memory_service_pb2 as pb

P = ParamSpec("P")
T = TypeVar("T")


class AsyncCaller(Caller[grpc.aio.Channel]):
    """Makes calls to be awaited, each within its deadline."""

    async def _run(self, call: Call[T]) -> T:
        deadline = Deadline.after(self._defaults.timeout_seconds)
        invoke = self._channel.unary_unary(
            call.path, request_serializer=type(call.request).SerializeToString, response_deserializer=call.decode
        )

        async def attempt() -> T:
            try:
                answer = await invoke(
                    call.request,
                    timeout=deadline.left_seconds(),
                    metadata=call_metadata(self._connection),
                )
            except grpc.aio.AioRpcError as error:
                raise from_rpc_error(error, dependency="gateway") from error
            return call.result(answer)

        return await AsyncRetrying(**retry_arguments(repeatable=call.repeatable, deadline=deadline))(attempt)

    async def _download(self, path: str, request: Message, decode: Callable[[bytes], T]) -> AsyncIterator[T]:
        invoke = self._channel.unary_stream(
            path, request_serializer=type(request).SerializeToString, response_deserializer=decode
        )
        answers = invoke(request, metadata=call_metadata(self._connection))
        try:
            async for answer in answers:
                yield answer
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, dependency="gateway") from error
        finally:
            answers.cancel()

    async def _upload(self, path: str, messages: Sequence[Message], decode: Callable[[bytes], T]) -> T:
        invoke = self._channel.stream_unary(
            path, request_serializer=type(messages[0]).SerializeToString, response_deserializer=decode
        )
        try:
            return await invoke(
                iter(messages),
                timeout=max(self._defaults.timeout_seconds, exchange_calls.CALL_TIMEOUT_SECONDS),
                metadata=call_metadata(self._connection),
            )
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, dependency="gateway") from error

    async def _iterate(self, pages: Pages[T]) -> AsyncIterator[T]:
        call: Call[object] | None = pages.first
        while call is not None:
            response = await self._run(call)
            for item in pages.items(response):
                yield item
            call = pages.next(response)


def _one(
    build: Callable[Concatenate[Defaults, P], Call[T]],
) -> Callable[Concatenate[AsyncCaller, P], Coroutine[Any, Any, T]]:
    """Return the method that makes a call."""

    @wraps(build)
    async def method(self: AsyncCaller, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with encodable():
            call = build(self._defaults, *args, **kwargs)
        return await self._run(call)

    return method


def _many(
    build: Callable[Concatenate[Defaults, P], Pages[T]],
) -> Callable[Concatenate[AsyncCaller, P], AsyncIterator[T]]:
    """Return the method that iterates over a list, fetching pages as they are needed."""

    @wraps(build)
    def method(self: AsyncCaller, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        with encodable():
            pages = build(self._defaults, *args, **kwargs)
        return self._iterate(pages)

    return method


class AsyncSession(AsyncCaller):
    """One conversation. With `async with` it ends the session when the block succeeds, unless told otherwise."""

    def __init__(
        self, channel: grpc.aio.Channel, connection: Connection, defaults: Defaults, *, end_on_exit: bool
    ) -> None:
        super().__init__(channel, connection, defaults)
        self._end_on_exit = end_on_exit

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._end_on_exit and error is None:
            await self.end()

    user = _one(session_calls.user)
    assistant = _one(session_calls.assistant)
    tool = _one(session_calls.tool)
    document = _one(session_calls.document)
    append = _one(session_calls.append)
    end = _one(session_calls.end)
    working_memory = _one(session_calls.working_memory)
    events = _many(session_calls.events)
    remember = _one(memory_calls.remember)
    recall = _one(recall_calls.recall)


class AsyncClient(ConnectedCaller[grpc.aio.Channel], AsyncCaller):
    """Speaks to a Rearview gateway. Belongs to one event loop; close it, or use it with `async with`.

    Every method has a deadline (`timeout_seconds`, all attempts together) and raises the errors of
    `rearview.domain.errors`. Reads, and writes that carry a request id, are tried again where that can help.
    """

    @staticmethod
    def _open_channel(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
        return open_channel(address, credentials=credentials)

    def session(self, session: str, *, namespace: str | None = None, end_on_exit: bool = True) -> AsyncSession:
        """Return a helper for one session, created by its first turn."""
        defaults = self._within_session(session, namespace)
        return AsyncSession(self._channel, self._connection, defaults, end_on_exit=end_on_exit)

    async def close(self) -> None:
        """Close the channel; calls under way are cancelled."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def export_memories(
        self, namespace: str | None = None, *, include_history: bool = True
    ) -> AsyncIterator[str]:
        """Yield the lines of an export; see `Client.export_memories`."""
        request = exchange_calls.export_request(self._defaults, namespace, include_history=include_history)
        async for answer in self._download(exchange_calls.EXPORT_PATH, request, pb.ExportMemoriesResponse.FromString):
            yield answer.line

    async def import_memories(
        self,
        path: str | Path,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        resume: bool = False,
        on_lines: exchange_calls.OnLines | None = None,
    ) -> pb.ImportMemoriesResponse:
        """Take in a file of exports; see `Client.import_memories`."""
        steps = exchange_calls.import_steps(
            self._defaults, path, namespace, dry_run=dry_run, resume=resume, on_lines=on_lines
        )
        messages = await asyncio.to_thread(next, steps)  # reads the whole file once
        while True:
            answer = await self._upload(exchange_calls.IMPORT_PATH, messages, pb.ImportMemoriesResponse.FromString)
            try:
                messages = steps.send(answer)
            except StopIteration as stop:
                result: pb.ImportMemoriesResponse = stop.value
                return result

    append_events = _one(event_calls.append_events)
    end_session = _one(event_calls.end_session)
    working_memory = _one(event_calls.working_memory)
    capture_trace = _one(event_calls.capture_trace)
    list_events = _many(event_calls.list_events)
    list_sessions = _many(event_calls.list_sessions)

    remember = _one(memory_calls.remember)
    batch_remember = _one(memory_calls.batch_remember)
    get_memory = _one(memory_calls.get_memory)
    update_memory = _one(memory_calls.update_memory)
    undo_supersession = _one(memory_calls.undo_supersession)
    forget = _one(memory_calls.forget)
    get_forget_receipt = _one(memory_calls.get_forget_receipt)
    restore = _one(memory_calls.restore)
    list_memories = _many(memory_calls.list_memories)
    memory_history = _many(memory_calls.memory_history)

    recall = _one(recall_calls.recall)
    get_recall_trace = _one(recall_calls.get_recall_trace)

    get_namespace_policy = _one(lifecycle_calls.get_namespace_policy)
    update_namespace_policy = _one(lifecycle_calls.update_namespace_policy)
    tier_stats = _one(lifecycle_calls.tier_stats)
    set_legal_hold = _one(lifecycle_calls.set_legal_hold)
    list_legal_holds = _many(lifecycle_calls.list_legal_holds)
    list_dead_letters = _many(lifecycle_calls.list_dead_letters)
    replay_dead_letter = _one(lifecycle_calls.replay_dead_letter)
    verify_audit = _one(lifecycle_calls.verify_audit)
    run_sweep = _one(lifecycle_calls.run_sweep)
    get_operation = _one(lifecycle_calls.get_operation)
    rehydrate = _one(lifecycle_calls.rehydrate)
    list_model_generations = _one(lifecycle_calls.list_model_generations)
    start_reembedding = _one(lifecycle_calls.start_reembedding)
    rescan_redactions = _one(lifecycle_calls.rescan_redactions)

    create_tenant = _one(tenancy_calls.create_tenant)
    get_tenant = _one(tenancy_calls.get_tenant)
    update_tenant = _one(tenancy_calls.update_tenant)
    delete_tenant = _one(tenancy_calls.delete_tenant)
    create_api_key = _one(tenancy_calls.create_api_key)
    rotate_api_key = _one(tenancy_calls.rotate_api_key)
    revoke_api_key = _one(tenancy_calls.revoke_api_key)
    create_namespace = _one(tenancy_calls.create_namespace)
    get_namespace = _one(tenancy_calls.get_namespace)
    update_namespace = _one(tenancy_calls.update_namespace)
    delete_namespace = _one(tenancy_calls.delete_namespace)
    grant_access = _one(tenancy_calls.grant_access)
    revoke_access = _one(tenancy_calls.revoke_access)
    subscribe = _one(tenancy_calls.subscribe)
    unsubscribe = _one(tenancy_calls.unsubscribe)
    list_tenants = _many(tenancy_calls.list_tenants)
    list_api_keys = _many(tenancy_calls.list_api_keys)
    list_namespaces = _many(tenancy_calls.list_namespaces)
