"""Rescans in PostgreSQL: what is stored is read in pages, and rewritten group by group."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.consequences import enqueue_operation
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.erasure import EVENT_ORIGINALS, MEMORY_ORIGINALS, PURGER
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.memory_rows import read_memories
from rearview.adapters.postgres.operations import add_progress
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.rescan_rows import rewrite_group
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.stale_units import replace_units
from rearview.domain.redaction import Sealed
from rearview.domain.rescan import RescanReceipt
from rearview.ports.forgetting import FreshUnit
from rearview.ports.reembedding import UnitToEmbed
from rearview.ports.rescan import PlainText, Rewriting, SessionPlace, StaleBatch, StoredEvent, StoredMemory, TextGroup

_SQL = load_queries("rescan")


class PostgresRescan:
    """The `RescanStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 60.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def held(self, tenant_id: UUID) -> UUID | None:
        """Return a legal hold of the tenant, if one stands."""
        rows = await self._rows(tenant_id, "held")
        return rows[0][0] if rows else None

    async def size(self, tenant_id: UUID) -> int:
        """Return how many texts there are to read."""
        return int((await self._rows(tenant_id, "size"))[0][0])

    async def events(self, tenant_id: UUID, namespace_id: UUID, after: SessionPlace, limit: int) -> list[StoredEvent]:
        """Return the next events of the log."""
        place = {
            "tenant_id": tenant_id,
            "namespace_id": namespace_id,
            "session_id": after.session_id,
            "sequence": after.sequence,
            "limit": limit,
        }
        async with self._transaction(tenant_id) as connection:
            rows = await (await dict_rows(connection, _SQL["events"], place)).fetchall()
        return [StoredEvent(row["session_id"], event_of(row), _sealed(row["key_id"], row["sealed"])) for row in rows]

    async def memory_ids(self, tenant_id: UUID, namespace_id: UUID, after: UUID, limit: int) -> list[UUID]:
        """Return the next memories of any tier."""
        rows = await self._rows(tenant_id, "memory_ids", namespace_id=namespace_id, after=after, limit=limit)
        return [row[0] for row in rows]

    async def memories(self, tenant_id: UUID, namespace_id: UUID, ids: Collection[UUID]) -> list[StoredMemory]:
        """Return memories; see `RescanStore.memories`."""
        place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_ids": list(ids)}
        async with self._transaction(tenant_id) as connection:
            found = await read_memories(connection, tenant_id, namespace_id, ids)
            rows = await (await connection.execute(_SQL["memory_originals"], place)).fetchall()
        originals = {memory_id: _sealed(key_id, data) for memory_id, key_id, data in rows}
        return [StoredMemory(memory, originals.get(memory_id)) for memory_id, memory in sorted(found.items())]

    async def related(
        self, tenant_id: UUID, namespace_id: UUID, event_ids: Collection[UUID], memory_ids: Collection[UUID]
    ) -> list[UUID]:
        """Return the memories that say the same; see `RescanStore.related`."""
        rows = await self._rows(
            tenant_id, "related", namespace_id=namespace_id, event_ids=list(event_ids), memory_ids=list(memory_ids)
        )
        return [row[0] for row in rows]

    async def rewrite(
        self, tenant_id: UUID, namespace_id: UUID, operation_id: UUID, group: TextGroup, rewriting: Rewriting
    ) -> bool:
        """Store a group as it is rewritten; see `RescanStore.rewrite`."""
        async with self._transaction(tenant_id) as connection:
            place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "operation_id": operation_id}
            stale = await rewrite_group(connection, tenant_id, namespace_id, group, rewriting)
            if stale is None:
                return False
            await connection.execute(_SQL["keep_stale"], {**place, "unit_ids": sorted(stale)})
            await add_progress(connection, tenant_id, operation_id, 0, rewriting.counts)
        return True

    async def stale(self, tenant_id: UUID, operation_id: UUID, *, limit: int) -> StaleBatch | None:
        """Return some units that are still to be made anew."""
        rows = await self._rows(tenant_id, "stale", operation_id=operation_id, limit=limit)
        # A turn's unit belongs to an episode, but is read by its own id; a memory's has that of its memory.
        return StaleBatch(rows[0][0], tuple(UnitToEmbed(row[1], row[1]) for row in rows)) if rows else None

    async def replace(
        self, tenant_id: UUID, operation_id: UUID, ordinal: int, batch: StaleBatch, fresh: Sequence[FreshUnit]
    ) -> None:
        """Replace units; see `RescanStore.replace`."""
        place = {
            "tenant_id": tenant_id,
            "operation_id": operation_id,
            "namespace_id": batch.namespace_id,
            "unit_ids": [unit.unit_id for unit in batch.units],
        }
        async with self._transaction(tenant_id) as connection:
            await replace_units(connection, SearchUnits(ordinal), tenant_id, batch.namespace_id, fresh)
            await connection.execute(_SQL["fresh"], place)

    async def plain_texts(self, tenant_id: UUID, kind: str, after: UUID, limit: int) -> list[PlainText]:
        """Return the next rows of a kind."""
        rows = await self._rows(tenant_id, f"texts_of_{kind}s", after=after, limit=limit)
        return [PlainText(row_id, tree) for row_id, tree in rows]

    async def rewrite_plain(
        self, tenant_id: UUID, operation_id: UUID, kind: str, texts: Sequence[PlainText], counts: Mapping[str, int]
    ) -> None:
        """Store such rows anew; see `RescanStore.rewrite_plain`."""
        records = as_records({"row_id": text.row_id, "tree": dict(text.tree)} for text in texts)
        async with self._transaction(tenant_id) as connection:
            await connection.execute(_SQL[f"rewrite_{kind}s"], {"tenant_id": tenant_id, "texts": records})
            await add_progress(connection, tenant_id, operation_id, 0, counts)

    async def drop_originals(self, tenant_id: UUID, operation_id: UUID, *, limit: int) -> int:
        """Delete sealed originals; see `RescanStore.drop_originals`."""
        place = {"tenant_id": tenant_id, "limit": limit}
        counts = {}
        async with self._transaction(tenant_id) as connection:
            for name, table in ((EVENT_ORIGINALS, "event_originals"), (MEMORY_ORIGINALS, "memory_originals")):
                row = await (await connection.execute(_SQL[f"drop_{table}"], place)).fetchone()
                counts[name] = row[0] if row else 0
            await add_progress(connection, tenant_id, operation_id, 0, {name: n for name, n in counts.items() if n})
        return sum(counts.values())

    async def come_back(self, tenant_id: UUID, operation_id: UUID, at: datetime) -> None:
        """Have the operation looked at again."""
        async with self._transaction(tenant_id) as connection:
            await enqueue_operation(connection, tenant_id, operation_id, at)

    async def verified(self, tenant_id: UUID, receipt: RescanReceipt) -> None:
        """End the operation with its receipt; see `RescanStore.verified`."""
        place = {
            "tenant_id": tenant_id,
            "operation_id": receipt.operation_id,
            "policy_version": receipt.policy_version,
            "categories": list(receipt.categories),
            "counts": Jsonb(dict(receipt.counts)),
            "digest": receipt.digest,
            "now": receipt.verified_at,
        }
        async with self._transaction(tenant_id) as connection:
            if await (await connection.execute(_SQL["end"], place)).fetchone() is None:
                return
            await connection.execute(_SQL["keep_receipt"], place)
            told = " ".join(f"{name}={count}" for name, count in sorted(receipt.counts.items()))
            detail = f"policy={receipt.policy_version} digest={receipt.digest} {told}".strip()
            names = [f"operations/{receipt.operation_id}"]
            await record_audit(connection, tenant_id, PURGER, "redaction.rescan", names, receipt.verified_at, detail)

    async def _rows(self, tenant_id: UUID, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        async with self._transaction(tenant_id) as connection:
            return await (await connection.execute(_SQL[name], {"tenant_id": tenant_id, **parameters})).fetchall()

    @asynccontextmanager
    async def _transaction(self, tenant_id: UUID) -> AsyncIterator[Connection]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            yield connection


def _sealed(key_id: str | None, data: bytes | None) -> Sealed | None:
    return Sealed(key_id, bytes(data)) if key_id is not None and data is not None else None
