"""Memories: remembering, listing, updating, and how a memory looks outside."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypeAlias

from rearview.domain.errors import InvalidFields, RearviewError
from rearview.domain.event import MAX_CONTENT_CHARACTERS, MAX_METADATA_BYTES
from rearview.domain.listing import KNOWN_ONCE, ListMemories
from rearview.domain.memory import DEFAULT_PRIORITY, MAX_ENTITIES, Memory, MemoryState, MemoryType
from rearview.domain.names import (
    EventName,
    MemoryName,
    NamespaceName,
    SessionName,
    parse_memory,
    parse_namespace,
    parse_session,
)
from rearview.domain.paging import PageRequest
from rearview.domain.recall import MemoryFilter
from rearview.domain.text import EntityType
from rearview.domain.writing import UPDATABLE_FIELDS, Remember, Remembered, RequestKey, UpdateMemory
from rearview.rpc.convert.filters import MAX_ENTITY_CHARACTERS, memory_filter_from_proto
from rearview.rpc.convert.requests import (
    NIL,
    labels_from_proto,
    mask_from_proto,
    page_from_proto,
    request_key_from_proto,
    require_namespace,
    version_from_etag,
)
from rearview.rpc.convert.structs import struct_from_proto, struct_to_proto
from rearview.rpc.convert.times import optional_time_to_proto, past_from_proto, time_from_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.rpc.errors import code_of, to_status
from rearview.v1 import memory_pb2, memory_service_pb2

MAX_BATCH = 100

FULL = memory_service_pb2.MEMORY_VIEW_FULL
BASIC = memory_service_pb2.MEMORY_VIEW_BASIC

RememberOrError: TypeAlias = Remember | RearviewError

_NO_NAMESPACE = NamespaceName("")
_NO_MEMORY = MemoryName("", NIL)
_ENTITY_TYPES: Mapping[EntityType, memory_pb2.EntityType.ValueType] = {
    kind: memory_pb2.EntityType.Value(f"ENTITY_TYPE_{kind.name}") for kind in EntityType
}


def remember_from_proto(request: memory_service_pb2.RememberRequest, now: datetime) -> Remember:
    """Return the memory to store; without a type it is explicit, without a time it is of `now`.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    parent = found.attempt(_NO_NAMESPACE, parse_namespace, request.parent, "parent")
    memory = request.memory
    session = _session_of(request.session, parent, found) if request.session else ""
    key = request_key_from_proto(request, request.request_id, found)
    if memory.type in (memory_pb2.MEMORY_TYPE_EPISODE, memory_pb2.MEMORY_TYPE_SUMMARY):
        found.add("memory.type", "episodes and summaries are made from events; they cannot be remembered")
    occurred_at = (
        past_from_proto(memory.occurred_at, "memory.occurred_at", found, now) if memory.HasField("occurred_at") else now
    )
    expires_at = _optional_time(memory, "expire_time", found)
    if expires_at is not None and expires_at <= now:
        found.add("memory.expire_time", "must lie in the future")
    remember = Remember(
        namespace=parent.namespace,
        content=found.text(memory.content, "memory.content", max_characters=MAX_CONTENT_CHARACTERS, required=True),
        occurred_at=occurred_at,
        type=found.member(MemoryType, memory.type, "memory.type", MemoryType.EXPLICIT),
        # proto3 cannot tell 0 from unset here; a memory that is worth a call is not worth nothing.
        priority=found.fraction(memory.priority, "memory.priority")
        if memory.HasField("priority")
        else DEFAULT_PRIORITY,
        pinned=memory.pinned,
        labels=labels_from_proto(memory.labels, "memory.labels", found),
        metadata=struct_from_proto(memory.metadata, "memory.metadata", found, max_bytes=MAX_METADATA_BYTES),
        entities=_entities_from_proto(memory.entities, found),
        valid_from=_optional_time(memory, "valid_from", found),
        expires_at=expires_at,
        session_id=session,
        request=key,
    )
    found.raise_if_any()
    return remember


def batch_remember_from_proto(
    request: memory_service_pb2.BatchRememberRequest, now: datetime
) -> tuple[str, list[RememberOrError]]:
    """Return the namespace and, for each memory of the batch, what to store or why it cannot be.

    Raises:
        InvalidFields: the batch as a whole is malformed: parent, number, or a parent that differs.
    """
    found = Violations()
    parent = found.attempt(_NO_NAMESPACE, parse_namespace, request.parent, "parent")
    if not 1 <= len(request.requests) <= MAX_BATCH:
        found.add("requests", f"has {len(request.requests)} requests; from 1 to {MAX_BATCH} are allowed")
    for index, single in enumerate(request.requests[:MAX_BATCH]):
        if single.parent and single.parent != request.parent:
            found.add(f"requests[{index}].parent", "must be empty or that of the batch")
    found.raise_if_any()
    results: list[RememberOrError] = []
    for single in request.requests:
        # The same request counts as repeated whether or not it spells out its parent.
        complete = memory_service_pb2.RememberRequest()
        complete.CopyFrom(single)
        complete.parent = request.parent
        try:
            results.append(remember_from_proto(complete, now))
        except InvalidFields as error:
            results.append(error)
    return parent.namespace, results


