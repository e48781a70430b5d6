"""Dead letters in the job queue's tables. They are not guarded by row-level security, so each statement names the
tenant."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.audit import record_audit
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.dead_letter import DeadLetter
from rearview.domain.errors import NotFound
from rearview.domain.names import NamespaceName, SessionName
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller

_SQL = load_queries("administration")


class PostgresDeadLetters:
    """The `DeadLetters` port."""

    def __init__(self, database: Database, *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._timeout_seconds = timeout_seconds

    async def letters(self, tenant_id: UUID, page: PageRequest) -> Page[DeadLetter]:
        """Return a page of dead letters, newest first."""
        after = int(page.after[0]) if page.after else None
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            found = await _letters(connection, tenant_id, after=after, job=None, limit=page.size + 1)
        kept = found[: page.size]
        return Page(kept, next_after=(str(kept[-1].job_id),) if len(found) > page.size else ())

    async def replay(self, caller: Caller, tenant_id: UUID, job_id: int, *, now: datetime) -> DeadLetter:
        """Put a job back into the queue; see `DeadLetters.replay`."""
        name = f"deadLetters/{job_id}"
        place = {"tenant_id": tenant_id, "job": job_id}
        async with self._database.transaction(tenant_id, timeout_seconds=self._timeout_seconds) as connection:
            await connection.execute(_SQL["lock_dead_letter"], place)
            found = await _letters(connection, tenant_id, after=None, job=job_id, limit=1)
            if not found:
                raise NotFound("there is no such dead letter", resource_name=name)
            await connection.execute(_SQL["replay"], place)
            await connection.execute(_SQL["wake"], {"task": found[0].task})
            names = [name, *filter(None, [found[0].resource_name])]
            await record_audit(connection, tenant_id, caller, "dead_letter.replay", names, now, f"task={found[0].task}")
        return found[0]


async def _letters(
    connection: Connection, tenant_id: UUID, *, after: int | None, job: int | None, limit: int
) -> list[DeadLetter]:
    cursor = await dict_rows(
        connection, _SQL["dead_letters"], {"tenant_id": tenant_id, "after": after, "job": job, "limit": limit}
    )
    return [
        DeadLetter(
            job_id=row["id"],
            task=row["task_name"],
            resource_name=_resource_name(row["args"], row["namespace"]),
            error=row["error"],
            attempts=row["attempts"],
            failed_at=row["failed_at"],
        )
        for row in await cursor.fetchall()
    ]


def _resource_name(arguments: Mapping[str, Any], namespace: str) -> str:
    if "receipt_id" in arguments:
        return f"forgetReceipts/{arguments['receipt_id']}"
    if not namespace:
        return ""
    if "session_id" in arguments:
        return str(SessionName(namespace, arguments["session_id"]))
    return str(NamespaceName(namespace))
