"""Erasing everything of a deleted namespace, place by place. All methods raise Unavailable and can be repeated."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID


class NamespaceErasure(Protocol):
    """The database's part."""

    async def erase(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Erase every row of a deleted namespace, in bounded transactions; return how many there were, by place."""
        ...

    async def come_back(self, tenant_id: UUID, operation_id: UUID, at: datetime) -> None:
        """Have the operation carried on at a time."""
        ...

    async def record(
        self, tenant_id: UUID, operation_id: UUID, namespace_id: UUID, counts: Mapping[str, int], *, now: datetime
    ) -> None:
        """Leave an audit record that everything is erased, with the counts."""
        ...


class VolatileNamespaces(Protocol):
    """The part of what is kept outside the database for a while."""

    async def erase_namespace(self, tenant_id: UUID, namespace_id: UUID) -> Mapping[str, int]:
        """Erase working memory, counters, what was handed out and cached answers; return how many, by place. Answers
        are of the tenant, and so do not count."""
        ...

    async def erase_tenant(self, tenant_id: UUID) -> Mapping[str, int]:
        """Erase all that is left of a tenant; return how many keys there were, by place."""
        ...
