"""Records of who did what to which resources: written in the very transaction that they record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.ids import new_id

_SQL = load_queries("audit")


class Author(Protocol):
    """Who did it, and in which request: a `Scope`, a `Caller`, or an `ActingService`."""

    @property
    def principal(self) -> str: ...

    @property
    def request_id(self) -> str: ...

    @property
    def trace_id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ActingService:
    """A service that does by itself what nobody's request asks for."""

    principal: str
    request_id: str = ""
    trace_id: str = ""


async def record_audit(
    connection: Connection,
    tenant_id: UUID,
    author: Author,
    action: str,
    resource_names: Sequence[str],
    recorded_at: datetime,
    detail: str = "",
) -> None:
    """Add a record; `detail` holds reasons and figures, never content."""
    await connection.execute(
        _SQL["record"],
        {
            "tenant_id": tenant_id,
            "record_id": new_id(),
            "recorded_at": recorded_at,
            "principal": author.principal,
            "action": action,
            "resource_names": list(resource_names),
            "detail": detail,
            "request_id": author.request_id,
            "trace_id": author.trace_id,
        },
    )
