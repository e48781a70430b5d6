"""Audit records: who did what to which resources, never content."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One record. `sequence` is its place among the tenant's records, from 1, by time and id."""

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


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What a comparison of records with their seals found. `next_sequence` is where the next call is to go on, 0 at the
    end; `sealed_until` is when the last seal that was looked at was made."""

    intact: bool
    checked: int
    first_broken_sequence: int = 0
    problem: str = ""
    next_sequence: int = 0
    sealed_until: datetime | None = None
