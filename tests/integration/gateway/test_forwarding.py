"""What the services behind are told, and what comes back from them."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import numpy as np
import psycopg
import pytest

from rearview.domain import errors
from rearview.domain.embedding_errors import ModelUnavailable
from rearview.domain.errors import FieldViolation
from rearview.domain.principal import Access, Role
from rearview.v1 import event_pb2, forget_pb2, lifecycle_pb2, memory_pb2, memory_service_pb2, recall_pb2
from tests.support.grpc_errors import failure_of
from tests.support.running_gateway import RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
async def agent(gateway: RunningGateway) -> Any:
    """The metadata of an agent's key."""
    return bearer(await gateway.new_key(await gateway.new_tenant("acme"), "agent"))


def append(text: str = "你好, world") -> memory_service_pb2.AppendEventsRequest:
    return memory_service_pb2.AppendEventsRequest(
        parent="namespaces/agent/sessions/s1", events=[event_pb2.Event(role=event_pb2.ROLE_USER, content=text)]
    )


async def test_a_call_goes_on_with_identity_deadline_request_id_and_trace(gateway: RunningGateway, agent: Any) -> None:
    stored = memory_service_pb2.AppendEventsResponse(events=[event_pb2.Event(content="[EMAIL] 好")])
    gateway.writer.answers["AppendEvents"] = stored
    metadata = (*agent, ("x-request-id", "req-1"), ("traceparent", TRACEPARENT))
    answer = await gateway.memories.AppendEvents(append(), metadata=metadata, timeout=20)
    assert answer == stored
    seen = gateway.writer.last
    assert seen.request == append()
    assert (seen.caller.principal, seen.caller.role) == ("agent", Role.WRITE)
    assert {name: reached.access for name, reached in seen.caller.namespaces.items()} == {"agent": Access.WRITE}
    assert (seen.request_id, seen.caller.request_id) == ("req-1", "req-1")
    assert seen.traceparent.split("-")[1] == seen.caller.trace_id == TRACEPARENT.split("-")[1]
    assert seen.time_left_seconds is not None
    assert 10 < seen.time_left_seconds < 21  # grpc rounds deadlines on the wire


async def test_a_read_carries_no_right_to_write(gateway: RunningGateway, agent: Any) -> None:
    name = f"namespaces/agent/memories/{uuid.uuid4()}"
    await gateway.memories.GetMemory(memory_service_pb2.GetMemoryRequest(name=name), metadata=agent)
    assert [reached.access for reached in gateway.retriever.last.caller.namespaces.values()] == [Access.READ]


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidFields(FieldViolation("events[0].content", "is required"), FieldViolation("parent", "不对")),
        errors.NotFound("the memory does not exist", resource_name="namespaces/agent/memories/x"),
        errors.Conflict("a concurrent write won", retry_after_seconds=0.25),
        errors.QuotaExceeded("full", quota="max_memories", limit="10", used="10"),
        errors.Unavailable("PostgreSQL does not answer", dependency="postgresql"),
    ],
    ids=lambda error: error.reason,
)
async def test_errors_of_the_services_behind_pass_unchanged(
    gateway: RunningGateway, agent: Any, error: errors.RearviewError
) -> None:
    gateway.writer.answers["AppendEvents"] = error
    _, told = await failure_of(gateway.memories.AppendEvents(append(), metadata=agent))
    assert (type(told), told.message, told.metadata) == (type(error), error.message, error.metadata)
    assert told.retry_after_seconds == error.retry_after_seconds
    if isinstance(error, errors.InvalidFields):
        assert isinstance(told, errors.InvalidFields)
        assert told.violations == error.violations


async def test_a_bug_behind_shows_no_detail(gateway: RunningGateway, agent: Any) -> None:
    gateway.writer.answers["AppendEvents"] = ZeroDivisionError("secret detail")
    code, told = await failure_of(gateway.memories.AppendEvents(append(), metadata=agent))
    assert code is grpc.StatusCode.INTERNAL
    assert "secret" not in told.message


async def test_a_dead_service_is_named(database: DatabaseUrls) -> None:
    async with running_gateway(database) as gateway:
        key = bearer(await gateway.new_tenant("acme"))
        await gateway.writer.die()
        code, told = await failure_of(
            gateway.memories.EndSession(
                memory_service_pb2.EndSessionRequest(name="namespaces/default/sessions/s1"), metadata=key
            )
        )
    assert (code, told.metadata) == (grpc.StatusCode.UNAVAILABLE, {"dependency": "writer"})


async def test_a_slow_service_ends_in_a_typed_deadline(gateway: RunningGateway, agent: Any) -> None:
    gateway.writer.delay_seconds = 30.0
    code, told = await failure_of(gateway.memories.AppendEvents(append(), metadata=agent, timeout=1.0))
    assert (code, type(told)) == (grpc.StatusCode.DEADLINE_EXCEEDED, errors.DeadlineExceeded)
    assert told.metadata["stage"]


