"""The namespaces that a request names: every one of them, wherever in the request it stands.

Each function returns the ids of the namespaces, in order, and raises InvalidFields naming every malformed name. What
is only optional and absent names nothing; a required name that is absent is malformed.
"""

from collections.abc import Callable
from typing import TypeAlias

from rearview.domain import names
from rearview.domain.errors import FieldViolation, InvalidFields
from rearview.v1 import forget_pb2, lifecycle_pb2, memory_service_pb2, namespace_pb2, recall_pb2


class _Collected:
    """Names found so far, and what is wrong with the others."""

    def __init__(self) -> None:
        self._namespaces: dict[str, None] = {}
        self._violations: list[FieldViolation] = []

    def add(self, parse: "_Parse", name: str, field: str, *, optional: bool = False) -> None:
        if optional and not name:
            return
        try:
            self._namespaces[parse(name, field).namespace] = None
        except InvalidFields as error:
            self._violations.extend(error.violations)

    def result(self) -> tuple[str, ...]:
        if self._violations:
            raise InvalidFields(*self._violations)
        return tuple(self._namespaces)


_Name: TypeAlias = names.NamespaceName | names.SessionName | names.EventName | names.MemoryName
_Parse: TypeAlias = Callable[[str, str], _Name]


def _one(parse: _Parse, name: str, field: str, *, optional: bool = False) -> tuple[str, ...]:
    found = _Collected()
    found.add(parse, name, field, optional=optional)
    return found.result()


def append_events(request: memory_service_pb2.AppendEventsRequest) -> tuple[str, ...]:
    found = _Collected()
    found.add(names.parse_session, request.parent, "parent")
    for index, event in enumerate(request.events):
        found.add(names.parse_event, event.name, f"events[{index}].name", optional=True)
    return found.result()


def end_session(request: memory_service_pb2.EndSessionRequest) -> tuple[str, ...]:
    return _one(names.parse_session, request.name, "name")


def remember(request: memory_service_pb2.RememberRequest) -> tuple[str, ...]:
    found = _Collected()
    found.add(names.parse_namespace, request.parent, "parent")
    found.add(names.parse_session, request.session, "session", optional=True)
    return found.result()


def batch_remember(request: memory_service_pb2.BatchRememberRequest) -> tuple[str, ...]:
    # A bad entry fails by itself, and its parent is the batch's or empty: so says the service that stores it. Here
    # only well-formed names count, each of which must be reachable.
    found = _Collected()
    found.add(names.parse_namespace, request.parent, "parent")
    for entry in request.requests:
        for parse, name in ((names.parse_namespace, entry.parent), (names.parse_session, entry.session)):
            if name and _is_well_formed(parse, name):
                found.add(parse, name, "requests")
    return found.result()


def memory_by_name(
    request: memory_service_pb2.GetMemoryRequest
    | memory_service_pb2.ListMemoryHistoryRequest
    | memory_service_pb2.UndoSupersessionRequest,
) -> tuple[str, ...]:
    return _one(names.parse_memory, request.name, "name")


def update_memory(request: memory_service_pb2.UpdateMemoryRequest) -> tuple[str, ...]:
    return _one(names.parse_memory, request.memory.name, "memory.name")


def parent_and_filter(
    request: memory_service_pb2.ListMemoriesRequest | memory_service_pb2.ExportMemoriesRequest,
) -> tuple[str, ...]:
    found = _Collected()
    found.add(names.parse_namespace, request.parent, "parent")
    found.add(names.parse_session, request.filter.session, "filter.session", optional=True)
    return found.result()


def parent(
    request: memory_service_pb2.ListSessionsRequest | memory_service_pb2.ImportMemoriesRequest,
) -> tuple[str, ...]:
    return _one(names.parse_namespace, request.parent, "parent")


def parent_session(request: memory_service_pb2.ListEventsRequest) -> tuple[str, ...]:
    return _one(names.parse_session, request.parent, "parent")


def session_by_name(request: memory_service_pb2.GetWorkingMemoryRequest) -> tuple[str, ...]:
    return _one(names.parse_session, request.name, "name")


def event_by_name(request: memory_service_pb2.GetCaptureTraceRequest) -> tuple[str, ...]:
    return _one(names.parse_event, request.name, "name")


def memory_or_event(request: memory_service_pb2.RevealRedactedRequest) -> tuple[str, ...]:
    parse: _Parse = names.parse_event if "/events/" in request.name else names.parse_memory
    return _one(parse, request.name, "name")


def recall(request: recall_pb2.RecallRequest) -> tuple[str, ...]:
    found = _Collected()
    found.add(names.parse_namespace, request.parent, "parent")
    for index, name in enumerate(request.additional_namespaces):
        found.add(names.parse_namespace, name, f"additional_namespaces[{index}]")
    found.add(names.parse_session, request.session, "session", optional=True)
    found.add(names.parse_session, request.filter.session, "filter.session", optional=True)
    return found.result()


def forget(request: forget_pb2.ForgetRequest) -> tuple[str, ...]:
    found = _Collected()
    found.add(names.parse_namespace, request.parent, "parent")
    for index, name in enumerate(request.memories.names):
        found.add(names.parse_memory, name, f"memories.names[{index}]")
    for index, name in enumerate(request.events.names):
        found.add(names.parse_event, name, f"events.names[{index}]")
    found.add(names.parse_session, request.session, "session", optional=True)
    found.add(names.parse_session, request.filter.session, "filter.session", optional=True)
    found.add(names.parse_session, request.last_turns.session, "last_turns.session", optional=True)
    return found.result()


def namespace_by_name(
    request: namespace_pb2.GetNamespaceRequest
    | namespace_pb2.DeleteNamespaceRequest
    | namespace_pb2.GrantAccessRequest
    | namespace_pb2.RevokeAccessRequest
    | namespace_pb2.SubscribeRequest
    | namespace_pb2.UnsubscribeRequest
    | namespace_pb2.GetNamespacePolicyRequest
    | namespace_pb2.UpdateNamespacePolicyRequest,
) -> tuple[str, ...]:
    return _one(names.parse_namespace, request.name, "name")


def update_namespace(request: namespace_pb2.UpdateNamespaceRequest) -> tuple[str, ...]:
    return _one(names.parse_namespace, request.namespace.name, "namespace.name")


def optional_namespace(
    request: lifecycle_pb2.GetTierStatsRequest | lifecycle_pb2.RunSweepRequest,
) -> tuple[str, ...]:
    return _one(names.parse_namespace, request.namespace, "namespace", optional=True)


def memories_by_name(request: lifecycle_pb2.RehydrateRequest) -> tuple[str, ...]:
    found = _Collected()
    for index, name in enumerate(request.names):
        found.add(names.parse_memory, name, f"names[{index}]")
    return found.result()


def held_resource(request: lifecycle_pb2.SetLegalHoldRequest) -> tuple[str, ...]:
    parse: _Parse = names.parse_namespace
    if "/memories/" in request.name:
        parse = names.parse_memory
    elif "/sessions/" in request.name:
        parse = names.parse_session
    return _one(parse, request.name, "name")


def none_named(_request: object) -> tuple[str, ...]:
    return ()


def _is_well_formed(parse: _Parse, name: str) -> bool:
    try:
        parse(name, "")
    except InvalidFields:
        return False
    return True
