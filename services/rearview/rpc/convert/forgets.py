"""Forgetting and its receipts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from rearview.domain.errors import invalid_field
from rearview.domain.forget import (
    BEYOND_REACH,
    MAX_FOUND_BY_QUERY,
    MAX_LAST_TURNS,
    MAX_NAMES_PER_FORGET,
    MAX_SUBJECT_CHARACTERS,
    Forget,
    ForgetEvents,
    ForgetFilter,
    ForgetLastTurns,
    ForgetMemories,
    ForgetPreview,
    ForgetQuery,
    ForgetReceipt,
    ForgetSession,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.names import (
    EventName,
    MemoryName,
    NamespaceName,
    SessionName,
    parse_event,
    parse_identified,
    parse_memory,
    parse_namespace,
    parse_session,
)
from rearview.domain.recall import MAX_QUERY_CHARACTERS, MemoryFilter
from rearview.rpc.convert.filters import memory_filter_from_proto
from rearview.rpc.convert.requests import NIL, request_key_from_proto, require_namespace
from rearview.rpc.convert.times import optional_time_to_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import forget_pb2

_Name = TypeVar("_Name", MemoryName, EventName)

MAX_TOKEN_CHARACTERS = 1_000
RECEIPTS = "forgetReceipts"
MAX_REASON_CHARACTERS = 500


def forget_from_proto(request: forget_pb2.ForgetRequest) -> Forget:
    """Return what is to be forgotten.

    Raises:
        InvalidFields: with every bad field.
    """
    found = Violations()
    parent = found.attempt(NamespaceName(""), parse_namespace, request.parent, "parent")
    target = _target(request, parent, found)
    reason = found.text(request.reason, "reason", max_characters=MAX_REASON_CHARACTERS)
    token = found.text(request.confirmation_token, "confirmation_token", max_characters=MAX_TOKEN_CHARACTERS)
    if request.preview and token:
        found.add("confirmation_token", "belongs to the forget itself: a preview confirms nothing")
    key = request_key_from_proto(request, request.request_id, found)
    found.raise_if_any()
    return Forget(
        namespace=parent.namespace,
        target=target,
        reason=reason,
        skip_grace_period=request.skip_grace_period,
        request=key,
        confirmation_token=token,
    )


def with_found(command: Forget, names: Sequence[str]) -> Forget:
    """Return the preview of a query with what the query found, at most MAX_FOUND_BY_QUERY. Raises: InvalidFields."""
    if not isinstance(command.target, ForgetQuery):
        raise invalid_field("request.query", "is required: only queries are searched for")
    ids = tuple(dict.fromkeys(parse_memory(name, f"memories[{at}]").memory for at, name in enumerate(names)))
    return replace(command, target=replace(command.target, found=ids[:MAX_FOUND_BY_QUERY]))


def forget_preview_to_proto(preview: ForgetPreview) -> forget_pb2.ForgetReceipt:
    """Return the message of a preview, with at most 1,000 of the memories by name."""
    selection = preview.selection
    return forget_pb2.ForgetReceipt(
        namespace=str(NamespaceName(preview.namespace)),
        memories=[str(MemoryName(preview.namespace, one)) for one in selection.memory_ids[:MAX_NAMES_PER_FORGET]],
        memory_count=len(selection.memory_ids),
        event_count=len(selection.event_ids),
        preview=True,
        confirmation_token=preview.confirmation_token,
    )


def receipt_id_from_name(name: str) -> UUID:
    """Return the id of `forgetReceipts/{receipt}`. Raises: InvalidFields."""
    return parse_identified(name, RECEIPTS, "name")


def forget_receipt_to_proto(receipt: ForgetReceipt) -> forget_pb2.ForgetReceipt:
    """Return the receipt's message, with at most 1,000 of the memories by name."""
    return forget_pb2.ForgetReceipt(
        name=f"{RECEIPTS}/{receipt.receipt_id}",
        state=forget_pb2.ForgetState.ValueType(receipt.state),
        namespace=str(NamespaceName(receipt.namespace)),
        memories=[
            str(MemoryName(receipt.namespace, memory_id)) for memory_id in receipt.memory_ids[:MAX_NAMES_PER_FORGET]
        ],
        memory_count=receipt.memory_count,
        event_count=receipt.event_count,
        tombstone_time=time_to_proto(receipt.tombstoned_at),
        purge_after_time=time_to_proto(receipt.purge_after),
        purge_time=optional_time_to_proto(receipt.purged_at),
        verify_time=optional_time_to_proto(receipt.verified_at),
        places=[
            forget_pb2.ErasedPlace(place=place.place, count=place.count, erase_time=time_to_proto(place.erased_at))
            for place in receipt.places
        ],
        digest=receipt.digest,
        beyond_reach=BEYOND_REACH,
    )