async def test_every_namespace_in_a_request_must_be_reachable(gateway: RunningGateway, agent: Any) -> None:
    other, memory = "namespaces/default", f"namespaces/default/memories/{uuid.uuid4()}"
    session = f"{other}/sessions/s1"
    mine = "namespaces/agent"
    calls: list[Awaitable[object]] = [
        gateway.memories.Recall(recall_pb2.RecallRequest(parent=other, query="q"), metadata=agent),
        gateway.memories.Recall(
            recall_pb2.RecallRequest(parent=mine, query="q", additional_namespaces=[other]), metadata=agent
        ),
        gateway.memories.Recall(recall_pb2.RecallRequest(parent=mine, query="q", session=session), metadata=agent),
        gateway.memories.Recall(
            recall_pb2.RecallRequest(parent=mine, query="q", filter=recall_pb2.MemoryFilter(session=session)),
            metadata=agent,
        ),
        gateway.memories.ListMemories(
            memory_service_pb2.ListMemoriesRequest(parent=mine, filter=recall_pb2.MemoryFilter(session=session)),
            metadata=agent,
        ),
        gateway.memories.Remember(
            memory_service_pb2.RememberRequest(parent=mine, session=session, memory=memory_pb2.Memory(content="x")),
            metadata=agent,
        ),
        gateway.memories.BatchRemember(
            memory_service_pb2.BatchRememberRequest(
                parent=mine, requests=[memory_service_pb2.RememberRequest(parent=other)]
            ),
            metadata=agent,
        ),
        gateway.memories.UpdateMemory(
            memory_service_pb2.UpdateMemoryRequest(memory=memory_pb2.Memory(name=memory)), metadata=agent
        ),
        gateway.memories.Forget(
            forget_pb2.ForgetRequest(parent=mine, memories=forget_pb2.MemoryNames(names=[memory])), metadata=agent
        ),
        gateway.memories.Forget(forget_pb2.ForgetRequest(parent=mine, session=session), metadata=agent),
        gateway.memories.Forget(
            forget_pb2.ForgetRequest(parent=mine, last_turns=forget_pb2.LastTurns(session=session, count=1)),
            metadata=agent,
        ),
        gateway.memories.AppendEvents(
            memory_service_pb2.AppendEventsRequest(
                parent=f"{mine}/sessions/s1", events=[event_pb2.Event(name=f"{session}/events/{uuid.uuid4()}")]
            ),
            metadata=agent,
        ),
    ]
    for call in calls:
        code, error = await failure_of(call)
        assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)
        assert error.metadata["namespace"] == "default"
    assert not gateway.writer.calls
    assert not gateway.retriever.calls


async def test_exports_and_imports_stream(gateway: RunningGateway, agent: Any) -> None:
    lines = [memory_service_pb2.ExportMemoriesResponse(line=f'{{"行": {i}}}') for i in range(300)]
    gateway.retriever.answers["ExportMemories"] = lines
    request = memory_service_pb2.ExportMemoriesRequest(parent="namespaces/agent")
    assert [line async for line in gateway.memories.ExportMemories(request, metadata=agent)] == lines

    async def sent(*messages: tuple[str, str]) -> AsyncIterator[memory_service_pb2.ImportMemoriesRequest]:
        for parent, line in messages:
            yield memory_service_pb2.ImportMemoriesRequest(parent=parent, line=line)

    gateway.writer.answers["ImportMemories"] = memory_service_pb2.ImportMemoriesResponse(stored_count=2)
    stored = await gateway.memories.ImportMemories(sent(("namespaces/agent", "first"), ("", "second")), metadata=agent)
    assert stored.stored_count == 2
    assert [message.line for message in gateway.writer.last.request] == ["first", "second"]
    code, _ = await failure_of(gateway.memories.ImportMemories(sent(("namespaces/default", "first")), metadata=agent))
    assert code is grpc.StatusCode.PERMISSION_DENIED

    code, error = await failure_of(gateway.memories.ImportMemories(sent(), metadata=agent))
    assert (code, type(error)) == (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidFields)


async def test_who_streams_without_a_credential_hears_why_it_is_refused(gateway: RunningGateway) -> None:
    async def sent(pause_seconds: float) -> AsyncIterator[memory_service_pb2.ImportMemoriesRequest]:
        for _ in range(3):
            yield memory_service_pb2.ImportMemoriesRequest(parent="namespaces/agent", line="{}")
            await asyncio.sleep(pause_seconds)

    for attempt in range(100):
        _, error = await failure_of(gateway.memories.ImportMemories(sent(attempt % 5 / 2_000)))
        assert type(error) is errors.CredentialMissing


