"""Long work that goes on after the call returned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from rearview.domain.rescan import RescanReceipt


class OperationKind(StrEnum):
    """What an operation does."""

    SWEEP = "sweep"
    REHYDRATE = "rehydrate"
    ERASE_NAMESPACE = "erase_namespace"
    REEMBED = "reembed"
    RESCAN = "rescan"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as it stands; `arguments` hold ids only, `error` no content. `rescan` is the receipt of a rescan
    that was verified."""

    operation_id: UUID
    kind: OperationKind
    started_at: datetime
    arguments: Mapping[str, Any] = field(default_factory=dict)
    completed: int = 0
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
    ended_at: datetime | None = None
    rescan: RescanReceipt | None = None
