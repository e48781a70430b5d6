"""Forgetting and its receipts."""

from uuid import UUID

from rearview.domain.errors import FeatureNotOffered, InvalidConfirmationToken
from rearview.domain.forget import (
    BEYOND_REACH,
    MAX_NAMES_PER_FORGET,
    Forget,
    ForgetMemories,
    ForgetReceipt,
    ForgetSession,
    ForgetTarget,
)
from rearview.domain.names import (
    MemoryName,
    NamespaceName,
    SessionName,
    parse_identified,
    parse_memory,
    parse_namespace,
    parse_session,
)
from rearview.rpc.convert.requests import NIL, request_key_from_proto, require_namespace
from rearview.rpc.convert.times import optional_time_to_proto, time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import forget_pb2

RECEIPTS = "forgetReceipts"
MAX_REASON_CHARACTERS = 500


def forget_from_proto(request: forget_pb2.ForgetRequest) -> Forget:
    """Return what is to be forgotten.

    Raises:
        InvalidFields: with every bad field.
        FeatureNotOffered: the kind of target, or a preview, which this version does not offer.
        InvalidConfirmationToken: a token came, and without previews there can be none.
    """
    found = Violations()
    parent = found.attempt(NamespaceName(""), parse_namespace, request.parent, "parent")
    target = _target(request, parent, found)
    reason = found.text(request.reason, "reason", max_characters=MAX_REASON_CHARACTERS)
    key = request_key_from_proto(request, request.request_id, found)
    found.raise_if_any()
    if target is None:
        raise _not_offered(request.WhichOneof("target") or "")
    if request.preview:
        raise _not_offered("preview")
    if request.confirmation_token:
        raise InvalidConfirmationToken("the confirmation token belongs to no preview")
    return Forget(
        namespace=parent.namespace,
        target=target,
        reason=reason,
        skip_grace_period=request.skip_grace_period,
        request=key,
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


def _target(request: forget_pb2.ForgetRequest, parent: NamespaceName, found: Violations) -> ForgetTarget | None:
    kind = request.WhichOneof("target")
    if kind is None:
        found.add("target", "is required: memories, session, ...")
    elif kind == "memories":
        return ForgetMemories(_memory_ids(request.memories, parent, found))
    elif kind == "session":
        session = found.attempt(SessionName(parent.namespace, ""), parse_session, request.session, "session")
        require_namespace(session.namespace, parent.namespace, "session", found)
        return ForgetSession(session.session)
    return None


def _memory_ids(names: forget_pb2.MemoryNames, parent: NamespaceName, found: Violations) -> tuple[UUID, ...]:
    if not 1 <= len(names.names) <= MAX_NAMES_PER_FORGET:
        found.add("memories.names", f"has {len(names.names)} names; from 1 to {MAX_NAMES_PER_FORGET} are allowed")
    ids = []
    for index, name in enumerate(names.names[:MAX_NAMES_PER_FORGET]):
        field = f"memories.names[{index}]"
        memory = found.attempt(MemoryName(parent.namespace, NIL), parse_memory, name, field)
        require_namespace(memory.namespace, parent.namespace, field, found)
        ids.append(memory.memory)
    return tuple(dict.fromkeys(ids))


def _not_offered(what: str) -> FeatureNotOffered:
    return FeatureNotOffered(f"forgetting by {what} is not offered by this version", feature=f"forget.{what}")
