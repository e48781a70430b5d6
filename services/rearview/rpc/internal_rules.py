"""Who may call what behind the gateway: one rule for every method of the internal services.

The gateway has applied its own table by then. This one stands behind it, so that a mistake there, or a stolen
identity of a reader, opens nothing more. Which namespaces a call reaches stands in its identity; `rpc.scopes` asks.
"""

from collections.abc import Mapping

from rearview.domain.principal import Role

_WRITER = {
    "AppendEvents": Role.WRITE,
    "EndSession": Role.WRITE,
    "Remember": Role.WRITE,
    "BatchRemember": Role.WRITE,
    "UpdateMemory": Role.WRITE,
    "UndoSupersession": Role.WRITE,
    "Forget": Role.WRITE,
    "PreviewFound": Role.WRITE,
    "Restore": Role.WRITE,
    "ImportMemories": Role.WRITE,
}

_RETRIEVER = {
    # A forget by query finds what it is about by a recall, so Recall is also called for writers.
    "Recall": Role.READ,
    "GetRecallTrace": Role.READ,
    "GetMemory": Role.READ,
    "ListMemories": Role.READ,
    "ListMemoryHistory": Role.READ,
    "GetForgetReceipt": Role.READ,
    "RevealRedacted": Role.ADMIN,
    "ExportMemories": Role.READ,
    "GetWorkingMemory": Role.READ,
    "ListEvents": Role.READ,
    "ListSessions": Role.READ,
    "GetCaptureTrace": Role.READ,
}

_LIFECYCLE = {
    "GetTierStats": Role.ADMIN,
    "RunSweep": Role.ADMIN,
    "GetOperation": Role.ADMIN,
    "Rehydrate": Role.ADMIN,
    "SetLegalHold": Role.ADMIN,
    "ListLegalHolds": Role.ADMIN,
    "ListModelGenerations": Role.ADMIN,
    "StartReembedding": Role.ADMIN,
    "RescanRedactions": Role.ADMIN,
    "ListDeadLetters": Role.ADMIN,
    "ReplayDeadLetter": Role.ADMIN,
    "ListAuditRecords": Role.ADMIN,
    "VerifyAudit": Role.ADMIN,
}

INTERNAL_RULES: Mapping[str, Role] = {
    f"/rearview.internal.v1.{service}/{method}": role
    for service, rules in (
        ("WriterService", _WRITER),
        ("RetrieverService", _RETRIEVER),
        ("LifecycleService", _LIFECYCLE),
    )
    for method, role in rules.items()
}
"""The least role by full method name, as grpc gives it: `/package.Service/Method`."""
