from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.client import memory_calls
from rearview.client.call import Defaults
from rearview.domain.errors import InvalidFields
from rearview.domain.forget import (
    ErasedPlace,
    ForgetEvents,
    ForgetFilter,
    ForgetLastTurns,
    ForgetMemories,
    ForgetPreview,
    ForgetQuery,
    ForgetReceipt,
    ForgetSelection,
    ForgetSession,
    ForgetState,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.names import EventName
from rearview.domain.recall import MemoryFilter
from rearview.rpc.convert import forgets as convert
from rearview.v1 import forget_pb2, recall_pb2
from tests.unit.rpc.garbage import convert_or_refuse, mutated
from tests.unit.rpc.strategies import NOW, few, moments, optional_texts, sessions

DEFAULTS = Defaults("default", 10)
EVENT = EventName("default", "s", UUID(int=7))


def _request(**fields: Any) -> forget_pb2.ForgetRequest:
    request = memory_calls.forget(DEFAULTS, **fields).request
    assert isinstance(request, forget_pb2.ForgetRequest)
    return request


@few
@given(st.lists(st.uuids(), min_size=1, max_size=5), optional_texts, st.booleans(), st.uuids())
def test_memories_to_forget_arrive(ids: list[UUID], reason: str, at_once: bool, request_id: UUID) -> None:
    forget = convert.forget_from_proto(
        _request(memories=ids, reason=reason, skip_grace_period=at_once, request_id=request_id)
    )
    assert forget.target == ForgetMemories(tuple(dict.fromkeys(ids)))
    assert (forget.namespace, forget.reason, forget.skip_grace_period) == ("default", reason, at_once)
    assert forget.request is not None
    assert forget.request.request_id == request_id


@few
@given(sessions)
def test_a_session_to_forget_arrives(session: str) -> None:
    assert convert.forget_from_proto(_request(session=session)).target == ForgetSession(session)


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        ({"subject": "李雷"}, ForgetSubject("李雷")),
        ({"query": "my phone number"}, ForgetQuery("my phone number")),
        ({"session": "s", "last_turns": 2}, ForgetLastTurns("s", 2)),
        ({"events": [str(EVENT), str(EVENT)]}, ForgetEvents((EVENT,))),
        (
            {"filter": recall_pb2.MemoryFilter(labels={"project": "项目"})},
            ForgetFilter(MemoryFilter(labels={"project": "项目"})),
        ),
    ],
)
def test_every_other_form_arrives(fields: dict[str, Any], target: ForgetTarget) -> None:
    assert convert.forget_from_proto(_request(**fields)).target == target


def test_events_of_another_namespace_and_too_many_are_refused() -> None:
    for events in ([str(EVENT), "namespaces/other/sessions/s/events/" + str(EVENT.event)], ["x"], [str(EVENT)] * 1_001):
        with pytest.raises(InvalidFields) as error:
            convert.forget_from_proto(_request(events=events))
        assert {v.field.partition("[")[0] for v in error.value.violations} == {"events.names"}


def test_a_token_arrives_but_not_with_a_preview() -> None:
    assert convert.forget_from_proto(_request(session="s", confirmation_token="x")).confirmation_token == "x"
    with pytest.raises(InvalidFields) as error:
        convert.forget_from_proto(_request(session="s", confirmation_token="x", preview=True))
    assert {v.field for v in error.value.violations} == {"confirmation_token"}


