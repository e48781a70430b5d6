"""The writer's RPCs: convert, call the use case, convert."""

from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from rearview.domain.errors import RearviewError, invalid_field
from rearview.domain.names import parse_namespace, parse_session
from rearview.domain.principal import Access
from rearview.internal.v1 import writer_service_pb2, writer_service_pb2_grpc
from rearview.ports.clock import Clock
from rearview.rpc.call_context import current_caller
from rearview.rpc.convert.events import append_events_from_proto, event_to_proto, session_to_proto
from rearview.rpc.convert.forgets import (
    forget_from_proto,
    forget_preview_to_proto,
    forget_receipt_to_proto,
    receipt_id_from_name,
    with_found,
)
from rearview.rpc.convert.memories import (
    batch_remember_from_proto,
    batch_remembered_to_proto,
    memory_to_proto,
    remember_from_proto,
    remembered_to_proto,
    undo_supersession_from_proto,
    update_memory_from_proto,
)
from rearview.rpc.scopes import scope_of
from rearview.v1 import event_pb2, forget_pb2, memory_pb2, memory_service_pb2
from rearview.writer.append_events import EventAppender
from rearview.writer.end_session import SessionEnder
from rearview.writer.facts.undo_supersession import SupersessionUndoer
from rearview.writer.forget import Forgetter
from rearview.writer.imports.answer import imported_to_proto
from rearview.writer.imports.import_memories import ImportMemories, ImportRequest
from rearview.writer.remember import MemoryKeeper
from rearview.writer.update_memory import MemoryUpdater

Context = grpc.aio.ServicerContext[Any, Any]


class WriterServicer(writer_service_pb2_grpc.WriterServiceServicer):
    """`rearview.internal.v1.WriterService`."""

    def __init__(
        self,
        appender: EventAppender,
        ender: SessionEnder,
        keeper: MemoryKeeper,
        updater: MemoryUpdater,
        forgetter: Forgetter,
        undoer: SupersessionUndoer,
        importer: ImportMemories,
        clock: Clock,
    ) -> None:
        self._appender = appender
        self._ender = ender
        self._keeper = keeper
        self._updater = updater
        self._forgetter = forgetter
        self._undoer = undoer
        self._importer = importer
        self._clock = clock

    async def AppendEvents(
        self, request: memory_service_pb2.AppendEventsRequest, context: Context
    ) -> memory_service_pb2.AppendEventsResponse:
        command = append_events_from_proto(request, self._clock.now())
        scope = scope_of(current_caller(), command.namespace, Access.WRITE)
        events = await self._appender.append(scope, command)
        return memory_service_pb2.AppendEventsResponse(
            events=[
                event_to_proto(event, command.namespace, command.session_id, with_metadata=False) for event in events
            ]
        )

    async def EndSession(self, request: memory_service_pb2.EndSessionRequest, context: Context) -> event_pb2.Session:
        name = parse_session(request.name, "name")
        scope = scope_of(current_caller(), name.namespace, Access.WRITE)
        return session_to_proto(await self._ender.end(scope, name.session), name.namespace)

    async def Remember(
        self, request: memory_service_pb2.RememberRequest, context: Context
    ) -> memory_service_pb2.RememberResponse:
        command = remember_from_proto(request, self._clock.now())
        scope = scope_of(current_caller(), command.namespace, Access.WRITE)
        return remembered_to_proto(await self._keeper.remember(scope, command), command.namespace)

    async def BatchRemember(
        self, request: memory_service_pb2.BatchRememberRequest, context: Context
    ) -> memory_service_pb2.BatchRememberResponse:
        namespace, commands = batch_remember_from_proto(request, self._clock.now())
        scope = scope_of(current_caller(), namespace, Access.WRITE)
        valid = [command for command in commands if not isinstance(command, RearviewError)]
        results = iter(await self._keeper.remember_all(scope, valid))
        return batch_remembered_to_proto(
            [command if isinstance(command, RearviewError) else next(results) for command in commands], namespace
        )

    async def UpdateMemory(
        self, request: memory_service_pb2.UpdateMemoryRequest, context: Context
    ) -> memory_pb2.Memory:
        command = update_memory_from_proto(request)
        scope = scope_of(current_caller(), command.namespace, Access.WRITE)
        return memory_to_proto(await self._updater.update(scope, command), command.namespace)

    async def Forget(self, request: forget_pb2.ForgetRequest, context: Context) -> forget_pb2.ForgetReceipt:
        command = forget_from_proto(request)
        scope = scope_of(current_caller(), command.namespace, Access.WRITE)
        if request.preview:
            return forget_preview_to_proto(await self._forgetter.preview(scope, command))
        return forget_receipt_to_proto(await self._forgetter.forget(scope, command))

    async def PreviewFound(
        self, request: writer_service_pb2.PreviewFoundRequest, context: Context
    ) -> forget_pb2.ForgetReceipt:
        command = with_found(forget_from_proto(request.request), request.memories)
        scope = scope_of(current_caller(), command.namespace, Access.WRITE)
        return forget_preview_to_proto(await self._forgetter.preview(scope, command))

    async def Restore(self, request: forget_pb2.RestoreRequest, context: Context) -> forget_pb2.ForgetReceipt:
        receipt_id = receipt_id_from_name(request.name)
        caller = current_caller()
        # The name says nothing of the namespace. A receipt of another tenant is not seen, one of a namespace out of
        # reach is denied.
        tenant_id = caller.tenant_id
        if tenant_id is None:
            scope_of(caller, "", Access.WRITE)
            raise AssertionError("a caller without a tenant reaches nothing")
        receipt = await self._forgetter.receipt(tenant_id, receipt_id)
        scope = scope_of(caller, receipt.namespace, Access.WRITE)
        return forget_receipt_to_proto(await self._forgetter.restore(scope, receipt_id))

    async def UndoSupersession(
        self, request: memory_service_pb2.UndoSupersessionRequest, context: Context
    ) -> memory_pb2.Memory:
        name, key = undo_supersession_from_proto(request)
        scope = scope_of(current_caller(), name.namespace, Access.WRITE)
        return memory_to_proto(await self._undoer.undo(scope, name.memory, key), name.namespace)

    async def ImportMemories(
        self, request_iterator: AsyncIterator[memory_service_pb2.ImportMemoriesRequest], context: Context
    ) -> memory_service_pb2.ImportMemoriesResponse:
        first = await anext(aiter(request_iterator), None)
        if first is None:
            raise invalid_field("", "the stream holds no message")
        scope = scope_of(current_caller(), parse_namespace(first.parent, "parent").namespace, Access.WRITE)
        if first.after_line < 0:
            raise invalid_field("after_line", "is to be 0 or more")
        request = ImportRequest(first.line, first.after_line, first.dry_run, first.restart)
        lines = (following.line async for following in request_iterator)
        return imported_to_proto(await self._importer.take_in(scope, request, lines))
