"""The retriever as a process serves it: over gRPC, with signed identities."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import numpy as np
import pytest

from rearview.domain.event import CaptureOutcome
from rearview.domain.ids import new_id
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.internal.v1 import retriever_service_pb2
from rearview.internal.v1.retriever_service_pb2_grpc import RetrieverServiceStub
from rearview.ports.embedder import Embedder
from rearview.rpc.errors import from_rpc_error
from rearview.v1 import memory_service_pb2 as pb
from rearview.v1 import recall_pb2
from tests.support.indexed_library import Library
from tests.support.running_retriever import running_retriever
from tests.support.signed_stub import SignedStub
from tests.support.stack import DatabaseUrls

KEY = "an internal key of more than thirty-two bytes"


@pytest.fixture
async def address(database: DatabaseUrls, redis_url: str) -> AsyncIterator[str]:
    async with running_retriever(database, redis_url, KEY) as served:
        yield served


def signing(stub: Any, library: Library, *, names: tuple[str, ...] = ("notes",), role: Role = Role.READ) -> SignedStub:
    access = NamespaceAccess(library.scope.namespace_id, Access.READ)
    caller = Caller(library.scope.tenant_id, "agent", role, dict.fromkeys(names, access))
    return SignedStub(stub, "retriever", caller, KEY)


async def reason_of(call: Any) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    return from_rpc_error(raised.value, dependency="retriever").reason


async def recall_request(embedder: Embedder, text: str, **fields: Any) -> retriever_service_pb2.RecallRequest:
    vector = embedder.generation.centre_one(await embedder.embed_query(text))
    return retriever_service_pb2.RecallRequest(
        request=recall_pb2.RecallRequest(parent="namespaces/notes", query=text, **fields),
        vectors=[
            retriever_service_pb2.QueryVector(
                generation=embedder.generation.generation_id, values=np.asarray(vector, dtype="<f4").tobytes()
            )
        ],
    )


async def test_recall_and_its_trace(address: str, library: Library) -> None:
    memory_id, (event_id, _) = await library.episode("s1", ["我对花生过敏", "记下来了"])
    pending = library.raw_turn("s1", "还对牛奶过敏", CaptureOutcome.PENDING, sequence=3)
    library.index()
    async with grpc.aio.insecure_channel(address) as channel:
        reader = signing(RetrieverServiceStub(channel), library)
        request = await recall_request(library.embedder, "我对什么过敏")
        answer = (await reader.Recall(request, timeout=20)).answer
        by_event = {hit.events[0]: hit for hit in answer.hits}
        turn = by_event[f"namespaces/notes/sessions/s1/events/{event_id}"]
        assert turn.memory.name == f"namespaces/notes/memories/{memory_id}"
        assert turn.highlights[0].text == "我对花生过敏"
        raw = by_event[f"namespaces/notes/sessions/s1/events/{pending}"]
        assert raw.memory.name == ""
        assert raw.memory.content == "还对牛奶过敏"
        assert answer.context.startswith("[相关记忆]")
        for hit in answer.hits:
            assert hit.citation in answer.context
        told = await reader.GetRecallTrace(recall_pb2.GetRecallTraceRequest(name=answer.trace), timeout=20)
        assert told.query == "我对什么过敏"
        assert [c.rank for c in told.candidates if c.rank] == list(range(1, len(answer.hits) + 1))


async def test_errors_are_typed(address: str, library: Library) -> None:
    await library.memory("一条记忆")
    library.index()
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = RetrieverServiceStub(channel)
        good = await recall_request(library.embedder, "记忆")
        reader = signing(stub, library)
        assert await reason_of(stub.Recall(good, timeout=20)) == "CREDENTIAL_MISSING"
        forged = SignedStub(stub, "retriever", Caller(new_id(), "x", Role.ADMIN), "z" * 40)
        assert await reason_of(forged.Recall(good, timeout=20)) == "CREDENTIAL_INVALID"
        elsewhere = signing(stub, library, names=("other",))
        assert await reason_of(elsewhere.Recall(good, timeout=20)) == "NAMESPACE_DENIED"
        bad = await recall_request(library.embedder, "记忆", top_k=101)
        assert await reason_of(reader.Recall(bad, timeout=20)) == "INVALID_FIELD"
        good.vectors[0].generation = "another"
        assert await reason_of(reader.Recall(good, timeout=20)) == "EMBEDDING_GENERATION_MISMATCH"
        unknown = pb.GetMemoryRequest(name=f"namespaces/notes/memories/{new_id()}")
        assert await reason_of(reader.GetMemory(unknown, timeout=20)) == "RESOURCE_NOT_FOUND"
        page = pb.ListMemoriesRequest(parent="namespaces/notes", page_token="made-up")
        assert await reason_of(reader.ListMemories(page, timeout=20)) == "INVALID_PAGE_TOKEN"
        reveal = pb.RevealRedactedRequest(name=unknown.name, reason="why")
        assert await reason_of(reader.RevealRedacted(reveal, timeout=20)) == "ROLE_INSUFFICIENT"
        admin = signing(stub, library, role=Role.ADMIN)
        assert await reason_of(admin.RevealRedacted(reveal, timeout=20)) == "FEATURE_NOT_OFFERED"
        part = pb.ExportMemoriesRequest(parent="namespaces/notes", filter=pb.ListMemoriesRequest().filter)
        export = reader.ExportMemories(part, timeout=20)
        assert await reason_of(export.read()) == "FEATURE_NOT_OFFERED"


async def test_lists_over_the_wire(address: str, library: Library) -> None:
    for at in range(5):
        await library.memory(f"第{at}条记忆")
    _, events = await library.episode("s1", ["第一句", "第二句"])
    async with grpc.aio.insecure_channel(address) as channel:
        reader = signing(RetrieverServiceStub(channel), library)
        seen, token = [], ""
        while True:
            page = await reader.ListMemories(
                pb.ListMemoriesRequest(parent="namespaces/notes", page_size=2, page_token=token)
            )
            seen += [memory.name for memory in page.memories]
            token = page.next_page_token
            if not token:
                break
        assert len(seen) == len(set(seen)) == 6
        basic = await reader.ListMemories(pb.ListMemoriesRequest(parent="namespaces/notes", view=pb.MEMORY_VIEW_BASIC))
        assert all(memory.content == "" for memory in basic.memories)
        listed = await reader.ListEvents(pb.ListEventsRequest(parent="namespaces/notes/sessions/s1"))
        assert [event.name.rpartition("/")[2] for event in listed.events] == [str(one) for one in events]
        sessions = await reader.ListSessions(pb.ListSessionsRequest(parent="namespaces/notes"))
        assert [session.name for session in sessions.sessions] == ["namespaces/notes/sessions/s1"]
        got = await reader.GetMemory(pb.GetMemoryRequest(name=seen[0]))
        assert got.name == seen[0]
        history = await reader.ListMemoryHistory(pb.ListMemoryHistoryRequest(name=seen[0]))
        assert [memory.name for memory in history.memories] == [seen[0]]
        capture = await reader.GetCaptureTrace(pb.GetCaptureTraceRequest(name=listed.events[0].name))
        assert capture.event == listed.events[0].name
        working = await reader.GetWorkingMemory(pb.GetWorkingMemoryRequest(name="namespaces/notes/sessions/s1"))
        assert list(working.turns) == []