@pytest.mark.parametrize(
    ("request_", "fields"),
    [
        (forget_pb2.ForgetRequest(parent="namespaces/a", filter=recall_pb2.MemoryFilter()), {"filter"}),
        (
            forget_pb2.ForgetRequest(parent="namespaces/a", filter=recall_pb2.MemoryFilter(entities=[""])),
            {"filter.entities[0]"},
        ),
        (forget_pb2.ForgetRequest(parent="namespaces/a", subject=" " * 3), {"subject"}),
        (forget_pb2.ForgetRequest(parent="namespaces/a", query="字" * 4_097), {"query"}),
        (
            forget_pb2.ForgetRequest(
                parent="namespaces/a", last_turns=forget_pb2.LastTurns(session="namespaces/b/sessions/s", count=0)
            ),
            {"last_turns.session", "last_turns.count"},
        ),
    ],
)
def test_bad_fields_of_the_other_forms_are_told(request_: forget_pb2.ForgetRequest, fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as error:
        convert.forget_from_proto(request_)
    assert {v.field for v in error.value.violations} == fields


def test_what_a_query_found_is_taken_once_each() -> None:
    command = convert.forget_from_proto(_request(query="wo?", preview=True))
    names = [f"namespaces/default/memories/{UUID(int=i)}" for i in (1, 2, 1)]
    assert convert.with_found(command, names).target == ForgetQuery("wo?", (UUID(int=1), UUID(int=2)))


def test_a_preview_is_told_without_a_receipt() -> None:
    selection = ForgetSelection(tuple(UUID(int=i) for i in range(1_001)), (UUID(int=7),))
    message = convert.forget_preview_to_proto(ForgetPreview("a", selection, "token"))
    assert (message.name, message.preview, message.confirmation_token) == ("", True, "token")
    assert (len(message.memories), message.memory_count, message.event_count) == (1_000, 1_001, 1)


def test_every_bad_field_of_a_forget_is_told() -> None:
    request = forget_pb2.ForgetRequest(parent="namespaces/a", reason="因" * 501, request_id="?")
    request.memories.names.extend([f"namespaces/b/memories/{UUID(int=1)}", "x"])
    with pytest.raises(InvalidFields) as error:
        convert.forget_from_proto(request)
    assert {v.field for v in error.value.violations} == {
        "reason",
        "request_id",
        "memories.names[0]",
        "memories.names[1]",
    }
    for bad in (
        forget_pb2.ForgetRequest(parent="namespaces/a"),
        forget_pb2.ForgetRequest(parent="namespaces/a", memories=forget_pb2.MemoryNames()),
        forget_pb2.ForgetRequest(parent="namespaces/a", session="namespaces/b/sessions/s"),
        forget_pb2.ForgetRequest(
            parent="namespaces/a",
            memories=forget_pb2.MemoryNames(names=[f"namespaces/a/memories/{UUID(int=i)}" for i in range(1_001)]),
        ),
    ):
        with pytest.raises(InvalidFields):
            convert.forget_from_proto(bad)


@few
@given(mutated(_request(memories=[UUID(int=1), UUID(int=2)], reason="原因 reason", request_id=UUID(int=3))))
def test_garbage_never_raises_anything_else(octets: bytes) -> None:
    convert_or_refuse(forget_pb2.ForgetRequest, octets, convert.forget_from_proto)


@few
@given(moments, st.sampled_from(ForgetState), st.none() | moments)
def test_a_receipt_is_told_in_full(moment: datetime, state: ForgetState, purged: datetime | None) -> None:
    receipt = ForgetReceipt(
        UUID(int=1), "a", state, tuple(UUID(int=i) for i in range(1_001)), 1_001, 4, moment, NOW, purged, purged,
        (ErasedPlace("postgres.memory", 3, NOW),), "ab" * 32,
    )  # fmt: skip
    message = convert.forget_receipt_to_proto(receipt)
    assert convert.receipt_id_from_name(message.name) == UUID(int=1)
    assert forget_pb2.ForgetState.Name(message.state) == f"FORGET_STATE_{state.name}"
    assert (len(message.memories), message.memory_count, message.event_count) == (1_000, 1_001, 4)
    assert message.tombstone_time.ToDatetime(UTC) == moment
    assert message.HasField("purge_time") == (purged is not None)
    assert [(p.place, p.count) for p in message.places] == [("postgres.memory", 3)]
    assert message.digest == "ab" * 32
    assert message.beyond_reach
