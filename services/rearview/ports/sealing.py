"""The sealed vault: originals that only their key opens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.principal import Scope
from rearview.domain.redaction import Original, Sealed


class SealBroken(Exception):
    """What was sealed cannot be opened: it was changed, belongs elsewhere, or its key is not configured."""


class Sealer(Protocol):
    """Seals originals and opens them again. What it sealed for one resource opens for no other."""

    def seal(self, tenant_id: UUID, resource_id: UUID, original: Original) -> Sealed:
        """Return the original, sealed."""
        ...

    def open(self, tenant_id: UUID, resource_id: UUID, sealed: Sealed) -> Original:
        """Return what was sealed. Raises: SealBroken."""
        ...


@dataclass(frozen=True, slots=True)
class SealedText:
    """A memory's or event's text and the seals of what stands behind its placeholders, by whose they are."""

    content: str
    own: Sealed | None
    events: tuple[tuple[UUID, Sealed], ...] = ()


class OriginalStore(Protocol):
    """Where sealed originals are found. Each look is audited, with its reason, in the transaction that reads."""

    async def of_event(self, scope: Scope, session_id: str, event_id: UUID, reason: str, now: datetime) -> SealedText:
        """Raises: NotFound: there is no such event, or it was forgotten; Unavailable."""
        ...

    async def of_memory(self, scope: Scope, memory_id: UUID, reason: str, now: datetime) -> SealedText:
        """Return the memory's own seal and those of its events. Raises: as `of_event`."""
        ...
