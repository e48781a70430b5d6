"""Calls that write, read, find and forget memories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from google.protobuf.field_mask_pb2 import FieldMask

from rearview.client.call import MEMORY_SERVICE, Call, Defaults, Pages, call, read
from rearview.client.values import (
    memory_name,
    namespace_name,
    number_of,
    optional_session_name,
    request_id_text,
    resource_name,
    session_name,
    struct_message,
    time_message,
)
from rearview.domain.errors import RearviewError, invalid_field
from rearview.domain.memory import MemoryState, MemoryType
from rearview.rpc.errors import from_code
from rearview.v1 import forget_pb2, memory_pb2, recall_pb2
from rearview.v1 import memory_service_pb2 as messages

BatchResult: TypeAlias = "list[messages.RememberResponse | RearviewError]"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory for `batch_remember`; the fields are those of `remember`."""

    content: str
    type: str | MemoryType = MemoryType.EXPLICIT
    priority: float = 0.5
    pinned: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: Sequence[str] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    session: str | None = None
    request_id: str | UUID | None = None


def remember(
    defaults: Defaults,
    content: str,
    *,
    type: str | MemoryType = MemoryType.EXPLICIT,  # noqa: A002 - the word of the API
    priority: float = 0.5,
    pinned: bool = False,
    labels: Mapping[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    entities: Sequence[str] = (),
    occurred_at: datetime | None = None,
    valid_from: datetime | None = None,
    expires_at: datetime | None = None,
    session: str | None = None,
    namespace: str | None = None,
    request_id: str | UUID | None = None,
) -> Call[messages.RememberResponse]:
    """Store one memory now, as it stands; the answer says whether it was new, merged, superseding or known."""
    memory = NewMemory(
        content=content,
        type=type,
        priority=priority,
        pinned=pinned,
        labels=labels or {},
        metadata=metadata or {},
        entities=entities,
        occurred_at=occurred_at,
        valid_from=valid_from,
        expires_at=expires_at,
        session=session,
        request_id=request_id,
    )
    request = _remember_request(defaults, memory, namespace)
    return call(MEMORY_SERVICE, "Remember", request, messages.RememberResponse, repeatable=True)


def batch_remember(
    defaults: Defaults, memories: Sequence[NewMemory], *, namespace: str | None = None
) -> Call[BatchResult]:
    """Store up to 100 memories; return for each its answer, or the error with which it alone failed."""
    request = messages.BatchRememberRequest(
        parent=namespace_name(defaults, namespace),
        requests=[_remember_request(defaults, memory, namespace) for memory in memories],
    )
    return Call(
        f"/{MEMORY_SERVICE}/BatchRemember",
        request,
        messages.BatchRememberResponse.FromString,
        _batch_result,
        repeatable=True,
    )


def get_memory(defaults: Defaults, memory: str | UUID, *, namespace: str | None = None) -> Call[memory_pb2.Memory]:
    """Read a memory, by its id or full name."""
    request = messages.GetMemoryRequest(name=memory_name(defaults, memory, namespace))
    return read(MEMORY_SERVICE, "GetMemory", request, memory_pb2.Memory)


def list_memories(
    defaults: Defaults,
    *,
    filter: recall_pb2.MemoryFilter | None = None,  # noqa: A002 - the word of the API
    states: Iterable[str | MemoryState] = (),
    as_of: datetime | None = None,
    full: bool = True,
    page_size: int = 0,
    namespace: str | None = None,
) -> Pages[memory_pb2.Memory]:
    """Iterate over memories, newest first; pages are fetched as they are needed. Not `full` leaves out the content.

    With `as_of` they are what was held at that time, whatever became of it since.
    """
    request = messages.ListMemoriesRequest(
        parent=namespace_name(defaults, namespace),
        page_size=page_size,
        filter=filter,
        as_of=time_message(as_of, "as_of"),
        states=[memory_pb2.MemoryState.ValueType(number_of(MemoryState, state, "states")) for state in states],
        view=messages.MEMORY_VIEW_FULL if full else messages.MEMORY_VIEW_BASIC,
    )
    return Pages(
        read(MEMORY_SERVICE, "ListMemories", request, messages.ListMemoriesResponse),
        lambda response: response.memories,
    )


def memory_history(
    defaults: Defaults, memory: str | UUID, *, page_size: int = 0, namespace: str | None = None
) -> Pages[memory_pb2.Memory]:
    """Iterate over the values that a memory's fact has had, newest first."""
    request = messages.ListMemoryHistoryRequest(name=memory_name(defaults, memory, namespace), page_size=page_size)
    return Pages(
        read(MEMORY_SERVICE, "ListMemoryHistory", request, messages.ListMemoryHistoryResponse),
        lambda response: response.memories,
    )


def update_memory(
    defaults: Defaults,
    memory: str | UUID,
    changes: Mapping[str, Any],
    *,
    etag: str = "",
    namespace: str | None = None,
    request_id: str | UUID | None = None,
) -> Call[memory_pb2.Memory]:
    """Change the fields that `changes` names; None clears a time. With an etag, refuse if it is stale.

    The names are those of the message: content, priority, pinned, labels, metadata, entities (texts), occurred_at,
    valid_from, valid_to, expire_time.
    """
    message = memory_pb2.Memory(name=memory_name(defaults, memory, namespace), etag=etag)
    for path, value in changes.items():
        _set(message, path, value)
    request = messages.UpdateMemoryRequest(
        memory=message, update_mask=FieldMask(paths=sorted(changes)), request_id=request_id_text(request_id)
    )
    return call(MEMORY_SERVICE, "UpdateMemory", request, memory_pb2.Memory, repeatable=True)


def undo_supersession(
    defaults: Defaults,
    memory: str | UUID,
    *,
    namespace: str | None = None,
    request_id: str | UUID | None = None,
) -> Call[memory_pb2.Memory]:
    """Make a superseded memory the active value again."""
    request = messages.UndoSupersessionRequest(
        name=memory_name(defaults, memory, namespace), request_id=request_id_text(request_id)
    )
    return call(MEMORY_SERVICE, "UndoSupersession", request, memory_pb2.Memory, repeatable=True)


def forget(
    defaults: Defaults,
    *,
    memories: Sequence[str | UUID] = (),
    events: Sequence[str] = (),
    session: str | None = None,
    last_turns: int | None = None,
    subject: str | None = None,
    query: str | None = None,
    filter: recall_pb2.MemoryFilter | None = None,  # noqa: A002 - the word of the API
    preview: bool = False,
    confirmation_token: str = "",
    reason: str = "",
    skip_grace_period: bool = False,
    namespace: str | None = None,
    request_id: str | UUID | None = None,
) -> Call[forget_pb2.ForgetReceipt]:
    """Forget memories, events (by full name), a session (or its `last_turns`), or what subject, query or filter select:
    exactly one of them.

    From the answer on nothing of it is returned; it is erased after the grace period, until which it can be restored.
    """
    given = [
        bool(memories),
        bool(events),
        session is not None,
        subject is not None,
        query is not None,
        filter is not None,
    ]
    if sum(given) != 1:
        raise invalid_field("target", "give exactly one of memories, events, session, subject, query, filter")
    if last_turns is not None and session is None:
        raise invalid_field("last_turns", "needs a session")
    request = forget_pb2.ForgetRequest(
        parent=namespace_name(defaults, namespace),
        preview=preview,
        confirmation_token=confirmation_token,
        reason=reason,
        request_id=request_id_text(request_id),
        skip_grace_period=skip_grace_period,
    )
    if memories:
        request.memories.names.extend(memory_name(defaults, memory, namespace) for memory in memories)
    elif events:
        request.events.names.extend(events)
    elif session is not None and last_turns is not None:
        request.last_turns.session = session_name(defaults, session, namespace)
        request.last_turns.count = last_turns
    elif session is not None:
        request.session = session_name(defaults, session, namespace)
    elif subject is not None:
        request.subject = subject
    elif query is not None:
        request.query = query
    elif filter is not None:
        request.filter.CopyFrom(filter)
    return call(MEMORY_SERVICE, "Forget", request, forget_pb2.ForgetReceipt, repeatable=True)


def get_forget_receipt(defaults: Defaults, receipt: str | UUID) -> Call[forget_pb2.ForgetReceipt]:
    """Read how far a forget has come, by the receipt's id or name."""
    del defaults  # receipts are named without their namespace
    request = forget_pb2.GetForgetReceiptRequest(name=resource_name("forgetReceipts", receipt))
    return read(MEMORY_SERVICE, "GetForgetReceipt", request, forget_pb2.ForgetReceipt)


def restore(defaults: Defaults, receipt: str | UUID) -> Call[forget_pb2.ForgetReceipt]:
    """Take a forget back; possible until it is purged. Taking it back again changes nothing."""
    del defaults  # receipts are named without their namespace
    request = forget_pb2.RestoreRequest(name=resource_name("forgetReceipts", receipt))
    return call(MEMORY_SERVICE, "Restore", request, forget_pb2.ForgetReceipt, repeatable=True)


def _remember_request(defaults: Defaults, memory: NewMemory, namespace: str | None) -> messages.RememberRequest:
    return messages.RememberRequest(
        parent=namespace_name(defaults, namespace),
        memory=memory_pb2.Memory(
            content=memory.content,
            type=memory_pb2.MemoryType.ValueType(number_of(MemoryType, memory.type, "type")),
            priority=memory.priority,
            pinned=memory.pinned,
            labels=memory.labels,
            metadata=struct_message(memory.metadata, "metadata"),
            entities=[memory_pb2.Entity(text=text) for text in memory.entities],
            occurred_at=time_message(memory.occurred_at, "occurred_at"),
            valid_from=time_message(memory.valid_from, "valid_from"),
            expire_time=time_message(memory.expires_at, "expires_at"),
        ),
        session=optional_session_name(defaults, memory.session, namespace),
        request_id=request_id_text(memory.request_id),
    )


def _batch_result(response: messages.BatchRememberResponse) -> BatchResult:
    return [
        from_code(result.code, result.reason, result.message) if result.code else result.response
        for result in response.results
    ]


def _set(message: memory_pb2.Memory, path: str, value: Any) -> None:
    if path in ("content", "priority", "pinned"):
        setattr(message, path, value)
    elif path == "labels":
        message.labels.update(value or {})
    elif path == "metadata":
        struct = struct_message(value, "metadata")
        if struct is not None:
            message.metadata.CopyFrom(struct)
    elif path == "entities":
        message.entities.extend(memory_pb2.Entity(text=text) for text in value or ())
    elif path in ("occurred_at", "valid_from", "valid_to", "expire_time"):
        moment = time_message(value, path)
        if moment is not None:
            getattr(message, path).CopyFrom(moment)
    else:
        raise invalid_field(path, "cannot be changed")
