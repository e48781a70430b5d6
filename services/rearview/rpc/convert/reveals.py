"""Asking for what redaction replaced."""

from rearview.domain.names import EventName, MemoryName, parse_event, parse_memory
from rearview.rpc.convert.forgets import MAX_REASON_CHARACTERS
from rearview.rpc.convert.requests import NIL
from rearview.rpc.convert.violations import Violations
from rearview.v1 import memory_service_pb2


def reveal_redacted_from_proto(request: memory_service_pb2.RevealRedactedRequest) -> tuple[EventName | MemoryName, str]:
    """Return what is to be revealed, and why. Raises: InvalidFields."""
    found = Violations()
    name: EventName | MemoryName
    if "/events/" in request.name:
        name = found.attempt(EventName("", "", NIL), parse_event, request.name, "name")
    else:
        name = found.attempt(MemoryName("", NIL), parse_memory, request.name, "name")
    reason = found.text(request.reason, "reason", max_characters=MAX_REASON_CHARACTERS, required=True)
    found.raise_if_any()
    return name, reason
