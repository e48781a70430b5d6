"""Forgetting, and taking it back; each call is one transaction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.forget import Forget, ForgetReceipt
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


class Forgetting(Protocol):
    """Writes hold the audit record, the breaking epoch and the jobs they lead to."""

    async def forget(self, scope: Scope, command: Forget, *, now: datetime) -> Forgotten:
        """Mark as forgotten: from here on nothing of it is returned. Purged later, by a job.

        Raises:
            NotFound: a memory or the session is not there, or forgotten already; then nothing is changed.
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
        """
        ...

    async def turns_of(self, tenant_id: UUID, receipt_id: UUID) -> tuple[ForgottenTurns, ...]:
        """Return what a receipt's forget takes from working memory; nothing when it was taken back."""
        ...
