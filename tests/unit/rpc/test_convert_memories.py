from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from hypothesis import given
from hypothesis import strategies as st

from rearview.client import memory_calls
from rearview.client.call import Defaults
from rearview.client.memory_calls import NewMemory
from rearview.client.values import memory_filter
from rearview.domain import errors
from rearview.domain.errors import InvalidFields
from rearview.domain.memory import DEFAULT_PRIORITY, Fact, Memory, MemoryState, MemoryType, Origin, Tier, Trust
from rearview.domain.text import Entity, EntityType, Intent, Language, Sentiment
from rearview.domain.writing import UPDATABLE_FIELDS, Remember, Remembered, RememberOutcome
from rearview.rpc.convert import memories as convert
from rearview.rpc.convert.filters import memory_filter_from_proto
from rearview.rpc.convert.requests import version_from_etag
from rearview.rpc.convert.times import time_from_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import memory_pb2, memory_service_pb2, recall_pb2
from tests.unit.rpc.garbage import convert_or_refuse, mutated
from tests.unit.rpc.strategies import (
    NOW,
    few,
    fractions,
    json_trees,
    labels,
    moments,
    namespaces,
    optional_texts,
    past_moments,
    rememberable_types,
    sessions,
    texts,
)

DEFAULTS = Defaults("default", 10)
KEY = b"key"

memories = st.builds(
    Memory,
    memory_id=st.uuids(),
    type=st.sampled_from(MemoryType),
    content=texts,
    occurred_at=moments,
    created_at=moments,
    updated_at=moments,
    origin=st.sampled_from(Origin),
    trust=st.sampled_from(Trust),
    state=st.sampled_from(MemoryState),
    tier=st.sampled_from(Tier),
    priority=fractions,
    pinned=st.booleans(),
    labels=labels,
    metadata=json_trees,
    entities=st.lists(
        st.builds(Entity, st.sampled_from(EntityType), texts, texts, st.just(0), st.just(1)), max_size=3
    ).map(tuple),
    intent=st.sampled_from(Intent),
    sentiment=st.builds(Sentiment, st.floats(-1, 1, width=32), fractions),
    confidence=fractions,
    valid_from=st.none() | moments,
    valid_to=st.none() | moments,
    expires_at=st.none() | moments,
    superseded_by=st.none() | st.uuids(),
    session_id=st.just("") | sessions,
    event_ids=st.lists(st.tuples(sessions, st.uuids()), max_size=3).map(tuple),
    languages=st.frozensets(st.sampled_from(Language)),
    generation_id=optional_texts,
    redactions=st.lists(st.sampled_from(["PHONE", "IP"]), max_size=2).map(tuple),
    fact=st.none() | st.builds(Fact, texts, texts, texts, optional_texts, st.booleans()),
    access_count=st.integers(0, 2**40),
    last_accessed_at=st.none() | moments,
    version=st.integers(1, 2**40),
)


def _time(message: Any, path: str) -> datetime | None:
    return time_from_proto(getattr(message, path), path, Violations()) if message.HasField(path) else None


def _violations(convert_it: Any, *args: Any) -> dict[str, str]:
    with pytest.raises(InvalidFields) as error:
        convert_it(*args)
    return {v.field: v.description for v in error.value.violations}


