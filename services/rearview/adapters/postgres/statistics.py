"""Counts of tiers and model generations, from the rows themselves."""

from uuid import UUID

from psycopg.rows import dict_row

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.memory import Tier
from rearview.domain.tier_statistics import GenerationStatistics, TierStatistics

_SQL = load_queries("administration")


class PostgresStatistics:
    """The `Statistics` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 30.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def tiers(self, tenant_id: UUID, namespace_id: UUID | None) -> list[TierStatistics]:
        """Return the counts of every tier."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await connection.execute(_SQL["tiers"], {"tenant_id": tenant_id, "namespace_id": namespace_id})
            found = {Tier(tier): (count, size) for tier, count, size in await cursor.fetchall()}
        return [TierStatistics(tier, *map(int, found.get(tier, (0, 0)))) for tier in Tier]

    async def generations(self, tenant_id: UUID) -> list[GenerationStatistics]:
        """Return every model generation, newest first."""
        generations = []
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["generations"], {"tenant_id": tenant_id})
            for row in await cursor.fetchall():
                count = load_queries("unit_counts", row["ordinal"])["units"]
                units = await (await connection.execute(count, {"tenant_id": tenant_id})).fetchone()
                generations.append(
                    GenerationStatistics(
                        generation_id=row["generation_id"],
                        model=row["model"],
                        dimension=row["dimension"],
                        current=row["current"],
                        unit_count=int(units[0]) if units else 0,
                        created_at=row["created_at"],
                        answering=row["answering"],
                    )
                )
        return generations
