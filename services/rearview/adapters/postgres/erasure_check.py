"""Looking in PostgreSQL for what a purge has erased."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.erasure import PURGER, UNITS
from rearview.adapters.postgres.generations import search_generations
from rearview.adapters.postgres.queries import load_queries
from rearview.ports.erasure import Purged

_SQL = load_queries("erasure_check")
STALE = "postgres.stale_units"
"""Units around forgotten turns that were not made anew yet."""


class PostgresErasureCheck:
    """The `ErasureCheck` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def purged(self, tenant_id: UUID, receipt_id: UUID) -> Purged | None:
        """Return a purged receipt that is not verified; see `ErasureCheck.purged`."""
        place = {"tenant_id": tenant_id, "receipt_id": receipt_id}
        async with self._database.transaction(tenant_id) as connection:
            row = await (await connection.execute(_SQL["purged"], place)).fetchone()
        return Purged(tenant_id, receipt_id, row[0], row[1], row[2]) if row else None

    async def ids(self, purged: Purged, start: int, count: int) -> list[UUID]:
        """Return a slice of the erased ids."""
        place = {**_place(purged), "first": start + 1, "last": start + count}
        async with self._database.transaction(purged.tenant_id) as connection:
            return [row[0] for row in await (await connection.execute(_SQL["ids"], place)).fetchall()]

    async def found(self, purged: Purged, ids: Sequence[UUID]) -> Mapping[str, int]:
        """Return what is left of these ids; see `ErasureCheck.found`."""
        place = {**_place(purged), "ids": list(ids)}
        counts: Counter[str] = Counter({UNITS: 0, STALE: purged.stale_units})
        async with self._database.transaction(purged.tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            for name in ("rows_of", "mentions_of"):
                counts.update(dict(await (await connection.execute(_SQL[name], place)).fetchall()))
            for ordinal in await search_generations(connection):
                units = await connection.execute(load_queries("unit_check", ordinal)["units_of"], place)
                counts[UNITS] += (await units.fetchone() or (0,))[0]
        return counts

    async def verified(self, purged: Purged, *, now: datetime) -> None:
        """Say on the receipt that nothing was found; see `ErasureCheck.verified`."""
        async with self._database.transaction(purged.tenant_id) as connection:
            row = await (await connection.execute(_SQL["verified"], {**_place(purged), "now": now})).fetchone()
            if row is not None:
                names = [f"forgetReceipts/{purged.receipt_id}"]
                detail = f"ids={purged.id_count} digest={row[0]}"
                await record_audit(connection, purged.tenant_id, PURGER, "memory.verify_purge", names, now, detail)


def _place(purged: Purged) -> dict[str, Any]:
    return {
        "tenant_id": purged.tenant_id,
        "namespace_id": purged.namespace_id,
        "receipt_id": purged.receipt_id,
    }
