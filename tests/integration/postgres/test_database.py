"""The pool of connections, when the server has closed them meanwhile."""

from __future__ import annotations

import asyncio

import psycopg

from rearview.adapters.postgres.database import Database
from tests.support.stack import DatabaseUrls

CONNECTIONS = 4


async def at_once(pool: Database) -> list[int]:
    """Use as many connections at once as the pool may have; return the pids of their backends."""
    together = asyncio.Barrier(CONNECTIONS)

    async def pid() -> int:
        async with pool.transaction(None) as connection:
            row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
            await together.wait()
        assert row is not None
        return int(row[0])

    return await asyncio.gather(*(pid() for _ in range(CONNECTIONS)))


async def test_connections_that_the_server_closed_are_replaced_before_they_are_used(database: DatabaseUrls) -> None:
    async with Database(database.service, max_connections=CONNECTIONS, vectors=False) as pool:
        before = await at_once(pool)
        assert len(set(before)) == CONNECTIONS
        async with await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as superuser:
            await superuser.execute("SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::int[]) AS pid", [before])
        after = await at_once(pool)
    assert len(set(after)) == CONNECTIONS
    assert not set(before) & set(after)
