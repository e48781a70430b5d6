"""Where seals over the audit log are kept, and what vouches for their end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.audit_seal import AuditEntry, AuditSeal, Place


class AuditSealStore(Protocol):
    """Seals beside the records. All methods raise Unavailable."""

    async def unsealed_tenants(self, until: datetime, *, limit: int) -> list[UUID]:
        """Return tenants with records up to a moment that stand behind their last seal."""
        ...

    async def last(self, tenant_id: UUID) -> AuditSeal | None:
        """Return the newest seal."""
        ...

    async def at(self, tenant_id: UUID, sequence: int) -> AuditSeal | None:
        """Return the last seal that begins at or before a sequence."""
        ...

    async def after(self, tenant_id: UUID, number: int) -> AuditSeal | None:
        """Return the first seal with a greater number."""
        ...

    async def numbered(self, tenant_id: UUID, number: int) -> AuditSeal | None:
        """Return the seal of a number."""
        ...

    async def entries(self, tenant_id: UUID, after: Place, upto: Place, *, limit: int) -> Sequence[AuditEntry]:
        """Return the records behind a place and up to another, in their order, at most `limit`."""
        ...

    async def add(self, tenant_id: UUID, seal: AuditSeal) -> bool:
        """Store a seal; return False when another worker has stored one of this number."""
        ...


@dataclass(frozen=True, slots=True)
class Head:
    """The newest seal of a tenant: its number and its code."""

    number: int
    code: bytes


class AuditAnchors(Protocol):
    """What stands outside the database, so that a log cut off at its end shows. All methods raise Unavailable."""

    async def head(self, tenant_id: UUID) -> Head | None:
        """Return the head that was noted last."""
        ...

    async def note_head(self, tenant_id: UUID, head: Head) -> None:
        """Note a head in place of the one before."""
        ...

    async def watermark(self) -> datetime | None:
        """Return until when all records of all tenants are sealed; None when nothing that can be trusted says so."""
        ...

    async def note_watermark(self, until: datetime) -> None:
        """Note it in place of the one before."""
        ...
