"""The index of sessions: pending events out, memories and search units in."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.context_window import OpenWindows
from rearview.domain.event import CaptureOutcome, Event
from rearview.domain.memory import Memory
from rearview.domain.unit_projection import KeywordStatistics, SearchUnit, UnitProjection
from rearview.ports.known_statements import Watch
from rearview.ports.stated_facts import StatedFact
from rearview.ports.working_memory import SessionKey


@dataclass(frozen=True, slots=True)
class OpenEpisode:
    """The episode that the next turn of a session may join, how many turns it has, and the last of them."""

    memory: Memory
    turns: int
    last: Event | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PendingEvents:
    """What a session has to be indexed, and where indexing left off.

    Attributes:
        session: whose they are.
        namespace: the namespace's name.
        events: in order, at most as many as asked for; not one of them forgotten.
        more: whether others follow.
        indexed_sequence: where indexing stands.
        ended: whether the session was ended.
        windows_closed: whether no window is open.
        windows: the last turns' windows.
        episode: the open episode, if any.
        last_appended_at: when the newest event was stored.
        earlier: the last few events before these, in order, as context.
        reopen: the turns of the windows, when those have another model's vectors.
    """

    session: SessionKey
    namespace: str
    events: tuple[Event, ...]
    more: bool
    indexed_sequence: int
    ended: bool
    windows_closed: bool
    windows: OpenWindows
    episode: OpenEpisode | None
    last_appended_at: datetime | None
    earlier: tuple[Event, ...] = ()
    reopen: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """That a memory came from an event, or that the event repeats one of its units, which it knew."""

    memory_id: UUID
    event_id: UUID
    sequence: int
    repeats: UUID | None = None


@dataclass(frozen=True, slots=True)
class Strengthened:
    """That a memory was said again.

    Attributes:
        memory_id: the memory.
        times: how often in this batch.
        first_said_at: the earliest of these times.
    """

    memory_id: UUID
    times: int
    first_said_at: datetime


@dataclass(frozen=True, slots=True)
class EventCapture:
    """What became of an event, for its capture trace; no content. `bands` are those by which it is found again."""

    event_id: UUID
    outcome: CaptureOutcome
    importance: float
    reason: str
    stage_milliseconds: Mapping[str, float]
    bands: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CountedBags:
    """What a batch adds to a namespace's counts: languages as units come, the rest as their windows close."""

    units: int = 0
    keyword_total: float = 0.0
    chinese_units: int = 0
    english_units: int = 0
    terms: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class IndexedBatch:
    """What indexing a batch leads to; written as a whole or not at all.

    Attributes:
        pending: what it was made from. If any of that has changed since, nothing is written.
        created: new memories.
        extended: the open episode with turns added, if it got any.
        links: from memories to their events.
        units: search units of new turns.
        grown: new projections of units whose windows got another turn.
        windows: the last turns' windows from now on.
        counted: what closed windows add to the counts.
        captures: what became of each event.
        speakers: names by hash, of those who spoke.
        open_episode_id: the episode that the next turn may join.
        windows_closed: whether no window is open any more.
        indexed_sequence: where indexing stands from now on.
        close_windows_at: when to look whether the session has fallen silent; None for not at all.
        merge_units_at: when to move closed units to the main index; None for not at all.
        strengthened: memories that were said again.
        facts: what the turns state, in order; what of it is stored is decided in the transaction.
        watch: on what it stands that the new turns are new. If others have written the same since, nothing is written.
    """

    pending: PendingEvents
    created: tuple[Memory, ...]
    extended: Memory | None
    links: tuple[MemoryLink, ...]
    units: tuple[SearchUnit, ...]
    grown: tuple[UnitProjection, ...]
    windows: OpenWindows
    counted: CountedBags
    captures: tuple[EventCapture, ...]
    speakers: Mapping[int, str]
    open_episode_id: UUID | None
    windows_closed: bool
    indexed_sequence: int
    close_windows_at: datetime | None = None
    merge_units_at: datetime | None = None
    strengthened: tuple[Strengthened, ...] = ()
    facts: tuple[StatedFact, ...] = ()
    watch: Watch | None = None


class SessionIndex(Protocol):
    """No call holds a connection between reading and writing: models run in between."""

    async def pending(self, session: SessionKey, *, limit: int) -> PendingEvents | None:
        """Return what is to be indexed; None when there is no such session any more."""
        ...

    async def statistics(self, tenant_id: UUID, namespace_id: UUID, terms: Collection[int]) -> KeywordStatistics:
        """Return the namespace's counts, with those of the given terms."""
        ...

    async def write(self, batch: IndexedBatch, *, now: datetime) -> bool:
        """Write all of it in one transaction, with a job for the events that are left if there are more; False, and
        nothing written, if what it was made from has changed."""
        ...

    async def merge_fresh_units(self, tenant_id: UUID, namespace_id: UUID, *, limit: int) -> int:
        """Move at most `limit` closed units to the main index, oldest first, and return how many moved."""
        ...
