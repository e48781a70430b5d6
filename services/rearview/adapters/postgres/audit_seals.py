"""Seals over the audit log, in the table beside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.database import Database, dict_rows
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.audit_seal import DIGEST_BYTES, AuditEntry, AuditSeal, Place

_SQL = load_queries("audit_seals")


class PostgresAuditSeals:
    """The `AuditSealStore` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 30.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def unsealed_tenants(self, until: datetime, *, limit: int) -> list[UUID]:
        """Return tenants with records to seal; see `AuditSealStore.unsealed_tenants`."""
        rows = await self._rows(None, "unsealed_tenants", until=until, limit=limit)
        return [row["tenant_id"] for row in rows]

    async def last(self, tenant_id: UUID) -> AuditSeal | None:
        """Return the newest seal."""
        return await self._seal(tenant_id, "last_seal")

    async def at(self, tenant_id: UUID, sequence: int) -> AuditSeal | None:
        """Return the last seal that begins at or before a sequence."""
        return await self._seal(tenant_id, "seal_at", sequence=sequence)

    async def after(self, tenant_id: UUID, number: int) -> AuditSeal | None:
        """Return the first seal with a greater number."""
        return await self._seal(tenant_id, "seal_after", number=number)

    async def numbered(self, tenant_id: UUID, number: int) -> AuditSeal | None:
        """Return the seal of a number."""
        return await self._seal(tenant_id, "seal_numbered", number=number)

    async def entries(self, tenant_id: UUID, after: Place, upto: Place, *, limit: int) -> Sequence[AuditEntry]:
        """Return the records between two places; see `AuditSealStore.entries`."""
        rows = await self._rows(
            tenant_id,
            "entries",
            after_at=after.at,
            after_id=after.record_id,
            upto_at=upto.at,
            upto_id=upto.record_id,
            limit=limit,
        )
        return [AuditEntry(**{**row, "resource_names": tuple(row["resource_names"])}) for row in rows]

    async def add(self, tenant_id: UUID, seal: AuditSeal) -> bool:
        """Store a seal; see `AuditSealStore.add`."""
        added = await self._rows(
            tenant_id,
            "add_seal",
            number=seal.number,
            first_sequence=seal.first_sequence,
            record_count=len(seal.leaves),
            after_at=seal.after.at,
            after_id=seal.after.record_id,
            upto_at=seal.upto.at,
            upto_id=seal.upto.record_id,
            leaves=b"".join(seal.leaves),
            root=seal.root,
            previous=seal.previous,
            key_id=seal.key_id,
            sealed_at=seal.sealed_at,
            code=seal.code,
        )
        return bool(added)

    async def _seal(self, tenant_id: UUID, query: str, **parameters: object) -> AuditSeal | None:
        rows = await self._rows(tenant_id, query, **parameters)
        return _seal_of(rows[0]) if rows else None

    async def _rows(self, tenant_id: UUID | None, query: str, **parameters: object) -> list[dict[str, Any]]:
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await dict_rows(connection, _SQL[query], {"tenant_id": tenant_id, **parameters})
            return await cursor.fetchall()


def _seal_of(row: dict[str, Any]) -> AuditSeal:
    leaves = bytes(row["leaves"])
    return AuditSeal(
        number=row["number"],
        first_sequence=row["first_sequence"],
        after=Place(row["after_at"], row["after_id"]),
        upto=Place(row["upto_at"], row["upto_id"]),
        leaves=tuple(leaves[at : at + DIGEST_BYTES] for at in range(0, len(leaves), DIGEST_BYTES)),
        root=bytes(row["root"]),
        previous=bytes(row["previous"]),
        key_id=bytes(row["key_id"]),
        sealed_at=row["sealed_at"],
        code=bytes(row["code"]),
    )
