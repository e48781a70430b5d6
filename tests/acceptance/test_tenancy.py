"""Tenants: nothing crosses from one to another, and a key reaches what it was made for and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from rearview.client import Client, Turn
from rearview.domain.errors import (
    CredentialInvalid,
    NamespaceDenied,
    NotFound,
    RoleInsufficient,
    TenantDisabled,
)
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.ingest import fresh_namespace
from rearview.v1 import event_pb2, memory_pb2
from rearview.v1 import memory_service_pb2 as messages
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS
from tests.support.client_steps import apart_from_use, indexed, refused, stored_trace
from tests.support.wire import Wire, bearer, wire_to

LIST_MEMORIES = "rearview.v1.MemoryService/ListMemories"
NAMESPACE = "shared-name"
TURNS = [
    Turn("user", "我们的仓库在松江，钥匙在老吴那里。"),
    Turn("assistant", "好的，松江仓库，钥匙在老吴那里。"),
    Turn("user", "The alarm code sheet is in the blue binder."),
]
NOTE = "松江仓库周五盘点 inventory check."

MakeClient = Callable[[str], Client]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant that holds the same texts under the same names as another."""

    name: str
    key: str
    admin: Client
    client: Client
    events: list[event_pb2.Event]
    note: memory_pb2.Memory
    memories: list[memory_pb2.Memory]
    receipt: str
    trace: str

    @property
    def resource_ids(self) -> set[str]:
        """The ids of everything it holds."""
        names = [event.name for event in self.events] + [memory.name for memory in self.memories]
        return {name.rsplit("/", 1)[1] for name in names}


@pytest.fixture(scope="module")
def connect(endpoints: Endpoints) -> Iterator[MakeClient]:
    """Opens clients with other keys."""
    opened: list[Client] = []

    def connect(key: str) -> Client:
        assert endpoints.gateway is not None
        opened.append(Client.connect(endpoints.gateway, key, timeout_seconds=CALL_TIMEOUT_SECONDS))
        return opened[-1]

    yield connect
    for client in opened:
        client.close()


@pytest.fixture(scope="module")
def tenants(operator: Client, connect: MakeClient) -> tuple[Tenant, Tenant]:
    """Two tenants with equal namespaces, sessions and texts."""
    first, second = (_tenant(operator, connect, f"tenant-{letter}-{new_id().hex[-8:]}") for letter in "ab")
    return first, second


@pytest.fixture
def gateway(endpoints: Endpoints) -> Iterator[Wire]:
    assert endpoints.gateway is not None
    with wire_to(endpoints.gateway) as wire:
        yield wire


@pytest.fixture
def ours(tenants: tuple[Tenant, Tenant]) -> Tenant:
    return tenants[0]


@pytest.fixture
def theirs(tenants: tuple[Tenant, Tenant]) -> Tenant:
    return tenants[1]


def _tenant(operator: Client, connect: MakeClient, name: str) -> Tenant:
    key = operator.create_tenant(name).secret
    admin = connect(key)
    admin.create_namespace(NAMESPACE)
    client = admin.with_options(namespace=NAMESPACE)
    events = list(client.append_events("shared-session", TURNS).events)
    client.end_session("shared-session")
    note = client.remember(NOTE).memory
    indexed(client, NAMESPACE)
    memories = list(client.list_memories())
    gone = client.remember("wird vergessen").memory
    receipt = client.forget(memories=[gone.name]).name
    trace = client.recall("松江仓库").trace
    stored_trace(client, trace)
    return Tenant(name, key, admin, client, events, note, memories, receipt, trace)


def test_no_list_crosses(ours: Tenant, theirs: Tenant) -> None:
    assert not ours.resource_ids & theirs.resource_ids
    mine = ours.client
    assert {memory.name for memory in mine.list_memories()} == {memory.name for memory in ours.memories}
    assert [event.name for event in mine.list_events("shared-session")] == [event.name for event in ours.events]
    assert len(list(mine.list_sessions())) == 1
    assert {namespace.name for namespace in mine.list_namespaces()} == {
        "namespaces/default",
        f"namespaces/{NAMESPACE}",
    }
    assert len(list(ours.admin.list_api_keys())) == 1
    turns = mine.working_memory("shared-session").turns
    assert [turn.event.name for turn in turns] == [event.name for event in ours.events]


@pytest.mark.parametrize("query", ["松江仓库在哪里？", "Where is the alarm code sheet?", "老吴", "inventory 盘点"])
def test_no_recall_crosses(ours: Tenant, theirs: Tenant, query: str) -> None:
    for by_memory in (False, True):
        answer = ours.client.recall(
            query, top_k=100, session="shared-session", include_metadata=True, group_by_memory=by_memory
        )
        assert answer.hits
        assert not [one for one in theirs.resource_ids if one in str(answer)]


