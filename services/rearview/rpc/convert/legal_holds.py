"""Requests about legal holds."""

from uuid import UUID

from rearview.domain.legal_hold import HoldScope, HoldTarget, SetHold, StandingHold, hold_name
from rearview.domain.names import (
    MemoryName,
    NamespaceName,
    SessionName,
    parse_memory,
    parse_namespace,
    parse_session,
)
from rearview.domain.paging import Page, PageRequest
from rearview.rpc.convert.filters import MAX_ENTITY_CHARACTERS
from rearview.rpc.convert.forgets import MAX_REASON_CHARACTERS
from rearview.rpc.convert.requests import next_page_token, page_from_proto
from rearview.rpc.convert.times import time_to_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import lifecycle_pb2


def set_legal_hold_from_proto(request: lifecycle_pb2.SetLegalHoldRequest) -> SetHold:
    """Return what is to be held or free again. Raises: InvalidFields, with every bad field."""
    found = Violations()
    nowhere = NamespaceName(""), HoldTarget(HoldScope.NAMESPACE)
    namespace, target = found.attempt(nowhere, _named, request.name)
    subject = found.text(request.subject, "subject", max_characters=MAX_ENTITY_CHARACTERS)
    if subject:
        if target.scope is not HoldScope.NAMESPACE:
            found.add("subject", "goes with the name of a namespace only")
        if not subject.strip():
            found.add("subject", "must be a name")
        target = HoldTarget(HoldScope.SUBJECT, subject)
    reason = found.text(request.reason, "reason", max_characters=MAX_REASON_CHARACTERS, required=True)
    found.raise_if_any()
    return SetHold(namespace.namespace, target, request.name, request.held, reason)


def list_legal_holds_from_proto(
    request: lifecycle_pb2.ListLegalHoldsRequest, key: bytes
) -> tuple[NamespaceName | None, PageRequest]:
    """Return the namespace whose holds are asked for, None for all, and the page.

    Raises:
        InvalidFields: with every bad field.
        InvalidPageToken: the token was not made for this request.
    """
    found = Violations()
    name = found.attempt(None, parse_namespace, request.namespace, "namespace") if request.namespace else None
    page = page_from_proto(request, request.page_size, request.page_token, key, found)
    found.raise_if_any()
    return name, page


def legal_holds_to_proto(
    request: lifecycle_pb2.ListLegalHoldsRequest, page: Page[StandingHold], key: bytes
) -> lifecycle_pb2.ListLegalHoldsResponse:
    """Return the answer."""
    return lifecycle_pb2.ListLegalHoldsResponse(
        legal_holds=[
            lifecycle_pb2.LegalHold(
                name=hold_name(hold.hold_id),
                resource_name=_resource_name(hold),
                subject=hold.target if hold.scope is HoldScope.SUBJECT else "",
                principal=hold.principal,
                create_time=time_to_proto(hold.created_at),
            )
            for hold in page.rows
        ],
        next_page_token=next_page_token(request, page.next_after, key),
    )


def _resource_name(hold: StandingHold) -> str:
    if hold.scope is HoldScope.MEMORY:
        return str(MemoryName(hold.namespace, UUID(hold.target)))
    if hold.scope is HoldScope.SESSION:
        return str(SessionName(hold.namespace, hold.target))
    return str(NamespaceName(hold.namespace))


def _named(name: str) -> tuple[NamespaceName, HoldTarget]:
    if "/memories/" in name:
        memory = parse_memory(name, "name")
        return NamespaceName(memory.namespace), HoldTarget(HoldScope.MEMORY, str(memory.memory))
    if "/sessions/" in name:
        session = parse_session(name, "name")
        return NamespaceName(session.namespace), HoldTarget(HoldScope.SESSION, session.session)
    return parse_namespace(name, "name"), HoldTarget(HoldScope.NAMESPACE)
