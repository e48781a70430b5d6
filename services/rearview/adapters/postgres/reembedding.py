"""Re-embedding in PostgreSQL."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.generations import describe_generation
from rearview.adapters.postgres.operations import keep_operation
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import vector_text
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.stale_units import read_windows
from rearview.domain.errors import Conflict, NotFound, PreconditionFailed
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.operation import Operation
from rearview.domain.principal import Caller
from rearview.domain.stored_vector import stored_vector
from rearview.ports.reembedding import Changed, MemoryText, TenantGenerations, UnitTexts, UnitToEmbed

_SQL = load_queries("reembedding")
_CLEARING = ("clear_fresh", "clear_main", "clear_warm")


class PostgresReembedding:
    """The `ReembeddingStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def begin(
        self, caller: Caller, tenant_id: UUID, generation: EmbeddingGeneration, operation: Operation
    ) -> Operation:
        """Begin to re-embed a tenant; see `ReembeddingStore.begin`."""
        async with self._transaction(None) as connection:
            ordinal = await describe_generation(connection, generation)
        place = {
            "tenant_id": tenant_id,
            "ordinal": ordinal,
            "operation_id": operation.operation_id,
            "now": operation.started_at,
        }
        async with self._transaction(tenant_id) as connection:
            stands = await _generations(connection, tenant_id)
            target = await (await connection.execute(_SQL["lock_target"], place)).fetchone()
            _check(stands, target, ordinal)
            await connection.execute(_SQL["go_back" if ordinal == stands.current else "set_target"], place)
            begun = Operation(operation.operation_id, operation.kind, operation.started_at, {"ordinal": ordinal})
            await keep_operation(connection, tenant_id, begun)
            names = [f"operations/{operation.operation_id}", f"modelGenerations/{generation.generation_id}"]
            await record_audit(connection, tenant_id, caller, "operation.reembed", names, operation.started_at)
        return begun

    async def generations(self, tenant_id: UUID) -> TenantGenerations:
        """Return how a tenant's generations stand."""
        async with self._transaction(tenant_id) as connection:
            return await _generations(connection, tenant_id)

    async def generation_id(self, ordinal: int) -> str:
        """Return a generation's id; see `ReembeddingStore.generation_id`."""
        async with self._transaction(None) as connection:
            row = await (await connection.execute(_SQL["generation_id"], {"ordinal": ordinal})).fetchone()
        if row is None:
            raise NotFound("there is no such model generation", resource_name=f"modelGenerations/{ordinal}")
        return str(row[0])

    async def await_writers(self) -> None:
        """Wait until every transaction knows of the tenant's target."""
        async with self._transaction(None) as connection:
            await connection.execute(_SQL["await_writers"])

    async def clear(self, tenant_id: UUID, ordinal: int, *, limit: int) -> bool:
        """Delete what an earlier re-embedding left; see `ReembeddingStore.clear`."""
        place = {"tenant_id": tenant_id, "ordinal": ordinal, "limit": limit}
        statements = load_queries("reembedding_units", ordinal)
        async with self._transaction(tenant_id) as connection:
            deleted = 0
            for name in _CLEARING:
                row = await (await connection.execute(statements[name], place)).fetchone()
                deleted += row[0] if row else 0
            if deleted == 0:
                await connection.execute(_SQL["cleared"], place)
        return deleted == 0

    async def unit_count(self, tenant_id: UUID, ordinal: int) -> int:
        """Return how many units carry vectors of a generation."""
        async with self._transaction(tenant_id) as connection:
            cursor = await connection.execute(load_queries("unit_counts", ordinal)["units"], {"tenant_id": tenant_id})
            row = await cursor.fetchone()
        return int(row[0]) if row else 0

    async def missing(
        self, tenant_id: UUID, namespace_id: UUID, *, source: int, target: int, after: UUID, limit: int
    ) -> list[UnitToEmbed]:
        """Return units without a vector of the target."""
        place = {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "source": source,
            "target": target,
            "after": after,
            "limit": limit,
        }
        async with self._transaction(tenant_id) as connection:
            rows = await (await connection.execute(_SQL["missing"], place)).fetchall()
        return [UnitToEmbed(unit_id, memory_id) for unit_id, memory_id in rows]

    async def changed(self, tenant_id: UUID, *, limit: int) -> Changed | None:
        """Return some of a tenant's units that changed."""
        async with self._transaction(tenant_id) as connection:
            cursor = await connection.execute(_SQL["changed"], {"tenant_id": tenant_id, "limit": limit})
            rows = await cursor.fetchall()
        if not rows:
            return None
        return Changed(rows[0][0], rows[0][1], tuple(UnitToEmbed(*row[2:]) for row in rows))

    async def texts(self, tenant_id: UUID, namespace_id: UUID, units: Sequence[UnitToEmbed]) -> UnitTexts:
        """Return what units say."""
        place: dict[str, Any] = {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "unit_ids": [unit.unit_id for unit in units],
            "memory_ids": sorted({unit.memory_id for unit in units}),
        }
        async with self._transaction(tenant_id) as connection:
            turns = await read_windows(connection, tenant_id, namespace_id, place["unit_ids"])
            rows = await (await connection.execute(_SQL["memory_texts"], place)).fetchall()
        return UnitTexts(
            {turn.turn.event_id: turn for turn in turns},
            {memory_id: MemoryText(content, occurred_at) for memory_id, content, occurred_at in rows},
        )

    async def store(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        ordinal: int,
        units: Sequence[UnitToEmbed],
        vectors: Sequence[NDArray[np.float32] | None],
    ) -> None:
        """Store vectors; see `ReembeddingStore.store`."""
        place = {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "ordinal": ordinal,
            "unit_ids": [unit.unit_id for unit in units],
            "memory_ids": sorted({unit.memory_id for unit in units}),
            "vectors": [None if vector is None else vector_text(stored_vector(vector)) for vector in vectors],
            "changes": [unit.change for unit in units],
        }
        async with self._transaction(tenant_id) as connection:
            await connection.execute(_SQL["store"], place)

    async def merge(self, tenant_id: UUID, namespace_id: UUID, *, limit: int) -> int:
        """Move units to the table with the vector index."""
        async with self._transaction(tenant_id) as connection:
            (current,) = await (await connection.execute(_SQL["current"])).fetchone() or (0,)
            return await SearchUnits(current).merge(connection, tenant_id, namespace_id, limit)

    async def serve(self, tenant_id: UUID, ordinal: int, *, most_changed: int) -> bool:
        """Have a generation answer a tenant; see `ReembeddingStore.serve`."""
        place = {"tenant_id": tenant_id, "ordinal": ordinal, "most": most_changed}
        async with self._transaction(tenant_id) as connection:
            row = await (await connection.execute(_SQL["serve"], place)).fetchone()
        return bool(row and row[0])

    async def tenants_with_changes(self, *, limit: int) -> Collection[UUID]:
        """Return tenants with units that changed."""
        async with self._transaction(None) as connection:
            return [row[0] for row in await (await connection.execute(_SQL["tenants"], {"limit": limit})).fetchall()]

    @asynccontextmanager
    async def _transaction(self, tenant_id: UUID | None) -> AsyncIterator[Connection]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            yield connection


async def _generations(connection: Connection, tenant_id: UUID) -> TenantGenerations:
    row = await (await dict_rows(connection, _SQL["generations"], {"tenant_id": tenant_id})).fetchone()
    assert row is not None  # noqa: S101 -- it selects from one row
    if row["current"] is None:
        raise PreconditionFailed("nothing was embedded yet: there is nothing to embed again")
    return TenantGenerations(**row)


def _check(stands: TenantGenerations, target: Sequence[Any] | None, ordinal: int) -> None:
    if target is not None and not target[2]:
        raise Conflict(f"operations/{target[3]} embeds the tenant's memories anew already", retry_after_seconds=30.0)
    if ordinal == stands.answering:
        raise PreconditionFailed("this model's vectors answer the tenant already")
    if target is not None and target[1] and ordinal != stands.current:
        raise PreconditionFailed(
            "the writers do not make vectors of the model that answers the tenant yet: have them load it first"
        )