def test_names_of_another_tenant_lead_nowhere(ours: Tenant, theirs: Tenant) -> None:
    mine = ours.client
    memory = theirs.note.name
    event = theirs.events[0].name
    for call in (
        lambda: mine.get_memory(memory),
        lambda: mine.update_memory(memory, {"pinned": True}),
        lambda: mine.forget(memories=[memory]),
        lambda: mine.forget(memories=[ours.note.name, memory]),
        lambda: list(mine.memory_history(memory)),
        lambda: mine.capture_trace(event),
        lambda: mine.get_forget_receipt(theirs.receipt),
        lambda: mine.restore(theirs.receipt),
        lambda: mine.get_recall_trace(theirs.trace),
    ):
        with refused(NotFound):
            call()
    assert apart_from_use(theirs.client.get_memory(memory)) == apart_from_use(theirs.note)
    assert apart_from_use(ours.client.get_memory(ours.note.name)) == apart_from_use(ours.note)


def test_an_event_id_of_another_tenant_is_free(ours: Tenant, theirs: Tenant) -> None:
    # Ids are unique within a tenant; whether another has one must not be told.
    event_id = theirs.events[0].name.rsplit("/", 1)[1]
    client = ours.admin.with_options(namespace=fresh_namespace(ours.admin, "tenancy"))
    stored = client.append_events("s", [Turn("user", "my own words", event_id=event_id)]).events
    assert [event.content for event in stored] == ["my own words"]
    assert [event.content for event in theirs.client.list_events("shared-session")] == [turn.content for turn in TURNS]


def test_a_page_token_of_another_tenant_shows_nothing_of_it(gateway: Wire, ours: Tenant, theirs: Tenant) -> None:
    request = messages.ListMemoriesRequest(parent=f"namespaces/{NAMESPACE}", page_size=1)
    token = gateway.call(LIST_MEMORIES, request, messages.ListMemoriesResponse, metadata=bearer(theirs.key))
    assert token.next_page_token
    request.page_token = token.next_page_token
    page = gateway.call(LIST_MEMORIES, request, messages.ListMemoriesResponse, metadata=bearer(ours.key))
    assert not [one for one in theirs.resource_ids if one in str(page)]


def ways_into(client: Client, namespace: str) -> list[Callable[[], object]]:
    """Calls that need to reach a namespace."""
    return [
        lambda: client.get_namespace(namespace),
        lambda: client.recall("x", namespace=namespace),
        lambda: client.recall("x", namespace=NAMESPACE, additional_namespaces=[namespace]),
        lambda: client.remember("x", namespace=namespace),
        lambda: client.append_events("s", [Turn("user", "x")], namespace=namespace),
        lambda: list(client.list_memories(namespace=namespace)),
        lambda: client.grant_access("agent", namespace=namespace),
    ]


def test_a_namespace_that_only_another_tenant_has_and_one_that_nobody_has(ours: Tenant, theirs: Tenant) -> None:
    for namespace in (fresh_namespace(theirs.admin, "theirs"), "never-made"):
        for call in ways_into(ours.admin, namespace):
            with refused(NamespaceDenied) as caught:
                call()
            assert caught.value.metadata["namespace"] == namespace


def test_a_key_that_may_only_read(ours: Tenant, connect: MakeClient) -> None:
    created = ours.admin.create_api_key("reader", "read")
    ours.admin.grant_access("reader", namespace=NAMESPACE)
    reader = connect(created.secret).with_options(namespace=NAMESPACE)
    assert reader.recall("松江仓库").hits
    assert reader.get_memory(ours.note.name).content == NOTE
    for call in (
        lambda: reader.append_events("s", [Turn("user", "x")]),
        lambda: reader.end_session("shared-session"),
        lambda: reader.remember("x"),
        lambda: reader.update_memory(ours.note.name, {"pinned": True}),
        lambda: reader.forget(memories=[ours.note.name]),
        lambda: reader.restore(ours.receipt),
        lambda: reader.create_namespace("readers-own"),
        lambda: reader.create_api_key("another", "read"),
    ):
        with refused(RoleInsufficient) as caught:
            call()
        assert caught.value.metadata["role"] == "read"
    assert apart_from_use(ours.client.get_memory(ours.note.name)) == apart_from_use(ours.note)


