"""The audit log as it is read."""

from uuid import UUID

from rearview.adapters.postgres.database import Database, dict_rows
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.audit import AuditFilter, AuditRecord
from rearview.domain.paging import Page, PageRequest

_SQL = load_queries("administration")


class PostgresAuditLog:
    """The `AuditLog` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def records(self, tenant_id: UUID, wanted: AuditFilter, page: PageRequest) -> Page[AuditRecord]:
        """Return a page of records, newest first."""
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            cursor = await dict_rows(
                connection,
                _SQL["audit_records"],
                {
                    "tenant_id": tenant_id,
                    "after_at": page.after[0] if page.after else None,
                    "after_id": page.after[1] if page.after else None,
                    "action": wanted.action,
                    "start": wanted.start,
                    "end": wanted.end,
                    "limit": page.size + 1,
                },
            )
            rows = await cursor.fetchall()
        kept = rows[: page.size]
        records = [
            AuditRecord(
                sequence=row["sequence"],
                recorded_at=row["recorded_at"],
                principal=row["principal"],
                action=row["action"],
                resource_names=tuple(row["resource_names"]),
                detail=row["detail"],
                request_id=row["request_id"],
            )
            for row in kept
        ]
        if len(rows) <= page.size:
            return Page(records)
        return Page(records, next_after=(kept[-1]["recorded_at"].isoformat(), str(kept[-1]["record_id"])))
