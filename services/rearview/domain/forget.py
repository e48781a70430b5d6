"""Forgetting: what goes, how far it has come, and the receipt that proves it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from uuid import UUID

from rearview.domain.fall_rule import FallRule
from rearview.domain.names import EventName
from rearview.domain.recall import MemoryFilter
from rearview.domain.writing import RequestKey

DEFAULT_GRACE_PERIOD = timedelta(hours=24)
MAX_GRACE_PERIOD = timedelta(days=90)
MAX_NAMES_PER_FORGET = 1_000
MAX_LAST_TURNS = 1_000
MAX_SUBJECT_CHARACTERS = 200
MAX_SELECTED = 10_000
"""So many memories, and so many turns, one forget may select: it is one transaction."""
MAX_FOUND_BY_QUERY = 20
"""So many memories a query to forget finds."""
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
class ForgetEvents:
    """These events and what was derived from them; episodes that lose turns are written anew from the others."""

    events: tuple[EventName, ...]


@dataclass(frozen=True, slots=True)
class ForgetSession:
    """A whole session: its events, working memory and memories."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ForgetFilter:
    """All memories that a filter selects, in whatever state; `entity_keys` are its entities' canonical names."""

    filter: MemoryFilter
    entity_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetSubject:
    """Everything about a person or thing: memories that name it, facts about it, turns that mention it.

    `names` are the spellings by which it is known, in lower case, its canonical name (`key`) among them; those among
    `common`, and single characters, are too common to be looked for in texts.
    """

    subject: str
    key: str = ""
    names: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ForgetLastTurns:
    """The user's last `count` turns that are not forgotten yet, and all that follows the first of them in the session:
    the assistant's replies, tool calls, documents. What several people say counts as the user's."""

    session_id: str
    count: int


@dataclass(frozen=True, slots=True)
class ForgetQuery:
    """What a query found; `found` comes from the search of a preview, or from its confirmation token."""

    query: str
    found: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetExpired:
    """Those of these memories that are expired at a moment: by their own end, or since nobody used them for as long as
    the policy in force says of cold memories of their type, or as cold episodes whose value has fallen, by the rule."""

    memory_ids: tuple[UUID, ...]
    now: datetime
    rule: FallRule | None = None


@dataclass(frozen=True, slots=True)
class ForgetReplayed:
    """What an earlier forget took, as the tombstone ledger says, in a database that knows of some of it: what is there
    of these memories and events, and everything derived from them. `session_id` is set when a whole session went."""

    memory_ids: tuple[UUID, ...]
    event_ids: tuple[UUID, ...]
    session_id: str = ""


ForgetTarget = (
    ForgetExpired
    | ForgetMemories
    | ForgetEvents
    | ForgetSession
    | ForgetFilter
    | ForgetSubject
    | ForgetLastTurns
    | ForgetQuery
    | ForgetReplayed
)


@dataclass(frozen=True, slots=True)
class ForgetSelection:
    """What a target selects with everything derived from it; `rewritten` are episodes that only lose turns, and facts
    that others state, too, in their words from then on."""

    memory_ids: tuple[UUID, ...]
    event_ids: tuple[UUID, ...]
    rewritten: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What a forget would take, and the token that confirms exactly that."""

    namespace: str
    selection: ForgetSelection
    confirmation_token: str


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
    confirmation_token: str = ""


def target_parts(target: ForgetTarget) -> Sequence[str]:
    """Return what a target asks for, as texts that are the same whenever the same is asked for."""
    kind = type(target).__name__
    if isinstance(target, ForgetMemories):
        return [kind, *sorted(map(str, target.memory_ids))]
    if isinstance(target, ForgetEvents):
        return [kind, *sorted(map(str, target.events))]
    if isinstance(target, ForgetReplayed):
        return [kind, target.session_id, *sorted(map(str, (*target.memory_ids, *target.event_ids)))]
    if isinstance(target, ForgetExpired):
        return [kind, *sorted(map(str, target.memory_ids)), target.now.isoformat()]
    if isinstance(target, ForgetSession):
        return [kind, target.session_id]
    if isinstance(target, ForgetLastTurns):
        return [kind, target.session_id, str(target.count)]
    if isinstance(target, ForgetSubject):
        return [kind, target.key]
    if isinstance(target, ForgetQuery):
        return [kind, target.query]
    wanted = target.filter
    return [
        kind,
        repr(sorted(wanted.types)),
        repr([moment.isoformat() if moment else "" for moment in (wanted.start, wanted.end)]),
        repr(sorted(target.entity_keys)),
        wanted.session_id,
        repr(sorted(wanted.labels.items())),
        repr(sorted(wanted.origins)),
    ]
