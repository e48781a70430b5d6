"""The writer over gRPC: its identities, its errors, its messages."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import grpc
import grpc.aio
import pytest
import pytest_asyncio

from rearview.domain.errors import (
    CredentialMissing,
    InvalidConfirmationToken,
    InvalidFields,
    NamespaceDenied,
    NotFound,
    RearviewError,
)
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role, Scope
from rearview.internal.v1.writer_service_pb2_grpc import WriterServiceStub
from rearview.ports.embedder import Embedder
from rearview.rpc.errors import from_rpc_error
from rearview.v1 import event_pb2, forget_pb2, memory_pb2, memory_service_pb2
from rearview.writer.app import run_writer
from rearview.writer.config import WriterConfig
from tests.support.signed_stub import SignedStub

if TYPE_CHECKING:
    from rearview.internal.v1.writer_service_pb2_grpc import WriterServiceAsyncStub

PARENT = "namespaces/notes"
SESSION = f"{PARENT}/sessions/chat"
Metadata = tuple[tuple[str, str], ...]


@pytest_asyncio.fixture(loop_scope="session")
async def stub(writer_config: WriterConfig, real_embedder: Embedder) -> "AsyncIterator[WriterServiceAsyncStub]":
    """A writer that serves and works, until the test ends; then it must come to its end."""
    port, stop = asyncio.get_running_loop().create_future(), asyncio.Event()
    served = asyncio.create_task(
        run_writer(writer_config, embedder=real_embedder, on_started=port.set_result, stop=stop)
    )
    await asyncio.wait({served, port}, return_when=asyncio.FIRST_COMPLETED)
    if served.done():
        await served
    async with grpc.aio.insecure_channel(f"127.0.0.1:{await port}") as channel:
        yield WriterServiceStub(channel)
    stop.set()
    await served


def signing(
    stub: "WriterServiceAsyncStub", scope: Scope, config: WriterConfig, access: Access = Access.WRITE
) -> SignedStub:
    caller = Caller(
        scope.tenant_id, "tester", Role.WRITE, {"notes": NamespaceAccess(scope.namespace_id, access)}, "request-1"
    )
    return SignedStub(stub, "writer", caller, config.internal_key.get_secret_value())


async def refusal(call: object) -> RearviewError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return from_rpc_error(caught.value, dependency="writer")


async def test_a_conversation_is_appended_ended_remembered_changed_forgotten_and_restored(
    stub: "WriterServiceAsyncStub", scope: Scope, writer_config: WriterConfig
) -> None:
    writer = signing(stub, scope, writer_config)
    appended = await writer.AppendEvents(
        memory_service_pb2.AppendEventsRequest(
            parent=SESSION,
            events=[event_pb2.Event(role=event_pb2.ROLE_USER, content="我的电话是13812345678", speaker="韩梅梅")],
        ),
    )
    assert appended.events[0].content == "我的电话是[PHONE_1]"
    assert appended.events[0].name.startswith(f"{SESSION}/events/")
    assert appended.events[0].sequence == 1
    ended = await writer.EndSession(memory_service_pb2.EndSessionRequest(name=SESSION))
    assert (ended.name, ended.event_count) == (SESSION, 1)
    remembered = await writer.Remember(
        memory_service_pb2.RememberRequest(parent=PARENT, memory=memory_pb2.Memory(content="预算 is 8000 元")),
    )
    assert remembered.outcome == memory_service_pb2.REMEMBER_OUTCOME_CREATED
    batch = await writer.BatchRemember(
        memory_service_pb2.BatchRememberRequest(
            parent=PARENT,
            requests=[
                memory_service_pb2.RememberRequest(memory=memory_pb2.Memory(content=content))
                for content in ("预算 is 8000 元", "", "third")
            ],
        ),
    )
    assert [result.reason or result.response.outcome for result in batch.results] == [4, "INVALID_FIELD", 1]
    update = memory_service_pb2.UpdateMemoryRequest(
        memory=memory_pb2.Memory(name=remembered.memory.name, content="预算 is 9000 元", etag=remembered.memory.etag)
    )
    update.update_mask.paths.append("content")
    changed = await writer.UpdateMemory(update)
    assert changed.content == "预算 is 9000 元"
    assert changed.etag != remembered.memory.etag
    receipt = await writer.Forget(
        forget_pb2.ForgetRequest(parent=PARENT, memories=forget_pb2.MemoryNames(names=[changed.name])),
    )
    assert receipt.state == forget_pb2.FORGET_STATE_TOMBSTONED
    assert isinstance(await refusal(writer.UpdateMemory(update)), NotFound)
    restored = await writer.Restore(forget_pb2.RestoreRequest(name=receipt.name))
    assert restored.state == forget_pb2.FORGET_STATE_RESTORED


async def test_who_may_not_is_denied_before_anything_is_looked_at(
    stub: "WriterServiceAsyncStub", scope: Scope, writer_config: WriterConfig
) -> None:
    request = memory_service_pb2.EndSessionRequest(name=SESSION)
    assert isinstance(await refusal(stub.EndSession(request)), CredentialMissing)
    reader = signing(stub, scope, writer_config, Access.READ)
    assert isinstance(await refusal(reader.EndSession(request)), NamespaceDenied)
    elsewhere = memory_service_pb2.EndSessionRequest(name="namespaces/other/sessions/chat")
    writer = signing(stub, scope, writer_config)
    assert isinstance(await refusal(writer.EndSession(elsewhere)), NamespaceDenied)
    assert isinstance(await refusal(writer.EndSession(request)), NotFound)


async def test_bad_fields_are_all_named_and_a_query_needs_its_preview(
    stub: "WriterServiceAsyncStub", scope: Scope, writer_config: WriterConfig
) -> None:
    writer = signing(stub, scope, writer_config)
    bad = memory_service_pb2.AppendEventsRequest(parent=SESSION, events=[event_pb2.Event()] * 2)
    error = await refusal(writer.AppendEvents(bad))
    assert isinstance(error, InvalidFields)
    assert {"events[0].role", "events[1].role", "events[0].content"} <= {v.field for v in error.violations}
    nameless = await refusal(writer.UndoSupersession(memory_service_pb2.UndoSupersessionRequest(request_id="7")))
    assert isinstance(nameless, InvalidFields)
    assert {v.field for v in nameless.violations} == {"name", "request_id"}
    refused = await refusal(writer.Forget(forget_pb2.ForgetRequest(parent=PARENT, query="韩梅梅")))
    assert isinstance(refused, InvalidConfirmationToken)
