"""Erasing everything of a deleted tenant. All methods raise Unavailable and can be repeated."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DeletedTenant:
    """A tenant that was deleted and is not erased yet; `erased` counts what went so far, by place."""

    tenant_id: UUID
    deleted_at: datetime
    erased: Mapping[str, int]


class TenantErasure(Protocol):
    """The database's part."""

    async def deleted(self, tenant_id: UUID) -> DeletedTenant | None:
        """Return the tenant; None when it was not deleted, or is erased."""
        ...

    async def namespaces(self, tenant_id: UUID) -> list[UUID]:
        """Return the ids of all its namespaces, those deleted before included."""
        ...

    async def erase(self, tenant_id: UUID) -> Mapping[str, int]:
        """Erase every row of it but the audit, in bounded transactions; return how many there were, by place."""
        ...

    async def note(self, tenant_id: UUID, counts: Mapping[str, int]) -> None:
        """Add to the counts of what was erased."""
        ...

    async def come_back(self, tenant_id: UUID, at: datetime) -> None:
        """Have the erasure carried on at a time."""
        ...

    async def end(self, tenant_id: UUID, *, now: datetime) -> None:
        """Say, with an audit record, that nothing is left."""
        ...