def remembered_to_proto(remembered: Remembered, namespace: str) -> memory_service_pb2.RememberResponse:
    """Return the answer that says what became of a memory."""
    return memory_service_pb2.RememberResponse(
        memory=memory_to_proto(remembered.memory, namespace),
        outcome=memory_service_pb2.RememberOutcome.ValueType(remembered.outcome),
        related=[str(MemoryName(namespace, memory_id)) for memory_id in remembered.related],
    )


def batch_remembered_to_proto(
    results: Iterable[Remembered | RearviewError], namespace: str
) -> memory_service_pb2.BatchRememberResponse:
    """Return the answer of a batch, in the order of its requests."""
    response = memory_service_pb2.BatchRememberResponse()
    for result in results:
        if isinstance(result, RearviewError):
            response.results.add(code=code_of(result).value[0], reason=result.reason, message=to_status(result).message)
        else:
            response.results.add(response=remembered_to_proto(result, namespace))
    return response


def update_memory_from_proto(request: memory_service_pb2.UpdateMemoryRequest) -> UpdateMemory:
    """Return the new values; fields outside the mask are not looked at.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    memory = request.memory
    name = found.attempt(_NO_MEMORY, parse_memory, memory.name, "memory.name")
    mask = mask_from_proto(request.update_mask.paths, UPDATABLE_FIELDS, "update_mask", found)
    version_from_etag(memory.etag, "memory.etag", found)
    key = request_key_from_proto(request, request.request_id, found)
    if "occurred_at" in mask and not memory.HasField("occurred_at"):
        found.add("memory.occurred_at", "cannot be cleared")
    times = {
        path: _optional_time(memory, path, found)
        for path in ("occurred_at", "valid_from", "valid_to", "expire_time")
        if path in mask
    }
    begin, end = times.get("valid_from"), times.get("valid_to")
    if begin is not None and end is not None and end < begin:
        found.add("memory.valid_to", "must not lie before valid_from")
    update = UpdateMemory(
        namespace=name.namespace,
        memory_id=name.memory,
        mask=mask,
        content=found.text(memory.content, "memory.content", max_characters=MAX_CONTENT_CHARACTERS, required=True)
        if "content" in mask
        else "",
        priority=found.fraction(memory.priority, "memory.priority") if "priority" in mask else DEFAULT_PRIORITY,
        pinned=memory.pinned if "pinned" in mask else False,
        labels=labels_from_proto(memory.labels, "memory.labels", found) if "labels" in mask else {},
        metadata=struct_from_proto(memory.metadata, "memory.metadata", found, max_bytes=MAX_METADATA_BYTES)
        if "metadata" in mask
        else {},
        entities=_entities_from_proto(memory.entities, found) if "entities" in mask else (),
        occurred_at=times.get("occurred_at"),
        valid_from=begin,
        valid_to=end,
        expires_at=times.get("expire_time"),
        etag=memory.etag,
        request=key,
    )
    found.raise_if_any()
    return update


def list_memories_from_proto(request: memory_service_pb2.ListMemoriesRequest, key: bytes) -> ListMemories:
    """Return which memories are asked for; the view stays in the request, for `memory_to_proto`.

    Raises:
        InvalidFields: with every bad field.
        InvalidPageToken: the token was not made for this request.
    """
    found = Violations()
    parent = found.attempt(_NO_NAMESPACE, parse_namespace, request.parent, "parent")
    if request.view not in memory_service_pb2.MemoryView.values():
        found.add("view", f"has the unknown value {request.view}")
    states = frozenset(
        found.member(MemoryState, state, f"states[{index}]", MemoryState.ACTIVE)
        for index, state in enumerate(request.states)
    )
    if MemoryState.TOMBSTONED in states:
        found.add("states", "what is forgotten is never listed")
    as_of = time_from_proto(request.as_of, "as_of", found) if request.HasField("as_of") else None
    if as_of is not None and states:
        found.add("states", "must be empty with as_of, which decides by time")
    wanted = ListMemories(
        namespace=parent.namespace,
        filter=found.attempt(
            MemoryFilter(), memory_filter_from_proto, request.filter, "filter", namespace=parent.namespace
        ),
        states=states or (KNOWN_ONCE if as_of else frozenset({MemoryState.ACTIVE})),
        as_of=as_of,
        page=page_from_proto(request, request.page_size, request.page_token, key, found),
    )
    found.raise_if_any()
    return wanted


def list_history_from_proto(
    request: memory_service_pb2.ListMemoryHistoryRequest, key: bytes
) -> tuple[MemoryName, PageRequest]:
    """Return the memory and the page. Raises: InvalidFields; InvalidPageToken."""
    found = Violations()
    name = found.attempt(_NO_MEMORY, parse_memory, request.name, "name")
    page = page_from_proto(request, request.page_size, request.page_token, key, found)
    found.raise_if_any()
    return name, page


def memory_to_proto(
    memory: Memory,
    namespace: str,
    view: memory_service_pb2.MemoryView.ValueType = FULL,
    *,
    with_metadata: bool = True,
    with_events: bool = True,
) -> memory_pb2.Memory:
    """Return the memory's message; the BASIC view has neither content nor metadata nor entities."""
    full = view != BASIC
    return memory_pb2.Memory(
        name=str(MemoryName(namespace, memory.memory_id)),
        type=memory_pb2.MemoryType.ValueType(memory.type),
        content=memory.content if full else "",
        state=memory_pb2.MemoryState.ValueType(memory.state),
        tier=memory_pb2.Tier.ValueType(memory.tier),
        priority=memory.priority,
        pinned=memory.pinned,
        labels=memory.labels,
        metadata=struct_to_proto(memory.metadata) if full and with_metadata and memory.metadata else None,
        entities=[
            memory_pb2.Entity(type=_ENTITY_TYPES[entity.type], text=entity.text, canonical=entity.canonical)
            for entity in memory.entities
        ]
        if full
        else (),
        intent=memory.intent.value,
        sentiment=memory_pb2.Sentiment(valence=memory.sentiment.valence, intensity=memory.sentiment.intensity),
        origin=memory_pb2.Origin.ValueType(memory.origin),
        trust=memory_pb2.Trust.ValueType(memory.trust),
        confidence=memory.confidence,
        valid_from=optional_time_to_proto(memory.valid_from),
        valid_to=optional_time_to_proto(memory.valid_to),
        occurred_at=time_to_proto(memory.occurred_at),
        create_time=time_to_proto(memory.created_at),
        update_time=time_to_proto(memory.updated_at),
        last_access_time=optional_time_to_proto(memory.last_accessed_at),
        access_count=memory.access_count,
        superseded_by=str(MemoryName(namespace, memory.superseded_by)) if memory.superseded_by else "",
        events=[str(EventName(namespace, session, event)) for session, event in memory.event_ids]
        if with_events
        else (),
        session=str(SessionName(namespace, memory.session_id)) if memory.session_id else "",
        languages=sorted(language.value for language in memory.languages),
        embedding_generation=memory.generation_id,
        redactions=memory.redactions,
        fact=memory_pb2.Fact(
            subject=memory.fact.subject,
            attribute=memory.fact.attribute,
            value=memory.fact.value,
            unit=memory.fact.unit,
            single_valued=memory.fact.single_valued,
            denied=memory.fact.denied,
            stance=memory.fact.stance,
            category=memory.fact.category,
            extractor=memory.fact.extractor,
            prompt_version=memory.fact.prompt_version,
            extraction_note=memory.fact.note,
        )
        if memory.fact
        else None,
        expire_time=optional_time_to_proto(memory.expires_at),
        etag=memory.etag,
    )


