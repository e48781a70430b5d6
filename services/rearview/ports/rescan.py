"""What a rescan needs of what is stored: texts group by group, and what becomes of them, each in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.memory import Memory
from rearview.domain.redaction import Numbers, PlaceholderKey, Sealed
from rearview.domain.rescan import RescanReceipt
from rearview.ports.event_log import LoggedEvent
from rearview.ports.forgetting import FreshUnit
from rearview.ports.reembedding import UnitToEmbed


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where a walk over the event log has come: behind this turn."""

    session_id: str = ""
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of the log, forgotten or not, and the seal of what it said before redaction."""

    session_id: str
    event: Event
    original: Sealed | None = None


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory, forgotten or not, and the seal of what it said before redaction."""

    memory: Memory
    original: Sealed | None = None


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts that are rewritten together, since they say the same: events of one session, and what was made of them.
    `session_id` is that whose numbers placeholders have, empty for none."""

    session_id: str
    events: tuple[StoredEvent, ...]
    memories: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class RewrittenEvent:
    """An event as it is to be stored; `bands` are those by which repetitions of it are found."""

    logged: LoggedEvent
    bands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RewrittenMemory:
    """A memory as it is to be stored, with the seal of what it said; None keeps the one there is."""

    memory: Memory
    original: Sealed | None = None


class Rewriting(Protocol):
    """A group rewritten but for the numbers of its placeholders."""

    @property
    def keys(self) -> Sequence[PlaceholderKey]:
        """The values that want numbers."""
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """How many texts there are to rewrite, by place and by category."""
        ...

    def numbered(self, numbers: Numbers) -> tuple[Sequence[RewrittenEvent], Sequence[RewrittenMemory]]:
        """Return just the events and memories that change."""
        ...


@dataclass(frozen=True, slots=True)
class StaleBatch:
    """Units of one namespace that are still to be made anew."""

    namespace_id: UUID
    units: tuple[UnitToEmbed, ...]


@dataclass(frozen=True, slots=True)
class PlainText:
    """A short text of a row that belongs to no session: a trace's query with what was understood of it, or the reason
    of a forget. `tree` is the part of the row that a person's words stand in."""

    row_id: UUID
    tree: Mapping[str, object]


class RescanStore(Protocol):
    """The database's part. All methods raise Unavailable and DeadlineExceeded."""

    async def held(self, tenant_id: UUID) -> UUID | None:
        """Return a legal hold of the tenant, if one stands."""
        ...

    async def size(self, tenant_id: UUID) -> int:
        """Return how many events, memories and traces there are."""
        ...

    async def events(self, tenant_id: UUID, namespace_id: UUID, after: SessionPlace, limit: int) -> list[StoredEvent]:
        """Return the next events of the log, session by session."""
        ...

    async def memory_ids(self, tenant_id: UUID, namespace_id: UUID, after: UUID, limit: int) -> list[UUID]:
        """Return the next memories of any tier, in the order of their ids."""
        ...

    async def memories(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> list[StoredMemory]:
        """Return memories; of cold ones what stands in their rows."""
        ...

    async def related(
        self, tenant_id: UUID, namespace_id: UUID, event_ids: Collection[UUID], memory_ids: Collection[UUID]
    ) -> list[UUID]:
        """Return the memories that came from these events or from those of these memories, and those made of them."""
        ...

    async def rewrite(
        self, tenant_id: UUID, namespace_id: UUID, operation_id: UUID, group: TextGroup, rewriting: Rewriting
    ) -> bool:
        """Store a group as it is rewritten, note which units it makes stale, raise the breaking epoch and add to the
        operation's counts; False, and nothing is changed, when a text of the group has changed meanwhile."""
        ...

    async def stale(self, tenant_id: UUID, operation_id: UUID, *, limit: int) -> StaleBatch | None:
        """Return some units that are still to be made anew; None when there are none."""
        ...

    async def replace(
        self, tenant_id: UUID, operation_id: UUID, ordinal: int, batch: StaleBatch, fresh: Sequence[FreshUnit]
    ) -> None:
        """Replace units wherever they stand, count them anew, and take the batch off the list."""
        ...

    async def plain_texts(self, tenant_id: UUID, kind: str, after: UUID, limit: int) -> list[PlainText]:
        """Return the next rows of a kind: `trace` or `receipt`."""
        ...

    async def rewrite_plain(
        self, tenant_id: UUID, operation_id: UUID, kind: str, texts: Sequence[PlainText], counts: Mapping[str, int]
    ) -> None:
        """Store such rows anew and add to the operation's counts."""
        ...

    async def drop_originals(self, tenant_id: UUID, operation_id: UUID, *, limit: int) -> int:
        """Delete sealed originals, at most so many of each kind, and count them; return how many."""
        ...

    async def come_back(self, tenant_id: UUID, operation_id: UUID, at: datetime) -> None:
        """Have the operation looked at again."""
        ...

    async def verified(self, tenant_id: UUID, receipt: RescanReceipt) -> None:
        """End the operation with its receipt, in one transaction with the audit record; nothing if it has ended."""
        ...


class WorkingTexts(Protocol):
    """Turns in working memory. What is dropped there is filled again from the log. All raise Unavailable."""

    async def keys(self, tenant_id: UUID) -> list[str]:
        """Return what `events` and `drop` take, one for each session of the tenant."""
        ...

    async def events(self, key: str) -> list[Event]:
        """Return a session's turns."""
        ...

    async def drop(self, key: str) -> None:
        """Drop a session's turns."""
        ...


class AnswerErasure(Protocol):
    """Cached answers."""

    async def erase_answers(self, tenant_id: UUID) -> int:
        """Erase the cached answers of a tenant; return how many there were. Raises: Unavailable."""
        ...
