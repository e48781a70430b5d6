"""What a call has to know first, in one round trip and as of one moment."""

from collections.abc import Collection
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.epochs import epochs_in
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.access_states import AccessState

_SQL = load_queries("access_states")
_TIMEOUT_SECONDS = 5.0


class PostgresAccessStates:
    """Implements `AccessStates`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self, tenant_id: UUID, namespace_ids: Collection[UUID]) -> AccessState:
        """Return the state of a tenant; see `AccessStates.now`."""
        place = {"tenant_id": tenant_id, "namespace_ids": list(namespace_ids)}
        rows = await self._database.rows(tenant_id, _SQL["now"], place, timeout_seconds=_TIMEOUT_SECONDS)
        if not rows:
            return AccessState()
        written = [row[1:] for row in rows if row[1] is not None]
        return AccessState(rows[0][0], epochs_in(written, namespace_ids))
