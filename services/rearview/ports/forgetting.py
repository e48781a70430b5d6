"""Forgetting, and taking it back; each call is one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.event import Event
from rearview.domain.forget import Forget, ForgetReceipt, ForgetSelection, ForgetTarget
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.principal import Scope
from rearview.ports.working_memory import SessionKey


@dataclass(frozen=True, slots=True)
class ForgottenTurns:
    """Turns that working memory may hold and must not return: these events, and all up to a sequence."""

    session: SessionKey
    event_ids: tuple[UUID, ...]
    through_sequence: int = 0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A receipt, and what is to be cleared from working memory once the transaction holds."""

    receipt: ForgetReceipt
    turns: tuple[ForgottenTurns, ...]


class NotHot(Exception):
    """These memories are to be written anew and are not hot: to be brought back first."""

    def __init__(self, memory_ids: tuple[UUID, ...]) -> None:
        super().__init__(f"{len(memory_ids)} memories are not hot")
        self.memory_ids = memory_ids


class Forgetting(Protocol):
    """Writes hold the audit record, the breaking epoch and the jobs they lead to."""

    async def preview(self, scope: Scope, target: ForgetTarget) -> ForgetSelection:
        """Return what a forget would take now; changes nothing. Raises what `forget` raises."""
        ...

    async def forget(
        self,
        scope: Scope,
        command: Forget,
        *,
        now: datetime,
        confirm: Callable[[ForgetSelection], None] | None = None,
    ) -> Forgotten:
        """Mark as forgotten: from here on nothing of it is returned. Purged later, by a job.

        `confirm` is shown what would go, under the locks that keep it so, and raises if that is not to go.

        Raises:
            NotFound: a memory, the session or its turns are not there, or forgotten already; then nothing is changed.
            InvalidFields: the target selects too much.
            Conflict: what it selects kept changing.
            NotHot: these must be hot first.
            RequestIdReused: the id stands for another request.
        """
        ...

    async def receipt(self, tenant_id: UUID, receipt_id: UUID) -> ForgetReceipt:
        """Return a receipt.

        Raises:
            NotFound: there is none.
        """
        ...

    async def restore(self, scope: Scope, receipt_id: UUID, *, now: datetime) -> ForgetReceipt:
        """Take a forget back; working memory stays cleared. Restoring again changes nothing.

        Raises:
            NotFound: there is no such receipt in the namespace.
            PreconditionFailed: it was purged.
            NotHot: these must be hot first.
        """
        ...

    async def turns_of(self, tenant_id: UUID, receipt_id: UUID) -> tuple[ForgottenTurns, ...]:
        """Return what a receipt's forget takes from working memory; nothing when it was taken back."""
        ...


@dataclass(frozen=True, slots=True)
class StaleTurn:
    """A turn whose search unit is to be made anew, and the kept turns around it, nearest first, at most two a side."""

    turn: Event
    before: tuple[Event, ...]
    after: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class StaleUnits:
    """Some of what a forget left to be made anew. `unit_ids` are all that this is about; `turns` those there still are;
    `cold` memories must be brought back first."""

    namespace_id: UUID
    unit_ids: tuple[UUID, ...]
    turns: tuple[StaleTurn, ...]
    cold: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FreshUnit:
    """A unit made anew. `vector`: (d,) float32, L2-normalised."""

    unit_id: UUID
    vector: NDArray[np.float32]
    bag: KeywordBag


class StaleUnitStore(Protocol):
    """Search units that carry traces of forgotten turns, because their windows reached them."""

    async def some(self, tenant_id: UUID, receipt_id: UUID, *, limit: int) -> StaleUnits | None:
        """Return some of what a receipt's forget (or its restore) left to be made anew; None when nothing is left."""
        ...

    async def replace(self, tenant_id: UUID, receipt_id: UUID, stale: StaleUnits, fresh: Sequence[FreshUnit]) -> None:
        """Replace the units wherever they stand, count them anew, and take them off the receipt's list."""
        ...