@few
@given(memories, namespaces)
def test_a_memory_is_told_in_full(memory: Memory, namespace: str) -> None:
    message = convert.memory_to_proto(memory, namespace)
    assert message.name == f"namespaces/{namespace}/memories/{memory.memory_id}"
    assert memory_pb2.MemoryType.Name(message.type) == f"MEMORY_TYPE_{memory.type.name}"
    assert memory_pb2.MemoryState.Name(message.state) == f"MEMORY_STATE_{memory.state.name}"
    assert memory_pb2.Tier.Name(message.tier) == f"TIER_{memory.tier.name}"
    assert memory_pb2.Origin.Name(message.origin) == f"ORIGIN_{memory.origin.name}"
    assert memory_pb2.Trust.Name(message.trust) == f"TRUST_{memory.trust.name}"
    assert [memory_pb2.EntityType.Name(e.type) for e in message.entities] == [
        f"ENTITY_TYPE_{e.type.name}" for e in memory.entities
    ]
    assert [(e.text, e.canonical) for e in message.entities] == [(e.text, e.canonical) for e in memory.entities]
    assert (message.content, message.priority, message.pinned) == (memory.content, memory.priority, memory.pinned)
    assert dict(message.labels) == memory.labels
    assert (message.intent, message.confidence) == (memory.intent.value, memory.confidence)
    assert (message.sentiment.valence, message.sentiment.intensity) == (
        memory.sentiment.valence,
        memory.sentiment.intensity,
    )
    assert _time(message, "occurred_at") == memory.occurred_at
    assert _time(message, "create_time") == memory.created_at
    assert _time(message, "update_time") == memory.updated_at
    assert _time(message, "valid_from") == memory.valid_from
    assert _time(message, "valid_to") == memory.valid_to
    assert _time(message, "expire_time") == memory.expires_at
    assert _time(message, "last_access_time") == memory.last_accessed_at
    assert bool(message.superseded_by) == (memory.superseded_by is not None)
    assert list(message.events) == [f"namespaces/{namespace}/sessions/{s}/events/{e}" for s, e in memory.event_ids]
    assert message.session == (f"namespaces/{namespace}/sessions/{memory.session_id}" if memory.session_id else "")
    assert set(message.languages) == {language.value for language in memory.languages}
    assert (message.embedding_generation, message.access_count) == (memory.generation_id, memory.access_count)
    assert version_from_etag(message.etag, "etag", Violations()) == memory.version
    if memory.fact:
        assert (message.fact.subject, message.fact.value, message.fact.single_valued) == (
            memory.fact.subject,
            memory.fact.value,
            memory.fact.single_valued,
        )
    basic = convert.memory_to_proto(memory, namespace, convert.BASIC)
    assert (basic.content, len(basic.entities), basic.HasField("metadata")) == ("", 0, False)
    assert basic.etag == message.etag


remembers = st.fixed_dictionaries(
    {
        "content": texts,
        "type": rememberable_types,
        "priority": st.floats(min_value=2**-10, max_value=1, width=32),
        "pinned": st.booleans(),
        "labels": labels,
        "metadata": json_trees,
        "entities": st.lists(texts, max_size=3, unique=True),
        "occurred_at": st.none() | past_moments,
        "valid_from": st.none() | moments,
        "expires_at": st.none() | st.just(NOW + timedelta(days=3)),
        "session": st.none() | sessions,
    }
)


@few
@given(remembers, st.uuids())
def test_what_a_client_remembers_arrives(given_fields: dict[str, Any], request_id: UUID) -> None:
    request = memory_calls.remember(DEFAULTS, **given_fields, request_id=request_id).request
    assert isinstance(request, memory_service_pb2.RememberRequest)
    remember = convert.remember_from_proto(request, NOW)
    assert remember == Remember(
        namespace="default",
        content=given_fields["content"],
        occurred_at=given_fields["occurred_at"] or NOW,
        type=given_fields["type"],
        priority=given_fields["priority"],
        pinned=given_fields["pinned"],
        labels=given_fields["labels"],
        metadata=given_fields["metadata"],
        entities=tuple(given_fields["entities"]),
        valid_from=given_fields["valid_from"],
        expires_at=given_fields["expires_at"],
        session_id=given_fields["session"] or "",
        request=remember.request,
    )
    assert remember.request is not None
    assert (remember.request.request_id, remember.request.method) == (request_id, "Remember")


def test_every_bad_field_of_a_memory_is_told() -> None:
    request = memory_service_pb2.RememberRequest(parent="namespaces/a", session="namespaces/b/sessions/s")
    request.memory.content = "\0"
    request.memory.type = memory_pb2.MEMORY_TYPE_EPISODE
    request.memory.priority = float("nan")
    request.memory.labels["坏 key"] = "v"
    request.memory.labels["ok"] = "v" * 257
    request.memory.entities.add(text="")
    request.memory.occurred_at.seconds = -1
    request.memory.valid_from.seconds = 253_402_300_800
    request.memory.expire_time.FromDatetime(NOW - timedelta(seconds=1))
    assert set(_violations(convert.remember_from_proto, request, NOW)) == {
        "session",
        "memory.content",
        "memory.type",
        "memory.priority",
        "memory.labels",
        "memory.labels[ok]",
        "memory.entities[0].text",
        "memory.occurred_at",
        "memory.valid_from",
        "memory.expire_time",
    }
    many = memory_service_pb2.RememberRequest(parent="namespaces/a")
    many.memory.content = "记住"
    many.memory.labels.update({f"k{i}": "" for i in range(65)})
    many.memory.entities.extend([memory_pb2.Entity(text="x")] * 101)
    assert set(_violations(convert.remember_from_proto, many, NOW)) == {"memory.labels", "memory.entities"}