async def test_receipts_and_traces_are_reached_through_their_namespaces(
    gateway: RunningGateway, agent: Any, database: DatabaseUrls
) -> None:
    receipt, trace = uuid.uuid4(), uuid.uuid4()
    with psycopg.connect(database.superuser) as connection:
        connection.execute(
            "INSERT INTO forget_receipt (tenant_id, receipt_id, namespace_id, namespace, state, principal, memory_ids,"
            " event_ids, tombstoned_at, purge_after) SELECT tenant_id, %s, namespace_id, name, 1, 'agent', '{}', '{}',"
            " now(), now() FROM namespace WHERE name = 'agent'",
            (receipt,),
        )
        connection.execute(
            "INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)"
            " SELECT tenant_id, %s, 'agent', array_agg(namespace_id), '{}', now() FROM namespace GROUP BY tenant_id",
            (trace,),
        )
    get = forget_pb2.GetForgetReceiptRequest(name=f"forgetReceipts/{receipt}")
    await gateway.memories.GetForgetReceipt(get, metadata=agent)
    assert {n: a.access for n, a in gateway.retriever.last.caller.namespaces.items()} == {"agent": Access.READ}
    await gateway.memories.Restore(forget_pb2.RestoreRequest(name=get.name), metadata=agent)
    assert {n: a.access for n, a in gateway.writer.last.caller.namespaces.items()} == {"agent": Access.WRITE}
    # The trace is also of `default`, which this key does not reach.
    code, error = await failure_of(
        gateway.memories.GetRecallTrace(recall_pb2.GetRecallTraceRequest(name=f"recallTraces/{trace}"), metadata=agent)
    )
    assert (code, type(error)) == (grpc.StatusCode.NOT_FOUND, errors.NotFound)
    unknown = forget_pb2.GetForgetReceiptRequest(name=f"forgetReceipts/{uuid.uuid4()}")
    await gateway.memories.GetForgetReceipt(unknown, metadata=agent)
    assert gateway.retriever.last.caller.namespaces == {}


async def test_a_query_is_embedded_once_and_its_vector_passed_on(gateway: RunningGateway, agent: Any) -> None:
    recall = recall_pb2.RecallRequest(parent="namespaces/agent", query="李雷的 budget 是多少?")
    await gateway.memories.Recall(recall, metadata=agent)
    sent = gateway.retriever.last.request
    assert sent.request == recall
    assert gateway.embedder.queries == [recall.query]
    (vector,) = sent.vectors
    assert vector.generation == gateway.embedder.generation.generation_id
    values = np.frombuffer(vector.values, dtype="<f4")
    expected = gateway.embedder.generation.centre_one(await gateway.embedder.embed_query(recall.query))
    np.testing.assert_allclose(values, expected, atol=1e-6)


@pytest.mark.parametrize("trouble", ["hangs", "fails"])
async def test_recall_goes_on_without_a_vector(database: DatabaseUrls, trouble: str) -> None:
    async with running_gateway(database, embed_budget_seconds=0.05, embed_max_pending=2) as gateway:
        key = bearer(await gateway.new_tenant("acme"))
        gateway.embedder.hang = trouble == "hangs"
        gateway.embedder.error = ModelUnavailable("down") if trouble == "fails" else None
        recall = recall_pb2.RecallRequest(parent="namespaces/default", query="q?")
        for _ in range(5):
            await gateway.memories.Recall(recall, metadata=key)
            assert not gateway.retriever.last.request.vectors
        assert len(gateway.embedder.queries) == (2 if trouble == "hangs" else 5)


async def test_explaining_plans_is_for_admins(gateway: RunningGateway, agent: Any) -> None:
    recall = recall_pb2.RecallRequest(parent="namespaces/agent", query="q", explain_plan=True)
    code, error = await failure_of(gateway.memories.Recall(recall, metadata=agent))
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.RoleInsufficient)


async def test_a_cancelled_call_is_cancelled_behind(gateway: RunningGateway, agent: Any) -> None:
    gateway.writer.delay_seconds = 30.0
    call = gateway.memories.AppendEvents(append(), metadata=agent)
    await gateway.writer.arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gateway.writer.cut_off.wait()


async def test_lifecycle_calls_go_to_the_lifecycle_service(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    gateway.lifecycle.answers["GetTierStats"] = lifecycle_pb2.GetTierStatsResponse(
        tiers=[lifecycle_pb2.TierStats(memory_count=3)]
    )
    answer = await gateway.lifecycles.GetTierStats(lifecycle_pb2.GetTierStatsRequest(), metadata=admin)
    assert answer.tiers[0].memory_count == 3
    assert (gateway.lifecycle.last.caller.role, gateway.lifecycle.last.caller.namespaces) == (Role.ADMIN, {})


async def test_everything_wrong_with_a_request_is_told_at_once(gateway: RunningGateway, agent: Any) -> None:
    request = memory_service_pb2.AppendEventsRequest(
        parent="namespaces/Agent/sessions/s1",
        events=[event_pb2.Event(role=event_pb2.ROLE_USER), event_pb2.Event(content="你好")],
    )
    code, error = await failure_of(gateway.memories.AppendEvents(request, metadata=agent))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, errors.InvalidFields)
    assert {"parent", "events[0].content", "events[1].role"} <= {v.field for v in error.violations}
    recall = recall_pb2.RecallRequest(parent="namespaces/agent", top_k=-1, query="x" * 5_000)
    code, error = await failure_of(gateway.memories.Recall(recall, metadata=agent))
    assert isinstance(error, errors.InvalidFields)
    assert {v.field for v in error.violations} == {"top_k", "query"}
