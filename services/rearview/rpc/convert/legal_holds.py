"""Requests about legal holds."""

from rearview.domain.legal_hold import HoldScope, HoldTarget, SetHold
from rearview.domain.names import NamespaceName, parse_memory, parse_namespace, parse_session
from rearview.rpc.convert.filters import MAX_ENTITY_CHARACTERS
from rearview.rpc.convert.forgets import MAX_REASON_CHARACTERS
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


def _named(name: str) -> tuple[NamespaceName, HoldTarget]:
    if "/memories/" in name:
        memory = parse_memory(name, "name")
        return NamespaceName(memory.namespace), HoldTarget(HoldScope.MEMORY, str(memory.memory))
    if "/sessions/" in name:
        session = parse_session(name, "name")
        return NamespaceName(session.namespace), HoldTarget(HoldScope.SESSION, session.session)
    return parse_namespace(name, "name"), HoldTarget(HoldScope.NAMESPACE)
