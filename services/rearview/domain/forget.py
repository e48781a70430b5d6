"""Forgetting: what goes, how far it has come, and the receipt that proves it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from uuid import UUID

from rearview.domain.writing import RequestKey

DEFAULT_GRACE_PERIOD = timedelta(hours=24)
MAX_GRACE_PERIOD = timedelta(days=90)
MAX_NAMES_PER_FORGET = 1_000
BEYOND_REACH = ("base backups and write-ahead logs, until their retention ends",)


class ForgetState(IntEnum):
    """How far a forget has come; the numbers are those of `rearview.v1.ForgetState` and of the database."""

    TOMBSTONED = 1
    PURGED = 2
    VERIFIED = 3
    RESTORED = 4


@dataclass(frozen=True, slots=True)
class ForgetMemories:
    """These memories, the events that no other memory needs, and what was derived from them."""

    memory_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ForgetSession:
    """A whole session: its events, working memory and memories."""

    session_id: str


ForgetTarget = ForgetMemories | ForgetSession


@dataclass(frozen=True, slots=True)
class ErasedPlace:
    """What was erased from one place (`postgres.memory`, `redis.working_memory`, ...)."""

    place: str
    count: int
    erased_at: datetime


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """The proof of a forget; ids and counts, never content."""

    receipt_id: UUID
    namespace: str
    state: ForgetState
    memory_ids: tuple[UUID, ...]
    memory_count: int
    event_count: int
    tombstoned_at: datetime
    purge_after: datetime
    purged_at: datetime | None = None
    verified_at: datetime | None = None
    places: tuple[ErasedPlace, ...] = ()
    digest: str = ""


def receipt_digest(ids: Iterable[UUID], places: Iterable[ErasedPlace]) -> str:
    """Return the SHA-256, in hex, over the sorted ids and the places with their counts, one a line."""
    lines = sorted(str(identifier) for identifier in ids) + sorted(f"{p.place}={p.count}" for p in places)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Forget:
    """A request to forget. `reason` goes to the audit log."""

    namespace: str
    target: ForgetTarget
    reason: str = ""
    skip_grace_period: bool = False
    request: RequestKey | None = None
