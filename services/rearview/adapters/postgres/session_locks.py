"""Keeping indexing off memories that are being changed or forgotten."""

from collections.abc import Collection, Sequence
from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries

_SQL = load_queries("session_locks")


async def lock_sessions_of(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
) -> list[str]:
    """Lock the sessions that memories came from; return their ids in order."""
    cursor = await connection.execute(
        _SQL["sessions_of_memories"],
        {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_ids": list(memory_ids)},
    )
    session_ids = sorted(row[0] for row in await cursor.fetchall())
    await lock_sessions(connection, tenant_id, namespace_id, session_ids)
    return session_ids


async def lock_sessions(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, session_ids: Sequence[str]
) -> None:
    """Lock sessions until the transaction ends; those that do not exist are passed over."""
    await connection.execute(
        _SQL["lock_sessions"],
        {"tenant_id": tenant_id, "namespace_id": namespace_id, "session_ids": list(session_ids)},
    )


async def detach(
    connection: Connection,
    tenant_id: UUID,
    namespace_id: UUID,
    session_ids: Sequence[str],
    memory_ids: Collection[UUID],
) -> list[UUID]:
    """Let no later turn join these memories or grow their units; return the units whose windows were open."""
    place = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "session_ids": list(session_ids),
        "memory_ids": list(memory_ids),
    }
    cursor = await connection.execute(_SQL["windows_of_memories"], place)
    await connection.execute(_SQL["close_episodes"], place)
    return [row[0] for row in await cursor.fetchall()]
