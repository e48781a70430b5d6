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
from rearview.domain.errors import CredentialInvalid, CredentialMissing, NamespaceDenied
from rearview.domain.ids import new_id
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.embedded.secrets import SecretsFile
from rearview.internal.v1 import lifecycle_service_pb2, retriever_service_pb2, writer_service_pb2
from rearview.rpc.identity import IDENTITY_KEY, sign_identity
from rearview.v1 import event_pb2
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


def claims(**changes: object) -> dict[str, object]:
    now = int(time.time())
    return {
        "aud": "rearview-internal",
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
    ["another key", "none", "expired", "another audience", "no tenant claim", "odd namespaces", "noise", "empty"],
)
@pytest.mark.parametrize("service", SERVICES)
def test_a_forged_or_expired_identity(wires: dict[str, Wire], internal_key: str, service: str, kind: str) -> None:
    without_tenant = claims()
    del without_tenant["tenant"]
    identity = {
        "another key": sign_identity(a_caller(), OTHER_KEY),
        "none": jwt.encode(claims(), "", algorithm="none"),
        "expired": sign_identity(a_caller(), internal_key, ttl_seconds=-60),
        "another audience": jwt.encode(claims(aud="somewhere-else"), internal_key, algorithm="HS256"),
        "no tenant claim": jwt.encode(without_tenant, internal_key, algorithm="HS256"),
        "odd namespaces": jwt.encode(claims(namespaces={"default": "write"}), internal_key, algorithm="HS256"),
        "noise": "a.b.c",
        "empty": "",
    }[kind]
    method = SERVICES[service].methods[0].name
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
    elsewhere = sign_identity(a_caller("another"), internal_key)
    with refused(NamespaceDenied):
        call(wires, "writer", "AppendEvents", append, elsewhere)
    with refused(NamespaceDenied):
        call(wires, "retriever", "ListEvents", messages.ListEventsRequest(parent=session), elsewhere)
    reader = sign_identity(a_caller(namespace, Access.READ), internal_key)
    with refused(NamespaceDenied):
        call(wires, "writer", "AppendEvents", append, reader)
    assert [event.content for event in client.list_events("s")] == ["只有自己人看得到。"]


def test_the_operators_identity_reaches_nothing(wires: dict[str, Wire], internal_key: str, client: Client) -> None:
    namespace = namespace_of(client)
    identity = sign_identity(
        Caller(None, "operator", Role.OPERATOR, {namespace: NamespaceAccess(UUID(int=1), Access.WRITE)}), internal_key
    )
    with refused(NamespaceDenied):
        call(
            wires, "retriever", "ListSessions", messages.ListSessionsRequest(parent=f"namespaces/{namespace}"), identity
        )
