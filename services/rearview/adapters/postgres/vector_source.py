"""Vectors out of the tables of hot and of warm units, fresh ones apart, and what changed in those."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.adapters.postgres.tier_rows import HALFVEC_HEADER
from rearview.ports.vector_copies import CopyPlace, UnitVectors


class PostgresVectorSource:
    """The `VectorSource` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        """Take connections whose transactions see one moment."""
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def moment(self, place: CopyPlace) -> str:
        """Return what transactions may be unseen by what is read from now on."""
        return str((await self._read(place, "moment", {}))[0][0])

    async def page(self, place: CopyPlace, after: UUID, limit: int) -> UnitVectors:
        """Return the next active units by id."""
        return _units(*(await self._read(place, "page", {"after": after, "limit": limit}))[0])

    async def changes(self, place: CopyPlace, since: str, limit: int) -> tuple[str, Sequence[UUID]]:
        """Return the moment, and which units were written or deleted since another one."""
        queries = load_queries("vector_copies", place.ordinal)
        parameters = {"tenant": place.tenant_id, "namespace": place.namespace_id, "since": since, "limit": limit}
        moment, changed = await self._database.read(
            place.tenant_id,
            [Reading(numbered(queries[name]), parameters) for name in ("moment", "changed")],
            timeout_seconds=self._timeout_seconds,
        )
        return str(moment[0][0]), [row[0] for row in changed]

    async def units(self, place: CopyPlace, unit_ids: Sequence[UUID]) -> UnitVectors:
        """Return those of the units that are there and active."""
        return _units(*(await self._read(place, "units", {"units": list(unit_ids)}))[0])

    async def _read(self, place: CopyPlace, name: str, parameters: dict[str, object]) -> list[tuple[object, ...]]:
        statement = load_queries("vector_copies", place.ordinal)[name]
        own = {"tenant": place.tenant_id, "namespace": place.namespace_id}
        return await self._database.rows(
            place.tenant_id, statement, {**own, **parameters}, timeout_seconds=self._timeout_seconds
        )


def _units(ids: object, flags: object, vectors: object) -> UnitVectors:
    """Return units of what the server put together: a value behind the other, as it sends them."""
    count = len(_bytes(ids)) // 16
    sent = np.frombuffer(_bytes(vectors), dtype=np.uint8).reshape(count, -1) if count else np.empty((0, 6), np.uint8)
    halves = np.ascontiguousarray(sent[:, HALFVEC_HEADER:]).view(">f2")
    return UnitVectors(
        ids=np.frombuffer(_bytes(ids), dtype=np.uint8).reshape(count, 16),
        flags=np.frombuffer(_bytes(flags), dtype=">i2").astype(np.int16),
        vectors=halves.astype(np.float32),
    )


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""
