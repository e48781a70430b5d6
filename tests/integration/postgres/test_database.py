"""The pool of connections, when the server has closed them meanwhile or hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import psycopg
import pytest

from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.round_trip import Reading, numbered
from rearview.domain.errors import Unavailable
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


async def test_one_caller_gets_past_all_connections_that_the_server_closed(database: DatabaseUrls) -> None:
    # A pool that looks itself pauses for a second after the second of them, and twice as long after each one more.
    async with Database(
        database.service, max_connections=CONNECTIONS, acquire_timeout_seconds=0.9, vectors=False
    ) as pool:
        before = await at_once(pool)
        async with await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as superuser:
            await superuser.execute("SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::int[]) AS pid", [before])
        await pool.ping()
        assert pool.figures().failures == 0


@asynccontextmanager
async def forwarder(port: int, target: int) -> AsyncIterator[None]:
    """Pass connections on for the length of the block; before and after nobody listens."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while octets := await reader.read(65_536):
                writer.write(octets)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        further_reader, further_writer = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(pump(reader, further_writer), pump(further_reader, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", port):
        yield


async def test_a_server_that_was_away_for_long_is_found_again_soon(database: DatabaseUrls) -> None:
    parts = urlsplit(database.service)
    assert parts.port is not None
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    url = parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{port}")).geturl()
    async with Database(url, max_connections=2, acquire_timeout_seconds=0.5, vectors=False) as pool:
        away_until = time.monotonic() + 8.0
        while time.monotonic() < away_until:
            with pytest.raises(Unavailable):
                await pool.ping()
        async with forwarder(port, parts.port):
            back_at = time.monotonic()
            while time.monotonic() < back_at + 10.0:
                with suppress(Unavailable):
                    await pool.ping()
                    break
            assert time.monotonic() - back_at < 4.0


@asynccontextmanager
async def hanging(connection: Connection) -> AsyncIterator[None]:
    """Stop the backend of a connection for the length of the block: it neither answers nor closes."""
    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    assert row is not None
    os.kill(row[0], signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(row[0], signal.SIGCONT)


async def ask_while_it_hangs(pool: Database, stack: AsyncExitStack, *, timeout_seconds: float | None = None) -> None:
    async with pool.transaction(None, timeout_seconds=timeout_seconds) as connection:
        await stack.enter_async_context(hanging(connection))
        await (await connection.execute("SELECT 1")).fetchone()


async def test_who_gives_up_on_a_server_that_hangs_waits_no_longer_and_the_pool_goes_on(database: DatabaseUrls) -> None:
    async with Database(database.service, max_connections=1, vectors=False) as pool:
        started = time.monotonic()
        async with AsyncExitStack() as stack:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask_while_it_hangs(pool, stack), 0.3)
            assert time.monotonic() - started < 4.0
            await pool.ping()


async def test_a_server_that_hangs_is_told_as_unavailable_though_nobody_gives_up(database: DatabaseUrls) -> None:
    async with Database(database.service, max_connections=1, vectors=False) as pool:
        started = time.monotonic()
        async with AsyncExitStack() as stack:
            with pytest.raises(Unavailable) as told:
                await ask_while_it_hangs(pool, stack, timeout_seconds=0.3)
            assert told.value.metadata == {"dependency": "postgresql"}
            assert time.monotonic() - started < 6.0
            await pool.ping()


async def test_a_statement_is_cancelled_with_its_caller_and_its_connection_kept(database: DatabaseUrls) -> None:
    async with Database(database.service, max_connections=1, vectors=False) as pool:
        backends = []
        for seconds in (60, 0):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5), pool.transaction(None) as connection:
                    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
                    backends.append(row)
                    await (await connection.execute("SELECT pg_sleep(%s)", [seconds])).fetchone()
        assert len(backends) == 2
        assert backends[0] == backends[1]


@pytest.mark.parametrize("prepares", [True, False])
async def test_statements_are_prepared_only_where_they_may_be(database: DatabaseUrls, prepares: bool) -> None:
    """Behind a pooler that hands each transaction another connection, a name of this one would mean nothing."""
    async with Database(database.service, max_connections=1, vectors=False, prepares=prepares) as pool:

        async def doubled(value: object) -> object:
            rows = await pool.rows(None, "SELECT %(value)s, %(value)s", {"value": value}, timeout_seconds=30)
            return rows[0]

        for _ in range(8):  # more often than the driver waits with its own
            assert await doubled(7) == (7, 7)
            assert await doubled("七 seven") == ("七 seven", "七 seven")
            async with pool.transaction(None) as connection:
                await connection.execute("SELECT 1 + %s", [1])
        statement = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %(like)s"
        named = await pool.rows(None, statement, {"like": "SELECT $1%"}, timeout_seconds=30)
        everything = await pool.rows(None, statement, {"like": "%"}, timeout_seconds=30)
    # One for each type of the parameter, however often it was asked.
    assert named[0][0] == (2 if prepares else 0)
    assert (everything[0][0] > 0) is prepares


async def test_a_statement_that_fails_on_its_first_way_is_prepared_anew(database: DatabaseUrls) -> None:
    async with Database(database.service, max_connections=1, vectors=False) as pool:
        divided = "SELECT 10 / %(by)s::int"
        with pytest.raises(psycopg.errors.DivisionByZero):
            await pool.rows(None, divided, {"by": 0}, timeout_seconds=30)
        assert await pool.rows(None, divided, {"by": 5}, timeout_seconds=30) == [(2,)]
        with pytest.raises(psycopg.errors.DivisionByZero):
            await pool.rows(None, divided, {"by": 0}, timeout_seconds=30)
        assert await pool.rows(None, divided, {"by": 2}, timeout_seconds=30) == [(5,)]


async def test_a_prepared_statement_outlives_a_change_of_what_it_returns(database: DatabaseUrls) -> None:
    async with (
        Database(database.service, max_connections=1, vectors=False) as pool,
        await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as owner,
    ):
        await owner.execute("CREATE TABLE changing (value int); INSERT INTO changing VALUES (3)")
        await owner.execute("GRANT SELECT ON changing TO rearview_service")
        read = "SELECT value FROM changing"
        assert await pool.rows(None, read, {}, timeout_seconds=30) == [(3,)]
        await owner.execute("ALTER TABLE changing ALTER value TYPE text")
        assert await pool.rows(None, read, {}, timeout_seconds=30) == [("3",)]


async def test_reads_go_on_after_a_rollback_drops_what_was_prepared(database: DatabaseUrls) -> None:
    """The driver does so on connections on which it has prepared something itself."""
    async with Database(database.service, max_connections=1, vectors=False) as pool:
        for _ in range(8):
            assert await pool.rows(None, "SELECT %(value)s + 1", {"value": 1}, timeout_seconds=30) == [(2,)]
            assert await pool.rows(None, "SELECT %(value)s + 2", {"value": 1}, timeout_seconds=30) == [(3,)]
            async with pool.transaction(None) as connection:
                await connection.execute("SELECT 1 + %s", [1])
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                async with pool.transaction(None) as connection:
                    await (await connection.execute("SELECT 1 / %s", [0])).fetchone()
            # A statement that is new stands before one that is known, so that names could be taken twice.
            fresh = numbered("SELECT %(value)s + 3"), numbered("SELECT %(value)s + 1")
            readings = [Reading(statement, {"value": 1}) for statement in fresh]
            assert await pool.read(None, readings, timeout_seconds=30) == [[(4,)], [(2,)]]
            assert await pool.rows(None, "SELECT %(value)s + 2", {"value": 1}, timeout_seconds=30) == [(3,)]


async def test_reads_go_on_wherever_a_transaction_is_cancelled(database: DatabaseUrls) -> None:
    """A caller may hang up before, between and behind the statements of a transaction."""

    async def two_statements(pool: Database) -> None:
        async with pool.transaction(None) as connection:
            for number in (1, 2):
                assert await (await connection.execute("SELECT %s::int", [number])).fetchone() == (number,)

    async with Database(database.service, max_connections=1, vectors=False) as pool:
        for steps in range(60):
            working = asyncio.create_task(two_statements(pool))
            for _ in range(steps):
                await asyncio.sleep(0)
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
            for number in (1, 2):
                parameters = {"number": number}
                assert await pool.rows(None, "SELECT %(number)s::int", parameters, timeout_seconds=10.0) == [(number,)]


async def test_a_statement_is_planned_anew_only_where_that_was_asked_for(database: DatabaseUrls) -> None:
    shown = numbered("SELECT current_setting('plan_cache_mode')")
    settings = {"plan_cache_mode": "force_generic_plan"}
    async with Database(database.service, max_connections=1, settings=settings, vectors=False) as pool:
        for anew, mode in ((False, "force_generic_plan"), (True, "force_custom_plan"), (False, "force_generic_plan")):
            readings = [Reading(shown, {}), Reading(shown, {}, planned_anew=anew)]
            assert await pool.read(None, readings, timeout_seconds=30) == [[(mode,)], [(mode,)]]
