"""Records of who did what to which resources: written in the very transaction that they record."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.ids import new_id

_SQL = load_queries("audit")


async def record_audit(
    connection: Connection,
    *,
    tenant_id: UUID,
    principal: str,
    action: str,
    resource_names: Sequence[str],
    recorded_at: datetime,
    detail: str = "",
    request_id: str = "",
    trace_id: str = "",
) -> None:
    """Add a record; `detail` holds reasons and figures, never content."""
    await connection.execute(
        _SQL["record"],
        {
            "tenant_id": tenant_id,
            "record_id": new_id(),
            "recorded_at": recorded_at,
            "principal": principal,
            "action": action,
            "resource_names": list(resource_names),
            "detail": detail,
            "request_id": request_id,
            "trace_id": trace_id,
        },
    )
