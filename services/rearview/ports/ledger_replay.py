"""Forgetting again, in a restored database, what the tombstone ledger says was forgotten."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from rearview.domain.tombstone_ledger import DeletionEntry, ForgetEntry


class Replayed(StrEnum):
    """What an entry of the ledger led to."""

    FORGOTTEN = "forgotten"
    HASTENED = "hastened"
    TAKEN_BACK = "taken_back"
    DELETED = "deleted"
    KNOWN = "known"


class LedgerReplay(Protocol):
    """Each call is repeatable and leaves nothing half done; from its end on nothing of the entry is returned, and the
    jobs that erase it wait in the queue."""

    async def forget(self, entry: ForgetEntry, *, now: datetime) -> Replayed:
        """Forget under the receipt's own id, with all that derives from it; a receipt that is there is brought to the
        state of the entry.

        Raises:
            NotHot: these memories must be hot first.
            Conflict: what goes kept changing.
            Unavailable: PostgreSQL cannot be reached.
        """
        ...

    async def delete(self, entry: DeletionEntry, *, now: datetime) -> Replayed:
        """Delete a namespace or a tenant that is there. Raises as `forget`, without NotHot."""
        ...