def undo_supersession_from_proto(
    request: memory_service_pb2.UndoSupersessionRequest,
) -> tuple[MemoryName, RequestKey | None]:
    """Return the memory that is to be active again, and the request's key.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    name = found.attempt(_NO_MEMORY, parse_memory, request.name, "name")
    key = request_key_from_proto(request, request.request_id, found)
    found.raise_if_any()
    return name, key


def _session_of(name: str, parent: NamespaceName, found: Violations) -> str:
    session = found.attempt(SessionName(parent.namespace, ""), parse_session, name, "session")
    require_namespace(session.namespace, parent.namespace, "session", found)
    return session.session


def _entities_from_proto(entities: Iterable[memory_pb2.Entity], found: Violations) -> tuple[str, ...]:
    texts = []
    for index, entity in enumerate(entities):
        if index == MAX_ENTITIES:
            found.add("memory.entities", f"has too many entries; at most {MAX_ENTITIES} are allowed")
            break
        texts.append(
            found.text(
                entity.text, f"memory.entities[{index}].text", max_characters=MAX_ENTITY_CHARACTERS, required=True
            )
        )
    return tuple(dict.fromkeys(texts))


def _optional_time(memory: memory_pb2.Memory, path: str, found: Violations) -> datetime | None:
    if not memory.HasField(path):  # type: ignore[arg-type]
        return None
    return time_from_proto(getattr(memory, path), f"memory.{path}", found)
