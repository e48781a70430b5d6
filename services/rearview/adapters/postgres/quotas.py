"""Writes that would take a tenant beyond its quotas are taken back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

import psycopg

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import QuotaExceeded
from rearview.domain.tenancy import Quotas

_SQL = load_queries("quotas")
_EXCEEDED = "RVQ01"
RETRY_SECONDS = 60.0
"""Room is made by forgetting or by the operator, neither of which is a matter of a moment."""


class QuotaCheck:
    """Checks tenants by their own quotas, and by `defaults` where they have none."""

    def __init__(self, defaults: Quotas) -> None:
        self._defaults = defaults

    @property
    def parameters(self) -> Mapping[str, int]:
        """The default quotas, by the names that statements have for them."""
        return {"max_memories": self._defaults.max_memories, "max_bytes": self._defaults.max_bytes}

    async def refuse_excess(self, connection: Connection, tenant_id: UUID) -> None:
        """Check what the tenant holds with what this transaction has written; the last statement before its end.

        Raises:
            QuotaExceeded: it is more than the tenant may hold; the transaction has failed.
        """
        with quota_errors():
            cursor = await connection.execute(_SQL["refuse_excess"], {"tenant_id": tenant_id, **self.parameters})
            await cursor.fetchone()


@contextmanager
def quota_errors() -> Iterator[None]:
    """Raise QuotaExceeded where a statement found a quota exceeded."""
    try:
        yield
    except psycopg.DatabaseError as error:
        if error.sqlstate != _EXCEEDED:
            raise
        quota, most, used = error.diag.constraint_name, error.diag.message_detail, error.diag.message_hint
        raise QuotaExceeded(
            f"more than the quota {quota} of {most}; forget something, or ask the operator for more",
            retry_after_seconds=RETRY_SECONDS,
            quota=quota or "",
            limit=most or "",
            used=used or "",
        ) from error
