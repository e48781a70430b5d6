"""Audit records: who did what to which resources, never content."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One record. `sequence` is its place among the tenant's records, from 1, by the time of writing."""

    sequence: int
    recorded_at: datetime
    principal: str
    action: str
    resource_names: tuple[str, ...]
    detail: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which records; an empty condition holds always. From `start` on, and before `end`."""

    action: str = ""
    start: datetime | None = None
    end: datetime | None = None
