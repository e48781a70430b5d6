"""Erasing for good what a forget marked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.ports.forgetting import ForgottenTurns


@dataclass(frozen=True, slots=True)
class Purge:
    """A forget whose time has come. `turns` are those that working memory may hold, the last of each session."""

    tenant_id: UUID
    receipt_id: UUID
    namespace_id: UUID
    session_id: str
    memory_count: int
    event_count: int
    turns: tuple[ForgottenTurns, ...]


class ErasureStore(Protocol):
    """The database's part. What is erased is counted on the receipt in the same transaction, so that a purge that
    was killed goes on where it was and its counts are right. Two purges of one receipt take turns."""

    async def begin(self, tenant_id: UUID, receipt_id: UUID, *, now: datetime) -> Purge | None:
        """Begin, or go on; from here on the forget cannot be taken back. A purge that has ended and is not verified is
        begun again, for what was written beside it. None when there is nothing to purge: it was taken back or verified,
        is not due yet, or never was."""
        ...

    async def erase(self, purge: Purge, *, now: datetime) -> None:
        """Erase everything that the purge names, in bounded transactions."""
        ...

    async def memory_ids(self, purge: Purge, start: int, count: int) -> list[UUID]:
        """Return a slice of the forgotten memories' ids."""
        ...

    async def rewritten(self, purge: Purge) -> list[UUID]:
        """Return the episodes that lost turns to the forget, and the facts that lost their words."""
        ...

    async def note(self, purge: Purge, counts: Mapping[str, int], *, now: datetime) -> None:
        """Add to the receipt's counts what was erased elsewhere, by place."""
        ...

    async def finish(self, purge: Purge, *, now: datetime) -> None:
        """Say on the receipt, with its digest and an audit record, that everything is erased; nothing if it says so
        already."""
        ...


class VolatileErasure(Protocol):
    """The part of what is kept outside the database. All raise Unavailable; to be repeated until they do not."""

    async def erase_turns(self, turns: Collection[ForgottenTurns]) -> int:
        """Erase turns from working memory and refuse them should they arrive late; return how many were there."""
        ...

    async def erase_access_counts(self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]) -> int:
        """Erase counts of accesses that were not added to the store yet; return how many there were."""
        ...

    async def left(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> Mapping[str, int]:
        """Return, by place, how much of these memories and events is still there."""
        ...

    async def erase_answers(self, tenant_id: UUID) -> int:
        """Erase the cached answers of a tenant, in which anything of it may stand; return how many there were."""
        ...


class ColdErasure(Protocol):
    """The part of what lies in object storage."""

    async def erase(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], freed: Collection[UUID] = ()
    ) -> int:
        """Rewrite segments without these memories and delete the old ones with all their versions; return how many.
        `freed` live on, and only what they were before goes.

        Raises:
            Conflict: another worker moves the namespace's memories now; to be repeated.
            Unavailable: object storage or the database does not do its part; to be repeated.
        """
        ...


class ObjectErasureCheck(Protocol):
    """Looking in object storage for what a purge erased."""

    async def left(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> Mapping[str, int]:
        """Return, by place, how many objects of the namespace hold one of these memories or events, are older versions
        of others, or cannot be read; whether the catalog names them or not.

        Raises:
            Unavailable: object storage or the database does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Purged:
    """A receipt whose purge has ended; `stale_units` were not made anew yet."""

    tenant_id: UUID
    receipt_id: UUID
    namespace_id: UUID
    id_count: int
    stale_units: int


class ErasureCheck(Protocol):
    """Looking in the database for what a purge erased."""

    async def purged(self, tenant_id: UUID, receipt_id: UUID) -> Purged | None:
        """Return a receipt that is purged and not verified; None for every other."""
        ...

    async def ids(self, purged: Purged, start: int, count: int) -> list[UUID]:
        """Return a slice of the ids of what was erased, memories and events."""
        ...

    async def found(self, purged: Purged, ids: Sequence[UUID]) -> Mapping[str, int]:
        """Return, by place, how many rows are or name one of these ids; every place that was looked at is there."""
        ...

    async def verified(self, purged: Purged, *, now: datetime) -> None:
        """Say on the receipt, with an audit record, that nothing was found anywhere."""
        ...
