"""The values that an attribute has had, and the summary that tells of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.writing import RequestKey
from rearview.ports.memory_store import NewMemory


@dataclass(frozen=True, slots=True)
class FactHistory:
    """`values` are the facts of one subject's single-valued attribute, the newest first; `summary` tells of them."""

    subject: str
    attribute: str
    values: tuple[Memory, ...]
    summary: Memory | None


class FactHistories(Protocol):
    """Each call is one transaction."""

    async def read(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> FactHistory | None:
        """Return the history that a fact is part of; None when the fact is gone."""
        ...

    async def replace(
        self, tenant_id: UUID, namespace_id: UUID, history: FactHistory, summary: NewMemory | None, *, now: datetime
    ) -> None:
        """Put a summary in the place of the present one; None takes that back.

        Raises:
            Conflict: the history has changed since it was read.
        """
        ...

    async def undo(self, scope: Scope, memory_id: UUID, *, request: RequestKey | None, now: datetime) -> Memory:
        """Make a value that was superseded or ended active again; what stands in its place becomes history.

        Raises:
            NotFound: there is no such memory, or it was forgotten.
            PreconditionFailed: it is no fact, or is active.
            RequestIdReused: the id stands for another request.
        """
        ...
