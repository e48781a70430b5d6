"""Bad input: each kind is refused with its documented code, reason and field, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import grpc
import pytest
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from rearview.client import Client, Turn
from rearview.domain.errors import InvalidFields, RearviewError
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from rearview.rpc.channel import MAX_REQUEST_BYTES
from rearview.rpc.errors import code_of
from rearview.v1 import memory_service_pb2, namespace_pb2, recall_pb2, tenant_pb2
from tests.acceptance.bad_requests import BAD_FIELDS, INVALID, OTHER_REASONS, Place, append, recall, remember, said
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.client_steps import apart_from_use, indexed, namespace_of
from tests.support.wire import Metadata, Wire, bearer, wire_to

pb = memory_service_pb2
SERVICES = {
    file.services_by_name[name].full_name: file.services_by_name[name]
    for file, name in (
        (memory_service_pb2.DESCRIPTOR, "MemoryService"),
        (namespace_pb2.DESCRIPTOR, "NamespaceService"),
        (tenant_pb2.DESCRIPTOR, "TenantService"),
    )
}
MEMORY_SERVICE = "rearview.v1.MemoryService"
INVALID_FIELD = "INVALID_FIELD"
SURROGATE_OCTETS = b"\xed\xa0\x80"
"""U+D800 as UTF-8 would have it, if it were allowed."""


@pytest.fixture(scope="module")
def place(admin: Client) -> Place:
    client = in_fresh_namespace(admin)
    namespace = namespace_of(client)
    request_id = str(new_id())
    event = client.append_events("s", [Turn("user", "我住在杭州。")], request_id=request_id).events[0]
    client.end_session("s")
    indexed(client)
    return Place(client, namespace, client.remember("窗户朝南。").memory, event, request_id)


@pytest.fixture(scope="module")
def wire(endpoints: Endpoints) -> Iterator[Wire]:
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    with wire_to(endpoints.gateway, bearer(endpoints.admin_key)) as wire:
        yield wire


def refusal(wire: Wire, method: str, request: Message | bytes, metadata: Metadata | None = None) -> RearviewError:
    """Return the error with which a call ends."""
    service, _, name = method.rpartition("/")
    descriptor = SERVICES[service or MEMORY_SERVICE]
    answer = GetMessageClass(descriptor.methods_by_name[name].output_type)
    with pytest.raises(RearviewError) as caught:
        wire.call(f"{descriptor.full_name}/{name}", request, answer, metadata=metadata)
    return caught.value


@pytest.mark.parametrize("case", BAD_FIELDS)
def test_a_bad_field_is_named(wire: Wire, place: Place, case: str) -> None:
    method, build, fields = BAD_FIELDS[case]
    error = refusal(wire, method, build(place))
    assert (code_of(error), error.reason) == (INVALID, INVALID_FIELD)
    assert isinstance(error, InvalidFields)
    assert {violation.field for violation in error.violations} == fields
    assert all(violation.description for violation in error.violations)


def test_after_all_that_nothing_has_changed(place: Place) -> None:
    assert place.counts() == (1, 1, 2)
    assert apart_from_use(place.client.get_memory(place.memory.name)) == apart_from_use(place.memory)


def test_defaults_stand_for_zero(wire: Wire, place: Place) -> None:
    answer = wire.call(f"{MEMORY_SERVICE}/Recall", recall(place, top_k=0), recall_pb2.RecallResponse)
    assert 0 < len(answer.hits) <= 8


@pytest.mark.parametrize("case", OTHER_REASONS)
def test_other_refusals_have_their_documented_reasons(wire: Wire, place: Place, case: str) -> None:
    method, build, code, reason, metadata = OTHER_REASONS[case]
    error = refusal(wire, method, build(place))
    assert (code_of(error), error.reason) == (code, reason)
    assert metadata.items() <= error.metadata.items()
    assert place.counts() == (1, 1, 2)


def test_a_page_token_of_another_list(wire: Wire, place: Place) -> None:
    request = pb.ListMemoriesRequest(parent=place.parent, page_size=1)
    token = wire.call(f"{MEMORY_SERVICE}/ListMemories", request, pb.ListMemoriesResponse).next_page_token
    assert token
    for method, foreign in (
        ("ListSessions", pb.ListSessionsRequest(parent=place.parent, page_token=token)),
        ("ListMemories", pb.ListMemoriesRequest(parent="namespaces/default", page_token=token)),
        ("ListMemories", pb.ListMemoriesRequest(parent=place.parent, page_token=token[:-1])),
        ("ListMemories", pb.ListMemoriesRequest(parent=place.parent, page_token=token * 100)),
    ):
        error = refusal(wire, method, foreign)
        assert (code_of(error), error.reason) == (INVALID, "INVALID_PAGE_TOKEN")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ((), "CREDENTIAL_MISSING"),
        ((("authorization", ""),), "CREDENTIAL_INVALID"),
        ((("authorization", "Bearer"),), "CREDENTIAL_INVALID"),
        ((("authorization", "Bearer "),), "CREDENTIAL_INVALID"),
        ((("authorization", "Basic dXNlcjpwYXNz"),), "CREDENTIAL_INVALID"),
        ((("authorization", "Bearer rv_abcdefgh_x"),), "CREDENTIAL_INVALID"),
        ((("authorization", "Bearer " + "x" * 4_000),), "CREDENTIAL_INVALID"),
        ((("authorization", "Bearer ' OR 1=1 --"),), "CREDENTIAL_INVALID"),
        ((("x-api-key", "nonsense"),), "CREDENTIAL_INVALID"),
        ((("x-api-key", "a"), ("authorization", "Bearer b")), "CREDENTIAL_INVALID"),
    ],
    ids=str,
)
def test_bad_credentials(wire: Wire, place: Place, metadata: Metadata, reason: str) -> None:
    error = refusal(wire, "Recall", recall(place), metadata)
    assert (code_of(error), error.reason) == (grpc.StatusCode.UNAUTHENTICATED, reason)


def test_a_request_that_is_too_large(wire: Wire, place: Place) -> None:
    error = refusal(wire, "AppendEvents", append(place, said("x" * (MAX_REQUEST_BYTES + 1))))
    assert (code_of(error), error.reason) == (INVALID, "REQUEST_TOO_LARGE")
    assert int(error.metadata["size_bytes"]) > int(error.metadata["limit_bytes"])


def test_a_request_far_too_large(wire: Wire, place: Place) -> None:
    error = refusal(wire, "AppendEvents", append(place, said("x" * (3 * MAX_REQUEST_BYTES))))
    assert error.reason == "REQUEST_TOO_LARGE"


@pytest.mark.parametrize("inflated_bytes", [MAX_REQUEST_BYTES + 1, 8 * MAX_REQUEST_BYTES])
@pytest.mark.parametrize("known", [True, False], ids=["with a key", "without a key"])
def test_a_compressed_request_counts_as_large_as_it_inflates_to(wire: Wire, inflated_bytes: int, known: bool) -> None:
    with pytest.raises(RearviewError) as caught:
        wire.call(
            f"{MEMORY_SERVICE}/AppendEvents",
            b"\x0a" + bytes(inflated_bytes),
            pb.AppendEventsResponse,
            metadata=None if known else (),
            compression=grpc.Compression.Gzip,
        )
    assert caught.value.reason in ({"REQUEST_TOO_LARGE"} if known else {"REQUEST_TOO_LARGE", "CREDENTIAL_MISSING"})


@pytest.mark.parametrize("octets", [SURROGATE_OCTETS, b"\xff\xfe", b"ok\xc3"], ids=["surrogate", "no UTF-8", "cut"])
@pytest.mark.parametrize("method", ["AppendEvents", "Remember", "Recall"])
def test_text_that_is_no_utf8(wire: Wire, place: Place, method: str, octets: bytes) -> None:
    mark = "MARK" + "x" * (len(octets) - 4) if len(octets) > 4 else "MARK"[: len(octets)]
    request: Message = {
        "AppendEvents": append(place, said(mark)),
        "Remember": remember(place, mark),
        "Recall": recall(place, mark),
    }[method]
    wired = request.SerializeToString()
    assert wired.count(mark.encode()) == 1
    error = refusal(wire, method, wired.replace(mark.encode(), octets))
    assert (code_of(error), error.reason) == (INVALID, INVALID_FIELD)


@pytest.mark.parametrize("octets", [b"\xff" * 20, b"\x0a\xff\xff\xff\xff\x0f", b"\x08", bytes(range(256))])
@pytest.mark.parametrize("method", ["AppendEvents", "Recall", "Forget", "GetMemory"])
def test_bytes_that_are_no_message(wire: Wire, method: str, octets: bytes) -> None:
    error = refusal(wire, method, octets)
    assert (code_of(error), error.reason) == (INVALID, INVALID_FIELD)


def test_the_client_refuses_what_cannot_be_sent(client: Client) -> None:
    for call in (
        lambda: client.remember("lone \ud800 surrogate"),
        lambda: client.recall("lone \udfff"),
        lambda: client.recall("x", top_k=2**40),
        lambda: client.append_events("s", [Turn("nobody", "x")]),
        lambda: client.append_events("s", [Turn("user", "x", occurred_at=datetime(2026, 1, 1))]),  # noqa: DTZ001
        lambda: client.append_events("s", [Turn("user", "x", metadata={"x": object()})]),
        lambda: client.update_memory(new_id(), {"nonsense": 1}),
        lambda: client.forget(),
    ):
        with pytest.raises(InvalidFields):
            call()
    assert list(client.list_sessions()) == []


def test_in_the_end_nothing_has_changed(place: Place) -> None:
    assert place.counts() == (1, 1, 2)
