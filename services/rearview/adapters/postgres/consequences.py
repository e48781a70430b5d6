"""What a write leads to, in its own transaction: jobs, and epochs by which cached answers are known to be old."""

import json
from datetime import datetime
from uuid import UUID

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.epochs import note_addition
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.addition import Addition

_SQL = load_queries("consequences")


async def bump_epoch(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, *, breaking: bool, addition: Addition | None = None
) -> None:
    """Say that something was added to a namespace, or (breaking) that an earlier answer may be wrong now.

    With `addition`, cached answers that it cannot have changed stay good; without, none does.
    """
    if addition is not None and addition.fits and not breaking:
        await note_addition(connection, tenant_id, namespace_id, addition)
        return
    await connection.execute(
        _SQL["bump_epoch"], {"tenant_id": tenant_id, "namespace_id": namespace_id, "breaking": breaking}
    )


async def enqueue_index(connection: Connection, tenant_id: UUID, namespace_id: UUID, session_id: str) -> None:
    """Have a session indexed."""
    await _enqueue(
        connection,
        "index_session",
        f"session:{tenant_id}:{namespace_id}:{session_id}",
        {"tenant_id": str(tenant_id), "namespace_id": str(namespace_id), "session_id": session_id},
        None,
    )


async def enqueue_close_windows(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, session_id: str, run_at: datetime
) -> None:
    """Look later whether a session has fallen silent. A lock of its own: a waiting job holds up those behind it."""
    await _enqueue(
        connection,
        "close_session_windows",
        f"close:{tenant_id}:{namespace_id}:{session_id}",
        {"tenant_id": str(tenant_id), "namespace_id": str(namespace_id), "session_id": session_id},
        run_at,
    )


async def enqueue_merge(connection: Connection, tenant_id: UUID, namespace_id: UUID, run_at: datetime | None) -> None:
    """Have closed units moved to the main index. No lock: two of these jobs pass over each other's rows."""
    await _enqueue(
        connection,
        "merge_fresh_units",
        f"merge:{tenant_id}:{namespace_id}:{run_at.isoformat() if run_at else 'now'}",
        {"tenant_id": str(tenant_id), "namespace_id": str(namespace_id)},
        run_at,
    )


async def enqueue_summary(connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> None:
    """Have the history told anew that a fact's value is part of."""
    await _enqueue_for_memory(connection, "summarise_fact", "summary", tenant_id, namespace_id, memory_id)


async def enqueue_restatement(connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> None:
    """Have a fact stated anew by what still states it."""
    await _enqueue_for_memory(connection, "restate_fact", "restate", tenant_id, namespace_id, memory_id)


async def enqueue_rehydration(connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> None:
    """Have a memory brought back to the hot tier."""
    await _enqueue_for_memory(connection, "rehydrate_memory", "rehydrate", tenant_id, namespace_id, memory_id)


async def enqueue_purge(connection: Connection, tenant_id: UUID, receipt_id: UUID, purge_after: datetime) -> None:
    """Have a forget carried out to its end."""
    await _enqueue(
        connection,
        "purge",
        f"purge:{tenant_id}:{receipt_id}",
        {"tenant_id": str(tenant_id), "receipt_id": str(receipt_id)},
        purge_after,
    )


async def enqueue_clear_working_memory(connection: Connection, tenant_id: UUID, receipt_id: UUID) -> None:
    """Have working memory cleared of what was forgotten, should the process die or Redis be away right after."""
    await _enqueue(
        connection,
        "clear_working_memory",
        f"working_memory:{tenant_id}:{receipt_id}",
        {"tenant_id": str(tenant_id), "receipt_id": str(receipt_id)},
        None,
    )


async def enqueue_refresh(connection: Connection, tenant_id: UUID, namespace_id: UUID, receipt_id: UUID) -> None:
    """Have the turns around forgotten ones indexed anew. One at a time in a namespace: the last one is to win."""
    await _enqueue(
        connection,
        "refresh_units",
        f"refresh:{tenant_id}:{namespace_id}",
        {"tenant_id": str(tenant_id), "receipt_id": str(receipt_id)},
        None,
    )


async def enqueue_operation(
    connection: Connection, tenant_id: UUID, operation_id: UUID, run_at: datetime | None = None
) -> None:
    """Have an operation carried out."""
    await _enqueue(
        connection,
        "operation",
        f"operation:{tenant_id}:{operation_id}",
        {"tenant_id": str(tenant_id), "operation_id": str(operation_id)},
        run_at,
    )


async def enqueue_tenant_erasure(connection: Connection, tenant_id: UUID, run_at: datetime) -> None:
    """Have a deleted tenant looked through once more."""
    await _enqueue(connection, "erase_tenant", f"erase_tenant:{tenant_id}:again", {"tenant_id": str(tenant_id)}, run_at)


async def enqueue_sweep(connection: Connection, tenant_id: UUID, namespace_id: UUID) -> None:
    """Have a namespace swept."""
    await _enqueue(
        connection,
        "sweep",
        f"sweep:{tenant_id}:{namespace_id}",
        {"tenant_id": str(tenant_id), "namespace_id": str(namespace_id)},
        None,
    )


async def _enqueue_for_memory(
    connection: Connection, task: str, lock: str, tenant_id: UUID, namespace_id: UUID, memory_id: UUID
) -> None:
    await _enqueue(
        connection,
        task,
        f"{lock}:{tenant_id}:{namespace_id}:{memory_id}",
        {"tenant_id": str(tenant_id), "namespace_id": str(namespace_id), "memory_id": str(memory_id)},
        None,
    )


async def _enqueue(connection: Connection, task: str, lock: str, args: dict[str, str], run_at: datetime | None) -> None:
    await connection.execute(_SQL["enqueue"], {"task": task, "lock": lock, "args": json.dumps(args), "run_at": run_at})
