"""The blocking and the asynchronous client against one gateway that misbehaves as told."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
from opentelemetry.sdk.trace import TracerProvider

from rearview.client import AsyncClient, AsyncSession, Client, Session, ToolCall, Turn, memory_filter
from rearview.client.connection import connection_to
from rearview.client.memory_calls import NewMemory
from rearview.domain import errors
from rearview.domain.tenancy import Quotas
from rearview.rpc.interceptors import ErrorInterceptor
from rearview.telemetry.trace_context import TraceContext, enter_trace
from rearview.v1 import event_pb2, memory_pb2, recall_pb2, tenant_pb2
from tests.integration.client.misbehaving_gateway import MEMORY, PAGES, Gateway, new_gateway
from tests.support.grpc_server import running_server, server_in_thread

T = TypeVar("T")
KEY = "rv_key_secret"
NOW = datetime(2026, 3, 9, tzinfo=UTC)
UNAVAILABLE = errors.Unavailable("PostgreSQL does not answer", dependency="postgresql")


@pytest.fixture
def gateway() -> Gateway:
    return new_gateway()


@pytest.fixture
def client(gateway: Gateway) -> Iterator[Client]:
    with server_in_thread(gateway.register, [ErrorInterceptor()]) as address, Client.connect(address, KEY) as client:
        yield client


@pytest.fixture
async def async_client(gateway: Gateway) -> AsyncIterator[AsyncClient]:
    async with (
        running_server(gateway.register, [ErrorInterceptor()], drain_seconds=0.5) as (address, _),
        AsyncClient.connect(address, KEY) as client,
    ):
        yield client


def test_every_call_carries_the_key_and_a_deadline(gateway: Gateway, client: Client) -> None:
    client.get_memory(MEMORY)
    _, _, metadata = gateway.calls[0]
    assert metadata["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(client)
    assert KEY not in repr(connection_to("localhost:1", KEY, None))
    client.with_options(timeout_seconds=60).get_memory(MEMORY)
    first, second = gateway.deadlines
    assert first is not None
    assert second is not None
    assert 0 < first < 11 < second < 61


def test_a_call_is_part_of_the_trace_it_is_made_in(gateway: Gateway, client: Client) -> None:
    client.get_memory(MEMORY)
    with TracerProvider().get_tracer("agent").start_as_current_span("answer") as span:
        client.get_memory(MEMORY)
        within = span.get_span_context()
        enter_trace(TraceContext("1" * 32, "2" * 16))
        try:
            client.get_memory(MEMORY)
        finally:
            enter_trace(None)
    without, called, served = [metadata.get("traceparent") for _, _, metadata in gateway.calls]
    assert without is None
    assert called == f"00-{within.trace_id:032x}-{within.span_id:016x}-01"
    assert served == f"00-{'1' * 32}-{'2' * 16}-00", "the call that is being served comes first"


async def test_an_awaited_call_is_part_of_the_trace_it_is_made_in(gateway: Gateway, async_client: AsyncClient) -> None:
    with TracerProvider().get_tracer("agent").start_as_current_span("answer") as span:
        await async_client.get_memory(MEMORY)
    ((_, _, metadata),) = gateway.calls
    assert f"{span.get_span_context().trace_id:032x}" in metadata["traceparent"]


def test_plain_values_become_requests(gateway: Gateway, client: Client) -> None:
    client.append_events("s1", [Turn("user", "我叫李雷", occurred_at=NOW), Turn("tool", tool_call=ToolCall("t", "ok"))])
    (append,) = gateway.requests("AppendEvents")
    assert append.parent == "namespaces/default/sessions/s1"
    assert [event.role for event in append.events] == [event_pb2.ROLE_USER, event_pb2.ROLE_TOOL]
    assert UUID(append.request_id).version == 7

    client.remember(
        "我喜欢美式", type="fact", labels={"k": "v"}, metadata={"n": [1, None]}, session="s1", namespace="team"
    )
    (remember,) = gateway.requests("Remember")
    assert (remember.parent, remember.session) == ("namespaces/team", "namespaces/team/sessions/s1")
    assert remember.memory.type == memory_pb2.MEMORY_TYPE_FACT

    assert client.recall("预算?", filter=memory_filter(types=["fact"])).context == "预算?"
    (recall,) = gateway.requests("Recall")
    assert list(recall.filter.types) == [memory_pb2.MEMORY_TYPE_FACT]
    assert not recall.HasField("context_token_budget")
    client.recall("x", context_token_budget=0, rerank_weight=0.0)
    assert gateway.requests("Recall")[1].HasField("context_token_budget")

    client.update_memory(UUID(int=1), {"priority": 0.9, "valid_to": None}, etag='"3"')
    (update,) = gateway.requests("UpdateMemory")
    assert (update.memory.name, list(update.update_mask.paths)) == (MEMORY, ["priority", "valid_to"])

    client.forget(memories=[UUID(int=1)], reason="不要了")
    client.forget(session="s1", last_turns=2)
    client.forget(subject="李雷")
    client.forget(query="电话", preview=True)
    client.forget(filter=memory_filter(labels={"a": "b"}))
    targets = [request.WhichOneof("target") for request in gateway.requests("Forget")]
    assert targets == ["memories", "last_turns", "subject", "query", "filter"]


def test_administration(gateway: Gateway, client: Client) -> None:
    assert client.create_tenant("acme", display_name="公司", quotas=Quotas(5)).secret == "s"
    assert client.get_tenant("acme").name == "tenants/acme"
    client.update_tenant("acme", disabled=True)
    assert list(gateway.requests("UpdateTenant")[0].update_mask.paths) == ["disabled"]
    client.delete_tenant("tenants/acme")
    assert client.create_api_key("agent", "write", namespaces=["a"]).api_key.role == tenant_pb2.PRINCIPAL_ROLE_WRITE
    assert client.rotate_api_key("k", overlap=timedelta(hours=2)).secret == "s2"
    assert client.revoke_api_key("k").name == "apiKeys/k"
    assert client.create_namespace("team", public=True, forget_grace_period=timedelta(0)).name == "team"
    assert gateway.requests("CreateNamespace")[0].namespace.HasField("forget_grace_period")
    assert client.get_namespace().name == "namespaces/default"
    client.update_namespace("team", display_name="组")
    client.grant_access("bob", write=True)
    client.revoke_access("bob")
    client.subscribe("team")
    client.unsubscribe("team")
    client.delete_namespace("team", force=True)
    assert len(list(client.list_tenants())) == len(list(client.list_api_keys())) == PAGES
    assert len(list(client.list_namespaces())) == PAGES


def test_reading(client: Client) -> None:
    assert client.get_recall_trace(UUID(int=4)).name == f"recallTraces/{UUID(int=4)}"
    receipt = client.forget(session="s1")
    assert client.get_forget_receipt(receipt.name).name == receipt.name
    assert client.restore(receipt.name).name == receipt.name
    assert client.working_memory("s1").session == "namespaces/default/sessions/s1"
    assert client.capture_trace("namespaces/a/sessions/s/events/e").event.endswith("/e")
    assert client.end_session("s1").name == "namespaces/default/sessions/s1"
    assert client.undo_supersession(MEMORY).name == MEMORY
    assert len(list(client.list_events("s1"))) == len(list(client.list_sessions())) == PAGES
    assert len(list(client.memory_history(MEMORY))) == PAGES


def test_pages_are_fetched_as_they_are_needed(gateway: Gateway, client: Client) -> None:
    memories = client.list_memories(states=["active", "superseded"], page_size=2)
    assert gateway.calls == []
    next(memories), next(memories)
    assert len(gateway.requests("ListMemories")) == 1
    assert len(list(memories)) == 2 * PAGES - 2
    requests = gateway.requests("ListMemories")
    assert [request.page_token for request in requests] == ["", "2", "3"]
    assert {request.page_size for request in requests} == {2}


def test_a_batch_answers_for_each_memory(client: Client) -> None:
    stored, refused = client.batch_remember([NewMemory("喝美式", type="fact"), NewMemory("")])
    assert not isinstance(stored, errors.RearviewError)
    assert stored.memory.content == "喝美式"
    assert isinstance(refused, errors.InvalidFields)


def test_a_read_is_tried_again_until_it_succeeds(gateway: Gateway, client: Client) -> None:
    gateway.failing = [UNAVAILABLE] * 3
    assert client.recall("x").context == "x"
    assert len(gateway.calls) == 4


def test_a_write_is_tried_again_under_one_request_id(gateway: Gateway, client: Client) -> None:
    gateway.failing = [
        UNAVAILABLE,
        errors.Overloaded("busy", retry_after_seconds=0.05, service="writer"),
        errors.Conflict("again", resource_name="x"),
    ]
    client.remember("x")
    requests = gateway.requests("Remember")
    assert len(requests) == 4
    assert len({request.request_id for request in requests}) == 1
    client.remember("x")
    assert gateway.requests("Remember")[4].request_id != requests[0].request_id


@pytest.mark.parametrize(
    "error",
    [
        errors.NotFound("gone", resource_name="x"),
        errors.EtagMismatch("stale", resource_name="x"),
        errors.QuotaExceeded("full", quota="max_memories"),
        errors.CredentialInvalid("who?"),
        errors.InternalError("bug", request_id="r"),
        errors.invalid_field("name", "太长"),
    ],
)
def test_what_will_not_get_better_is_raised_at_once(
    gateway: Gateway, client: Client, error: errors.RearviewError
) -> None:
    gateway.failing = [error] * 9
    with pytest.raises(type(error)) as raised:
        client.get_memory(MEMORY)
    assert type(raised.value) is type(error)
    assert len(gateway.calls) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.create_tenant("acme"),
        lambda c: c.create_api_key("a", "read"),
        lambda c: c.rotate_api_key("k"),
        lambda c: c.delete_namespace("n"),
        lambda c: c.update_namespace("n", display_name="x", etag='"1"'),
    ],
)
def test_what_must_not_happen_twice_is_not_tried_again(
    gateway: Gateway, client: Client, call: Callable[[Client], object]
) -> None:
    gateway.failing = [UNAVAILABLE] * 9
    with pytest.raises(errors.Unavailable) as raised:
        call(client)
    assert raised.value.metadata == {"dependency": "postgresql"}
    assert len(gateway.calls) == 1


def test_attempts_end_with_the_last_error(gateway: Gateway, client: Client) -> None:
    gateway.failing = [UNAVAILABLE] * 1_000
    # Where the deadline falls into the last attempt, that is how it ends.
    with pytest.raises((errors.Unavailable, errors.DeadlineExceeded)):
        client.with_options(timeout_seconds=1).get_memory(MEMORY)
    assert 1 < len(gateway.calls) < 1_000


def test_no_wait_goes_past_the_deadline(gateway: Gateway, client: Client) -> None:
    gateway.failing = [errors.RateLimited("slow down", retry_after_seconds=3_600, limit="5/s")]
    with pytest.raises(errors.RateLimited) as raised:
        client.get_memory(MEMORY)
    assert raised.value.retry_after_seconds == 3_600
    assert len(gateway.calls) == 1


def test_a_gateway_that_hangs_costs_the_deadline_only(gateway: Gateway, client: Client) -> None:
    gateway.hanging = True
    with pytest.raises(errors.DeadlineExceeded):
        client.with_options(timeout_seconds=0.3).recall("x")
    assert len(gateway.calls) == 1


def test_nobody_at_the_address_is_unavailable() -> None:
    with Client.connect("127.0.0.1:1", KEY, timeout_seconds=0.5) as client, pytest.raises(errors.Unavailable) as raised:
        client.get_memory(MEMORY)
    assert raised.value.metadata == {"dependency": "gateway"}


def test_a_server_that_is_no_gateway_is_a_typed_error() -> None:
    with (
        server_in_thread(lambda _: []) as address,
        Client.connect(address, KEY) as client,
        pytest.raises(errors.FeatureNotOffered),
    ):
        client.recall("x")


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.append_events("s", [Turn("narrator", "x")]),
        lambda c: c.append_events("s", [Turn("user", "x", occurred_at=datetime(2026, 1, 1))]),  # noqa: DTZ001
        lambda c: c.append_events("s", [Turn("user", "\ud800")]),
        lambda c: c.remember("x", type="wish"),
        lambda c: c.remember("x", metadata={"k": object()}),
        lambda c: c.remember("x", metadata={"k": "\udfff"}),
        lambda c: c.update_memory("m", {"state": 1}),
        lambda c: c.forget(),
        lambda c: c.forget(session="s", subject="x"),
        lambda c: c.forget(subject="x", last_turns=1),
        lambda c: c.recall("x", disabled_routes=["smell"]),
        lambda c: c.recall("x", top_k=2**40),
        lambda c: c.create_api_key("a", "king"),
        lambda c: c.with_options(timeout_seconds=0),
        lambda c: c.list_memories(states=["asleep"]),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_sent(
    gateway: Gateway, client: Client, call: Callable[[Client], object]
) -> None:
    with pytest.raises(errors.InvalidFields):
        call(client)
    assert gateway.calls == []


@pytest.mark.parametrize("endpoint", ["", "localhost", "ftp://a:1", "a:b", ":1", "http://a:1/x", "a:١"])
def test_endpoints_that_are_none_are_refused(endpoint: str) -> None:
    with pytest.raises(errors.InvalidFields, match="endpoint"):
        Client.connect(endpoint, KEY)


@pytest.mark.parametrize("key", ["", "密钥", "a\nb"])
def test_keys_that_are_none_are_refused_without_being_shown(key: str) -> None:
    with pytest.raises(errors.InvalidFields, match="api_key") as raised:
        Client.connect("localhost:1", key)
    assert not key or key not in str(raised.value)


def test_a_session_appends_asks_and_ends(gateway: Gateway, client: Client) -> None:
    with client.session("s1", namespace="team") as session:
        session.user("我的预算是一万", speaker="李雷")
        session.assistant("记住了。")
        session.tool("search", "三家店", arguments={"q": "咖啡"}, call_id="c1")
        session.document("A page about coffee.")
        session.append([Turn("user", "a"), Turn("assistant", "b")])
        session.remember("预算一万")
        assert session.recall("预算?").context == "预算?"
        assert session.working_memory().session == "namespaces/team/sessions/s1"
        assert len(list(session.events())) == PAGES
    assert [name for name, _, _ in gateway.calls] == (
        ["AppendEvents"] * 5 + ["Remember", "Recall", "GetWorkingMemory"] + ["ListEvents"] * PAGES + ["EndSession"]
    )
    assert {request.parent for request in gateway.requests("AppendEvents")} == {"namespaces/team/sessions/s1"}
    assert gateway.requests("Recall")[0].session == "namespaces/team/sessions/s1"
    assert gateway.requests("Remember")[0].session == "namespaces/team/sessions/s1"


def test_a_session_stays_open_after_a_failure_or_when_told(gateway: Gateway, client: Client) -> None:
    with client.session("s1", end_on_exit=False) as session:
        session.user("x")
    with pytest.raises(ZeroDivisionError), client.session("s1"):
        raise ZeroDivisionError
    assert gateway.requests("EndSession") == []


def test_the_file_of_the_one_machine_stack_is_enough(gateway: Gateway, tmp_path: Path) -> None:
    path = tmp_path / "endpoints.json"
    with server_in_thread(gateway.register) as address:
        path.write_text(json.dumps({"gateway": address, "api_key": "w", "admin_key": "a", "operator_key": None}))
        with Client.from_endpoints(path) as client, Client.from_endpoints(path, key="admin") as admin:
            client.recall("x")
            admin.recall("x")
    assert [metadata["authorization"] for _, _, metadata in gateway.calls] == ["Bearer w", "Bearer a"]
    with pytest.raises(errors.InvalidFields, match="operator"):
        Client.from_endpoints(path, key="operator")
    for content in ("", "[]", "{}"):
        path.write_text(content)
        with pytest.raises(errors.InvalidFields, match="path"):
            Client.from_endpoints(path)
    with pytest.raises(errors.InvalidFields, match="rearview up"):
        Client.from_endpoints(tmp_path / "missing.json")


async def test_the_asynchronous_client_does_the_same(gateway: Gateway, async_client: AsyncClient) -> None:
    gateway.failing = [UNAVAILABLE, errors.Overloaded("busy", retry_after_seconds=0.01)]
    await async_client.remember("喜欢美式")
    assert len({request.request_id for request in gateway.requests("Remember")}) == 1
    assert len(gateway.requests("Remember")) == 3
    assert len([memory async for memory in async_client.list_memories(page_size=2)]) == 2 * PAGES
    async with async_client.session("s1") as session:
        await session.user("你好 hello")
        assert (await session.recall("x")).context == "x"
        assert len([event async for event in session.events()]) == PAGES
    assert len(gateway.requests("EndSession")) == 1
    gateway.failing = [UNAVAILABLE]
    with pytest.raises(errors.Unavailable):
        await async_client.create_api_key("a", "read")
    gateway.hanging = True
    with pytest.raises(errors.DeadlineExceeded):
        await async_client.with_options(timeout_seconds=0.3).get_memory(MEMORY)
    with pytest.raises(errors.InvalidFields):
        await async_client.remember("x", type="wish")


async def test_many_asynchronous_calls_share_the_channel(gateway: Gateway, async_client: AsyncClient) -> None:
    answers = await asyncio.gather(*(async_client.recall(str(index)) for index in range(50)))
    assert [answer.context for answer in answers] == [str(index) for index in range(50)]


@pytest.mark.parametrize(("blocking", "asynchronous"), [(Client, AsyncClient), (Session, AsyncSession)])
def test_both_clients_offer_the_same(blocking: type, asynchronous: type) -> None:
    def offered(kind: type) -> dict[str, Any]:
        return {
            name: inspect.signature(member)
            for name, member in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_") and name != "session"
        }

    assert offered(blocking).keys() == offered(asynchronous).keys()
    assert all(inspect.getdoc(getattr(blocking, name)) for name in offered(blocking))
    assert "recall" in offered(blocking)


def test_an_answer_is_a_message_of_the_public_api(client: Client) -> None:
    assert type(client.recall("x")) is recall_pb2.RecallResponse