def test_a_batch_tells_each_memory_s_own_error() -> None:
    request = memory_calls.batch_remember(DEFAULTS, [NewMemory("我喜欢美式"), NewMemory(" "), NewMemory("ok")]).request
    assert isinstance(request, memory_service_pb2.BatchRememberRequest)
    namespace, results = convert.batch_remember_from_proto(request, NOW)
    assert namespace == "default"
    assert [type(result) for result in results] == [Remember, InvalidFields, Remember]
    spelled_out = memory_service_pb2.BatchRememberRequest(parent="namespaces/default")
    spelled_out.requests.add().CopyFrom(request.requests[0])
    spelled_out.requests[0].ClearField("parent")
    _, (without_parent,) = convert.batch_remember_from_proto(spelled_out, NOW)
    assert without_parent == results[0]

    spelled_out.requests[0].parent = "namespaces/other"
    assert set(_violations(convert.batch_remember_from_proto, spelled_out, NOW)) == {"requests[0].parent"}
    spelled_out.ClearField("requests")
    assert set(_violations(convert.batch_remember_from_proto, spelled_out, NOW)) == {"requests"}


@few
@given(memories, st.sampled_from(RememberOutcome))
def test_the_outcome_of_a_remember_is_told(memory: Memory, outcome: RememberOutcome) -> None:
    response = convert.remembered_to_proto(Remembered(memory, outcome, (UUID(int=5),)), "a")
    assert memory_service_pb2.RememberOutcome.Name(response.outcome) == f"REMEMBER_OUTCOME_{outcome.name}"
    assert list(response.related) == [f"namespaces/a/memories/{UUID(int=5)}"]
    results = convert.batch_remembered_to_proto(
        [Remembered(memory, outcome), errors.QuotaExceeded("满了")], "a"
    ).results
    assert (results[0].code, results[0].response.memory.content) == (0, memory.content)
    assert (results[1].code, results[1].reason, results[1].message) == (8, "QUOTA_EXCEEDED", "满了")


@few
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": texts,
            "priority": fractions,
            "pinned": st.booleans(),
            "labels": labels,
            "metadata": json_trees,
            "entities": st.lists(texts, max_size=3, unique=True),
            "occurred_at": moments,
            "valid_from": st.none() | moments,
            "expire_time": st.none() | moments,
        },
    ).filter(bool)
)
def test_what_a_client_changes_arrives_and_nothing_else(changes: dict[str, Any]) -> None:
    request = memory_calls.update_memory(DEFAULTS, UUID(int=3), changes, etag='"4"').request
    assert isinstance(request, memory_service_pb2.UpdateMemoryRequest)
    update = convert.update_memory_from_proto(request)
    assert (update.namespace, update.memory_id, update.etag) == ("default", UUID(int=3), '"4"')
    assert update.mask == frozenset(changes)
    for path, value in changes.items():
        stored = getattr(update, {"expire_time": "expires_at"}.get(path, path))
        assert stored == (tuple(value) if path == "entities" else value)


def test_updates_name_their_fields() -> None:
    name = f"namespaces/a/memories/{UUID(int=1)}"
    request = memory_service_pb2.UpdateMemoryRequest(memory=memory_pb2.Memory(name=name, etag="x"))
    assert set(_violations(convert.update_memory_from_proto, request)) == {"update_mask", "memory.etag"}
    request.memory.etag = ""
    request.update_mask.CopyFrom(FieldMask(paths=["state", "content", "occurred_at"]))
    assert set(_violations(convert.update_memory_from_proto, request)) == {
        "update_mask",
        "memory.content",
        "memory.occurred_at",
    }
    request.update_mask.CopyFrom(FieldMask(paths=["valid_from", "valid_to"]))
    request.memory.valid_from.seconds, request.memory.valid_to.seconds = 10, 5
    assert set(_violations(convert.update_memory_from_proto, request)) == {"memory.valid_to"}


def test_every_updatable_field_is_of_the_message() -> None:
    assert set(memory_pb2.Memory.DESCRIPTOR.fields_by_name) >= UPDATABLE_FIELDS