def test_a_key_limited_to_one_namespace(ours: Tenant, connect: MakeClient) -> None:
    own = fresh_namespace(ours.admin, "limited")
    limited = connect(ours.admin.create_api_key("admin-too", "admin", namespaces=[own]).secret)
    for call in (
        lambda: limited.recall("松江仓库", namespace=NAMESPACE),
        lambda: limited.recall("松江仓库", namespace=own, additional_namespaces=[NAMESPACE]),
        lambda: limited.remember("x", namespace=NAMESPACE),
        lambda: limited.get_memory(ours.note.name),
        lambda: limited.forget(memories=[ours.note.name], namespace=NAMESPACE),
        lambda: limited.create_namespace("beyond-its-limits"),
    ):
        with refused(NamespaceDenied):
            call()
    with refused(NotFound):
        limited.get_recall_trace(ours.trace)
    with refused(NotFound):
        limited.get_forget_receipt(ours.receipt)


def test_a_writer_of_another_namespace_needs_a_grant(ours: Tenant, connect: MakeClient) -> None:
    name = fresh_namespace(ours.admin, "granted")
    writer = connect(ours.admin.create_api_key("writer", "write").secret).with_options(namespace=name)
    with refused(NamespaceDenied):
        writer.recall("x")
    ours.admin.grant_access("writer", namespace=name)
    assert not writer.recall("x").hits
    with refused(NamespaceDenied) as caught:
        writer.remember("x")
    assert caught.value.metadata["access"] == "write"
    ours.admin.grant_access("writer", write=True, namespace=name)
    assert writer.remember("x").memory.content == "x"
    ours.admin.revoke_access("writer", namespace=name)
    with refused(NamespaceDenied):
        writer.recall("x")


def test_a_revoked_key_is_refused_at_once(ours: Tenant, connect: MakeClient) -> None:
    created = ours.admin.create_api_key("leaver", "write")
    leaver = connect(created.secret)
    leaver.create_namespace(f"leaver-{new_id().hex[-8:]}")
    ours.admin.revoke_api_key(created.api_key.name)
    with refused(CredentialInvalid):
        list(leaver.list_namespaces())


@pytest.mark.parametrize("key", ["rv_aaaaaaaaaaaaaaaa_" + "0" * 64, "rv_", "nonsense", "Bearer x", "rv_operator_x"])
def test_a_key_that_was_never_made(connect: MakeClient, key: str) -> None:
    with refused(CredentialInvalid) as caught:
        list(connect(key).list_namespaces())
    assert key not in caught.value.message


def test_a_key_with_a_wrong_secret(ours: Tenant, connect: MakeClient) -> None:
    secret = ours.admin.create_api_key("someone", "read").secret
    with refused(CredentialInvalid):
        list(connect(secret[:-4] + "ffff" if not secret.endswith("ffff") else secret[:-4] + "0000").list_namespaces())


def test_the_operator_reads_no_memories(operator: Client, ours: Tenant) -> None:
    for call in (
        lambda: operator.recall("松江仓库", namespace=NAMESPACE),
        lambda: operator.get_memory(ours.note.name),
        lambda: list(operator.list_memories(namespace=NAMESPACE)),
        lambda: list(operator.list_sessions(namespace=NAMESPACE)),
        lambda: operator.get_recall_trace(ours.trace),
        lambda: operator.remember("x", namespace=NAMESPACE),
        lambda: list(operator.list_namespaces()),
        lambda: list(operator.list_api_keys()),
    ):
        with refused(RoleInsufficient) as caught:
            call()
        assert caught.value.metadata["role"] == "operator"
    assert operator.get_tenant(ours.name).name == f"tenants/{ours.name}"


def test_a_tenants_admin_is_no_operator(ours: Tenant, theirs: Tenant) -> None:
    for call in (
        lambda: ours.admin.create_tenant("another-one"),
        lambda: ours.admin.get_tenant(theirs.name),
        lambda: list(ours.admin.list_tenants()),
        lambda: ours.admin.update_tenant(theirs.name, disabled=True),
    ):
        with refused(RoleInsufficient):
            call()


def test_a_disabled_tenant_is_refused_until_it_is_enabled(operator: Client, connect: MakeClient) -> None:
    created = operator.create_tenant(f"tenant-c-{new_id().hex[-8:]}")
    admin = connect(created.secret)
    admin.remember("还在吗？", namespace="default")
    operator.update_tenant(created.tenant.name, disabled=True)
    with refused(TenantDisabled):
        admin.recall("还在吗？", namespace="default")
    operator.update_tenant(created.tenant.name, disabled=False)
    assert admin.recall("还在吗？", namespace="default").hits
