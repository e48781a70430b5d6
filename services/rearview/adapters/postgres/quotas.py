"""Writes that would take a tenant beyond its quotas are taken back."""

from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import QuotaExceeded
from rearview.domain.tenancy import Quotas

_SQL = load_queries("quotas")
RETRY_SECONDS = 60.0
"""Room is made by forgetting or by the operator, neither of which is a matter of a moment."""


class QuotaCheck:
    """Checks tenants by their own quotas, and by `defaults` where they have none."""

    def __init__(self, defaults: Quotas) -> None:
        self._defaults = defaults

    async def refuse_excess(self, connection: Connection, tenant_id: UUID) -> None:
        """Check what the tenant holds with what this transaction has written; the last statement before its end.

        Raises:
            QuotaExceeded: it is more than the tenant may hold; nothing of the transaction must stay.
        """
        cursor = await connection.execute(
            _SQL["exceeded"],
            {
                "tenant_id": tenant_id,
                "max_memories": self._defaults.max_memories,
                "max_bytes": self._defaults.max_bytes,
            },
        )
        row = await cursor.fetchone()
        if row is not None:
            quota, most, used = row
            raise QuotaExceeded(
                f"more than the quota {quota} of {most}; forget something, or ask the operator for more",
                retry_after_seconds=RETRY_SECONDS,
                quota=quota,
                limit=str(most),
                used=str(used),
            )
