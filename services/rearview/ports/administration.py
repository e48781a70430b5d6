"""What administrators of a tenant ask about its inner life."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.audit import AuditFilter, AuditRecord
from rearview.domain.dead_letter import DeadLetter
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller
from rearview.domain.tier_statistics import GenerationStatistics, TierStatistics


class AuditLog(Protocol):
    """The records of a tenant."""

    async def records(self, tenant_id: UUID, wanted: AuditFilter, page: PageRequest) -> Page[AuditRecord]:
        """Return a page of records, newest first. Raises: Unavailable, DeadlineExceeded."""
        ...


class DeadLetters(Protocol):
    """Jobs of a tenant that failed for good. Those of others are not seen."""

    async def letters(self, tenant_id: UUID, page: PageRequest) -> Page[DeadLetter]:
        """Return a page of dead letters, newest first. Raises: Unavailable."""
        ...

    async def replay(self, caller: Caller, tenant_id: UUID, job_id: int, *, now: datetime) -> DeadLetter:
        """Put a job back into the queue, with all its attempts before it, and return the letter as it was.

        Raises:
            NotFound: the tenant has no such dead letter.
            Unavailable: the queue cannot be reached.
        """
        ...


class Statistics(Protocol):
    """Counts, from the rows themselves."""

    async def tiers(self, tenant_id: UUID, namespace_id: UUID | None) -> list[TierStatistics]:
        """Return the counts of every tier, of a namespace or of the whole tenant. Raises: Unavailable,
        DeadlineExceeded."""
        ...

    async def generations(self, tenant_id: UUID) -> list[GenerationStatistics]:
        """Return every model generation, newest first. Raises: Unavailable, DeadlineExceeded."""
        ...
