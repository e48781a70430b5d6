"""Who may call what: one rule for every method of the public API. A method without a rule is denied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rearview.domain.principal import Role
from rearview.gateway import request_names


class Need(StrEnum):
    """What a method needs in each namespace that its request names."""

    READ = "read"
    WRITE = "write"
    OWN = "own"


class ServiceName(StrEnum):
    """Who does the work."""

    GATEWAY = "gateway"
    WRITER = "writer"
    RETRIEVER = "retriever"
    LIFECYCLE = "lifecycle"


class About(StrEnum):
    """What a request is about, which decides how its namespaces are found."""

    NAMED = "named"
    """The namespaces that stand in it; tenant-wide when none does."""
    RECEIPT = "forgetReceipts"
    """The namespace of the forget receipt that it names."""
    TRACE = "recallTraces"
    """The namespaces of the recall trace that it names."""
    PRINCIPAL = "principal"
    """The caller's own namespaces and keys; the use case looks after the limits of a key by itself."""
    TENANT = "tenant"
    """The tenant as a whole, which a key limited to some namespaces does not reach."""
    PLATFORM = "platform"
    """Tenants: the operator's."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """What a method requires. `names` returns the namespaces that stand in its request; `recalls` adds the caller's
    subscriptions to them."""

    role: Role
    done_by: ServiceName
    about: About
    need: Need = Need.READ
    names: Callable[[Any], tuple[str, ...]] = request_names.none_named
    recalls: bool = False


def _writes(names: Callable[[Any], tuple[str, ...]]) -> AccessRule:
    return AccessRule(Role.WRITE, ServiceName.WRITER, About.NAMED, Need.WRITE, names)


def _reads(names: Callable[[Any], tuple[str, ...]]) -> AccessRule:
    return AccessRule(Role.READ, ServiceName.RETRIEVER, About.NAMED, Need.READ, names)


def _namespace(role: Role, need: Need, names: Callable[[Any], tuple[str, ...]]) -> AccessRule:
    return AccessRule(role, ServiceName.GATEWAY, About.NAMED, need, names)


def _lifecycle(names: Callable[[Any], tuple[str, ...]]) -> AccessRule:
    return AccessRule(Role.ADMIN, ServiceName.LIFECYCLE, About.NAMED, Need.WRITE, names)


_OPERATOR = AccessRule(Role.OPERATOR, ServiceName.GATEWAY, About.PLATFORM)
_OWN_KEYS = AccessRule(Role.ADMIN, ServiceName.GATEWAY, About.PRINCIPAL)
_WHOLE_TENANT = AccessRule(Role.ADMIN, ServiceName.GATEWAY, About.TENANT)
_LIFECYCLE_OF_TENANT = AccessRule(Role.ADMIN, ServiceName.LIFECYCLE, About.TENANT)

_MEMORY = {
    "AppendEvents": _writes(request_names.append_events),
    "EndSession": _writes(request_names.end_session),
    "Remember": _writes(request_names.remember),
    "BatchRemember": _writes(request_names.batch_remember),
    "GetMemory": _reads(request_names.memory_by_name),
    "ListMemories": _reads(request_names.parent_and_filter),
    "UpdateMemory": _writes(request_names.update_memory),
    "Recall": AccessRule(Role.READ, ServiceName.RETRIEVER, About.NAMED, Need.READ, request_names.recall, recalls=True),
    "GetRecallTrace": AccessRule(Role.READ, ServiceName.RETRIEVER, About.TRACE, Need.READ),
    "Forget": _writes(request_names.forget),
    "GetForgetReceipt": AccessRule(Role.READ, ServiceName.RETRIEVER, About.RECEIPT, Need.READ),
    "Restore": AccessRule(Role.WRITE, ServiceName.WRITER, About.RECEIPT, Need.WRITE),
    "ListMemoryHistory": _reads(request_names.memory_by_name),
    "UndoSupersession": _writes(request_names.memory_by_name),
    "RevealRedacted": AccessRule(
        Role.ADMIN, ServiceName.RETRIEVER, About.NAMED, Need.READ, request_names.memory_or_event
    ),
    "ExportMemories": _reads(request_names.parent_and_filter),
    "ImportMemories": _writes(request_names.parent),
    "GetWorkingMemory": _reads(request_names.session_by_name),
    "ListEvents": _reads(request_names.parent_session),
    "ListSessions": _reads(request_names.parent),
    "GetCaptureTrace": _reads(request_names.event_by_name),
}

_NAMESPACE = {
    "CreateNamespace": AccessRule(Role.WRITE, ServiceName.GATEWAY, About.PRINCIPAL),
    "GetNamespace": _namespace(Role.READ, Need.READ, request_names.namespace_by_name),
    "ListNamespaces": AccessRule(Role.READ, ServiceName.GATEWAY, About.PRINCIPAL),
    "UpdateNamespace": _namespace(Role.WRITE, Need.OWN, request_names.update_namespace),
    "DeleteNamespace": _namespace(Role.WRITE, Need.OWN, request_names.namespace_by_name),
    "GrantAccess": _namespace(Role.WRITE, Need.OWN, request_names.namespace_by_name),
    "RevokeAccess": _namespace(Role.WRITE, Need.OWN, request_names.namespace_by_name),
    "Subscribe": _namespace(Role.READ, Need.READ, request_names.namespace_by_name),
    "Unsubscribe": _namespace(Role.READ, Need.READ, request_names.namespace_by_name),
    "GetNamespacePolicy": _namespace(Role.READ, Need.READ, request_names.namespace_by_name),
    "UpdateNamespacePolicy": _namespace(Role.ADMIN, Need.OWN, request_names.namespace_by_name),
}

_TENANT = {
    "CreateTenant": _OPERATOR,
    "GetTenant": _OPERATOR,
    "ListTenants": _OPERATOR,
    "UpdateTenant": _OPERATOR,
    "DeleteTenant": _OPERATOR,
    "CreateApiKey": _OWN_KEYS,
    "ListApiKeys": _WHOLE_TENANT,
    "RotateApiKey": _OWN_KEYS,
    "RevokeApiKey": _OWN_KEYS,
    "GetPolicy": _WHOLE_TENANT,
    "UpdatePolicy": _WHOLE_TENANT,
    "ExportSubject": _WHOLE_TENANT,
}

_LIFECYCLE = {
    "GetTierStats": _lifecycle(request_names.optional_namespace),
    "RunSweep": _lifecycle(request_names.optional_namespace),
    "GetOperation": _LIFECYCLE_OF_TENANT,
    "Rehydrate": _lifecycle(request_names.memories_by_name),
    "SetLegalHold": _lifecycle(request_names.held_resource),
    "ListLegalHolds": _lifecycle(request_names.optional_namespace),
    "ListModelGenerations": _LIFECYCLE_OF_TENANT,
    "StartReembedding": _LIFECYCLE_OF_TENANT,
    "RescanRedactions": _LIFECYCLE_OF_TENANT,
    "ListDeadLetters": _LIFECYCLE_OF_TENANT,
    "ReplayDeadLetter": _LIFECYCLE_OF_TENANT,
    "ListAuditRecords": _LIFECYCLE_OF_TENANT,
    "VerifyAudit": _LIFECYCLE_OF_TENANT,
}

ACCESS_RULES: Mapping[str, AccessRule] = {
    f"/rearview.v1.{service}/{method}": rule
    for service, rules in (
        ("MemoryService", _MEMORY),
        ("NamespaceService", _NAMESPACE),
        ("TenantService", _TENANT),
        ("LifecycleService", _LIFECYCLE),
    )
    for method, rule in rules.items()
}
"""The rules by full method name, as grpc gives it: `/package.Service/Method`."""
