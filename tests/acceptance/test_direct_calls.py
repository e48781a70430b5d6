"""The services behind the gateway serve nobody whose identity the gateway has not signed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import UUID

import jwt
import pytest
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from rearview.client import Client, Turn
from rearview.domain.errors import CredentialInvalid, CredentialMissing, NamespaceDenied, RoleInsufficient
from rearview.domain.ids import new_id
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.embedded.secrets import SecretsFile
from rearview.internal.v1 import lifecycle_service_pb2, retriever_service_pb2, writer_service_pb2
from rearview.rpc.identity import IDENTITY_KEY, sign_identity
from rearview.rpc.internal_keys import parse_internal_keys
from rearview.v1 import event_pb2, forget_pb2
from rearview.v1 import memory_service_pb2 as messages
from tests.support.client_steps import namespace_of, refused
from tests.support.supervised_stack import SupervisedStack
from tests.support.wire import Wire, bearer, service_address, wire_to

SERVICES = {
    "writer": writer_service_pb2.DESCRIPTOR.services_by_name["WriterService"],
    "retriever": retriever_service_pb2.DESCRIPTOR.services_by_name["RetrieverService"],
    "lifecycle": lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"],
}
METHODS = [
    (service, method.name)
    for service, descriptor in SERVICES.items()
    for method in descriptor.methods
    if not method.client_streaming and not method.server_streaming
]
OTHER_KEY = "0123456789abcdef0123456789abcdef-not-the-key"


@pytest.fixture(scope="module")
def wires(stack: SupervisedStack) -> Iterator[dict[str, Wire]]:
    with (
        wire_to(service_address(stack, "writer")) as writer,
        wire_to(service_address(stack, "retriever")) as retriever,
        wire_to(service_address(stack, "lifecycle")) as lifecycle,
    ):
        yield {"writer": writer, "retriever": retriever, "lifecycle": lifecycle}


@pytest.fixture(scope="module")
def internal_key(stack: SupervisedStack) -> str:
    secrets = SecretsFile(stack.folder.secrets_file).load()
    assert secrets is not None
    return secrets.internal_key


def call(wires: dict[str, Wire], service: str, method: str, request: Message | bytes, identity: str | None) -> Message:
    descriptor = SERVICES[service]
    answer = GetMessageClass(descriptor.methods_by_name[method].output_type)
    metadata = () if identity is None else ((IDENTITY_KEY, identity),)
    return wires[service].call(f"{descriptor.full_name}/{method}", request, answer, metadata=metadata)


def a_caller(namespace: str = "default", access: Access = Access.WRITE) -> Caller:
    return Caller(new_id(), "somebody", Role.ADMIN, {namespace: NamespaceAccess(new_id(), access)})


def path(service: str, method: str) -> str:
    return f"/{SERVICES[service].full_name}/{method}"


def identity_for(caller: Caller, key: str, service: str, method: str, *, ttl_seconds: int = 30) -> str:
    return sign_identity(caller, parse_internal_keys(key), service, path(service, method), ttl_seconds=ttl_seconds)


def claims(service: str, method: str, **changes: object) -> dict[str, object]:
    now = int(time.time())
    return {
        "aud": f"rearview-internal/{service}",
        "method": path(service, method),
        "iat": now,
        "exp": now + 30,
        "sub": "somebody",
        "tenant": str(new_id()),
        "role": "admin",
        "namespaces": {},
        "request": "",
        "trace": "",
        **changes,
    }


@pytest.mark.parametrize(("service", "method"), METHODS)
def test_without_an_identity(wires: dict[str, Wire], service: str, method: str) -> None:
    with refused(CredentialMissing):
        call(wires, service, method, b"", None)


@pytest.mark.parametrize("service", SERVICES)
def test_an_api_key_is_no_identity(wires: dict[str, Wire], stack: SupervisedStack, service: str) -> None:
    key = stack.endpoints().admin_key
    assert key is not None
    descriptor = SERVICES[service]
    method = descriptor.methods[0]
    with refused(CredentialMissing):
        wires[service].call(
            f"{descriptor.full_name}/{method.name}", b"", GetMessageClass(method.output_type), metadata=bearer(key)
        )


@pytest.mark.parametrize(
    "kind",
    [
        *("another key", "none", "expired", "another audience", "another service", "another method", "no method"),
        *("no tenant claim", "odd namespaces", "noise", "empty"),
    ],
)
@pytest.mark.parametrize("service", SERVICES)
def test_a_forged_or_expired_identity(wires: dict[str, Wire], internal_key: str, service: str, kind: str) -> None:
    method, other = (found.name for found in SERVICES[service].methods[:2])
    elsewhere = "retriever" if service != "retriever" else "writer"

    def signed(*without: str, **changes: object) -> str:
        made = {name: value for name, value in claims(service, method, **changes).items() if name not in without}
        return jwt.encode(made, internal_key, algorithm="HS256")

    identity = {
        "another key": identity_for(a_caller(), OTHER_KEY, service, method),
        "none": jwt.encode(claims(service, method), "", algorithm="none"),
        "expired": identity_for(a_caller(), internal_key, service, method, ttl_seconds=-60),
        "another audience": signed(aud="somewhere-else"),
        "another service": signed(aud=f"rearview-internal/{elsewhere}"),
        "another method": identity_for(a_caller(), internal_key, service, other),
        "no method": signed("method"),
        "no tenant claim": signed("tenant"),
        "odd namespaces": signed(namespaces={"default": "write"}),
        "noise": "a.b.c",
        "empty": "",
    }[kind]
    with refused(CredentialMissing if kind == "empty" else CredentialInvalid):
        call(wires, service, method, b"", identity)


def test_an_identity_reaches_the_namespaces_in_it_only(
    wires: dict[str, Wire], internal_key: str, client: Client
) -> None:
    namespace = namespace_of(client)
    client.append_events("s", [Turn("user", "只有自己人看得到。")])
    session = f"namespaces/{namespace}/sessions/s"
    append = messages.AppendEventsRequest(
        parent=session, events=[event_pb2.Event(role=event_pb2.ROLE_USER, content="smuggled in")]
    )
    for service, method, request in (
        ("writer", "AppendEvents", append),
        ("retriever", "ListEvents", messages.ListEventsRequest(parent=session)),
    ):
        elsewhere = identity_for(a_caller("another"), internal_key, service, method)
        with refused(NamespaceDenied):
            call(wires, service, method, request, elsewhere)
    reader = identity_for(a_caller(namespace, Access.READ), internal_key, "writer", "AppendEvents")
    with refused(NamespaceDenied):
        call(wires, "writer", "AppendEvents", append, reader)
    assert [event.content for event in client.list_events("s")] == ["只有自己人看得到。"]


def test_the_operators_identity_reaches_nothing(wires: dict[str, Wire], internal_key: str, client: Client) -> None:
    namespace = namespace_of(client)
    operator = Caller(None, "operator", Role.OPERATOR, {namespace: NamespaceAccess(UUID(int=1), Access.WRITE)})
    identity = identity_for(operator, internal_key, "retriever", "ListSessions")
    with refused(RoleInsufficient):
        call(
            wires, "retriever", "ListSessions", messages.ListSessionsRequest(parent=f"namespaces/{namespace}"), identity
        )


def test_a_reader_s_identity_is_not_a_writer_s(wires: dict[str, Wire], internal_key: str, client: Client) -> None:
    namespace = namespace_of(client)
    reached = {namespace: NamespaceAccess(UUID(int=1), Access.WRITE)}
    reader = Caller(new_id(), "reader", Role.READ, reached)
    forget = forget_pb2.ForgetRequest(parent=f"namespaces/{namespace}", query="anything")
    with refused(RoleInsufficient):
        call(wires, "writer", "Forget", forget, identity_for(reader, internal_key, "writer", "Forget"))