def _target(request: forget_pb2.ForgetRequest, parent: NamespaceName, found: Violations) -> ForgetTarget:
    kind = request.WhichOneof("target")
    if kind is None:
        found.add("target", "is required: memories, events, session, subject, filter, query or last_turns")
    elif kind == "memories":
        return ForgetMemories(_memory_ids(request.memories, parent, found))
    elif kind == "events":
        return ForgetEvents(_events(request.events, parent, found))
    elif kind == "session":
        session = found.attempt(SessionName(parent.namespace, ""), parse_session, request.session, "session")
        require_namespace(session.namespace, parent.namespace, "session", found)
        return ForgetSession(session.session)
    elif kind == "subject":
        return ForgetSubject(
            found.text(request.subject, "subject", max_characters=MAX_SUBJECT_CHARACTERS, required=True)
        )
    elif kind == "query":
        return ForgetQuery(found.text(request.query, "query", max_characters=MAX_QUERY_CHARACTERS, required=True))
    elif kind == "last_turns":
        return _last_turns(request.last_turns, parent, found)
    elif kind == "filter":
        nothing = MemoryFilter()
        wanted = found.attempt(
            nothing,
            lambda message, field: memory_filter_from_proto(message, field, namespace=parent.namespace),
            request.filter,
            "filter",
        )
        if wanted is not nothing and wanted.is_empty:
            found.add("filter", "must not be empty: it would select everything")
        return ForgetFilter(wanted)
    return ForgetMemories(())


def _last_turns(wanted: forget_pb2.LastTurns, parent: NamespaceName, found: Violations) -> ForgetLastTurns:
    session = found.attempt(SessionName(parent.namespace, ""), parse_session, wanted.session, "last_turns.session")
    require_namespace(session.namespace, parent.namespace, "last_turns.session", found)
    if not 1 <= wanted.count <= MAX_LAST_TURNS:
        found.add("last_turns.count", f"is {wanted.count}; from 1 to {MAX_LAST_TURNS} are allowed")
    return ForgetLastTurns(session.session, wanted.count)


def _memory_ids(names: forget_pb2.MemoryNames, parent: NamespaceName, found: Violations) -> tuple[UUID, ...]:
    unknown = MemoryName(parent.namespace, NIL)
    parsed = _named(names.names, parse_memory, unknown, "memories.names", parent, found)
    return tuple(dict.fromkeys(name.memory for name in parsed))


def _events(names: forget_pb2.EventNames, parent: NamespaceName, found: Violations) -> tuple[EventName, ...]:
    unknown = EventName(parent.namespace, "", NIL)
    return tuple(dict.fromkeys(_named(names.names, parse_event, unknown, "events.names", parent, found)))


def _named(
    names: Sequence[str],
    parse: Callable[[str, str], _Name],
    unknown: _Name,
    field: str,
    parent: NamespaceName,
    found: Violations,
) -> list[_Name]:
    """Return the names, parsed; note too many, those that are none, and those of another namespace."""
    if not 1 <= len(names) <= MAX_NAMES_PER_FORGET:
        found.add(field, f"has {len(names)} names; from 1 to {MAX_NAMES_PER_FORGET} are allowed")
    parsed = []
    for index, name in enumerate(names[:MAX_NAMES_PER_FORGET]):
        one = found.attempt(unknown, parse, name, f"{field}[{index}]")
        require_namespace(one.namespace, parent.namespace, f"{field}[{index}]", found)
        parsed.append(one)
    return parsed