filters = st.fixed_dictionaries(
    {
        "types": st.lists(st.sampled_from(MemoryType), max_size=3),
        "start": st.none() | past_moments,
        "entities": st.lists(texts, max_size=3),
        "session": st.just("") | sessions.map(lambda s: f"namespaces/default/sessions/{s}"),
        "labels": labels,
        "origins": st.lists(st.sampled_from(Origin), max_size=2),
    }
)


@few
@given(filters, st.sets(st.sampled_from([s for s in MemoryState if s is not MemoryState.TOMBSTONED])))
def test_a_list_s_filter_arrives(given_fields: dict[str, Any], states: set[MemoryState]) -> None:
    pages = memory_calls.list_memories(DEFAULTS, filter=memory_filter(**given_fields), states=states, page_size=7)
    request = pages.first.request
    assert isinstance(request, memory_service_pb2.ListMemoriesRequest)
    wanted = convert.list_memories_from_proto(request, KEY)
    assert wanted.states == (states or {MemoryState.ACTIVE})
    assert (wanted.page.size, wanted.page.after) == (7, ())
    assert wanted.filter.types == frozenset(given_fields["types"])
    assert wanted.filter.start == given_fields["start"]
    assert wanted.filter.entities == tuple(given_fields["entities"])
    assert wanted.filter.session_id == given_fields["session"].rpartition("/")[2]
    assert wanted.filter.labels == given_fields["labels"]
    assert wanted.filter.origins == frozenset(given_fields["origins"])


def test_bad_lists_and_filters_are_refused_field_by_field() -> None:
    request = memory_service_pb2.ListMemoriesRequest(parent="x", page_size=1_001, view=9)  # type: ignore[arg-type]
    request.states.extend([memory_pb2.MEMORY_STATE_TOMBSTONED, 77])  # type: ignore[list-item]
    request.filter.types.append(55)  # type: ignore[arg-type]
    request.filter.start_time.seconds = 10
    request.filter.end_time.seconds = 10
    request.filter.session = "namespaces/b"
    assert set(_violations(convert.list_memories_from_proto, request, KEY)) == {
        "parent",
        "page_size",
        "view",
        "states",
        "states[1]",
        "filter.types[0]",
        "filter.end_time",
        "filter.session",
    }
    request.page_size = -1
    assert "page_size" in _violations(convert.list_memories_from_proto, request, KEY)
    other = recall_pb2.MemoryFilter(session="namespaces/b/sessions/s")
    assert set(_violations(lambda: memory_filter_from_proto(other, "f", namespace="a"))) == {"f.session"}
    assert (
        memory_filter_from_proto(
            recall_pb2.MemoryFilter(types=[memory_pb2.MEMORY_TYPE_UNSPECIFIED, memory_pb2.MEMORY_TYPE_EPISODE]), "f"
        ).types
        == frozenset()
    )


_REMEMBER = memory_calls.remember(
    DEFAULTS, "我喜欢美式 coffee", type="fact", labels={"k": "v"}, metadata={"a": [1, {"b": None}]}, entities=["美式"],
    occurred_at=NOW, valid_from=NOW, session="s", request_id=UUID(int=1),
).request  # fmt: skip
_UPDATE = memory_calls.update_memory(
    DEFAULTS, UUID(int=1), {"content": "新", "valid_to": NOW, "labels": {"k": ""}}
).request


@few
@given(mutated(_REMEMBER), mutated(_UPDATE), st.binary(max_size=100))
def test_garbage_never_raises_anything_else(remember: bytes, update: bytes, listing: bytes) -> None:
    convert_or_refuse(memory_service_pb2.RememberRequest, remember, lambda r: convert.remember_from_proto(r, NOW))
    convert_or_refuse(memory_service_pb2.UpdateMemoryRequest, update, convert.update_memory_from_proto)
    convert_or_refuse(
        memory_service_pb2.ListMemoriesRequest, listing, lambda r: convert.list_memories_from_proto(r, KEY)
    )


def test_the_lowest_priority_is_not_taken_for_no_priority() -> None:
    request = memory_service_pb2.RememberRequest(
        parent="namespaces/notes", memory=memory_pb2.Memory(content="不重要 but kept")
    )
    assert convert.remember_from_proto(request, NOW).priority == DEFAULT_PRIORITY
    request.memory.priority = 0.0
    assert convert.remember_from_proto(request, NOW).priority == 0.0
