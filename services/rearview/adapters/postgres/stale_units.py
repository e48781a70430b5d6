"""Search units with traces of forgotten turns, in PostgreSQL."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.consequences import bump_epoch
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.adapters.postgres.unit_erasure import lower_counts
from rearview.domain.keyword_bag import MAX_TERMS, count_units
from rearview.domain.unit_projection import UnitProjection, indexed_terms
from rearview.ports.forgetting import FreshUnit, StaleTurn, StaleUnits

_SQL = load_queries("stale_units")


class PostgresStaleUnits:
    """The `StaleUnitStore` port over the tables of one generation."""

    def __init__(self, database: Database, units: SearchUnits) -> None:
        self._database = database
        self._units = units

    async def some(self, tenant_id: UUID, receipt_id: UUID, *, limit: int) -> StaleUnits | None:
        """Return some of what is to be made anew; see `StaleUnitStore.some`."""
        place: dict[str, Any] = {"tenant_id": tenant_id, "receipt_id": receipt_id, "limit": limit}
        async with self._database.transaction(tenant_id) as connection:
            row = await (await dict_rows(connection, _SQL["stale_units"], place)).fetchone()
            if row is None:
                return None
            turns = await read_windows(connection, tenant_id, row["namespace_id"], row["unit_ids"])
        return StaleUnits(row["namespace_id"], tuple(row["unit_ids"]), turns, tuple(row["cold"]))

    async def replace(self, tenant_id: UUID, receipt_id: UUID, stale: StaleUnits, fresh: Sequence[FreshUnit]) -> None:
        """Replace units; see `StaleUnitStore.replace`."""
        namespace_id = stale.namespace_id
        place = {"tenant_id": tenant_id, "receipt_id": receipt_id, "unit_ids": list(stale.unit_ids)}
        async with self._database.transaction(tenant_id) as connection:
            await replace_units(connection, self._units, tenant_id, namespace_id, fresh)
            await connection.execute(_SQL["done"], place)


async def replace_units(
    connection: Connection, units: SearchUnits, tenant_id: UUID, namespace_id: UUID, fresh: Sequence[FreshUnit]
) -> None:
    """Replace units wherever they stand and count them anew, in the caller's transaction."""
    bags = {unit.unit_id: unit.bag for unit in fresh}
    large = {term for bag in bags.values() if len(bag.weights) > MAX_TERMS for term in bag.weights}
    statistics = await units.statistics(connection, tenant_id, namespace_id, large)
    projections = [
        UnitProjection(unit.unit_id, unit.vector, indexed_terms(unit.bag, statistics), closed=True) for unit in fresh
    ]
    before = await units.replace(connection, tenant_id, namespace_id, projections)
    if before:
        there = [bags[unit_id] for unit_id, _, _ in before]
        # Languages were counted when the units came, and have not changed.
        erased = [(keywords, counted, 0) for _, keywords, counted in before]
        await lower_counts(connection, tenant_id, namespace_id, erased)
        delta = NamespaceDelta(units=len(there), keyword_total=sum(bag.length for bag in there))
        await units.count(connection, tenant_id, namespace_id, delta, count_units(there))
        await bump_epoch(connection, tenant_id, namespace_id, breaking=True)


async def read_windows(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, unit_ids: Collection[UUID]
) -> tuple[StaleTurn, ...]:
    """Return turns that are not forgotten, each with the kept turns within its window."""
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "unit_ids": list(unit_ids)}
    windows: dict[UUID, list[Mapping[str, Any]]] = defaultdict(list)
    for row in await (await dict_rows(connection, _SQL["windows"], place)).fetchall():
        windows[row["unit_id"]].append(row)
    turns = []
    for window in windows.values():
        nearest = sorted(window, key=lambda row: abs(int(row["place"])))
        turns.append(
            StaleTurn(
                turn=event_of(nearest[0]),
                before=tuple(event_of(row) for row in nearest if row["place"] < 0),
                after=tuple(event_of(row) for row in nearest if row["place"] > 0),
            )
        )
    return tuple(turns)
