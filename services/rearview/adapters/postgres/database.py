"""Connections to PostgreSQL: bounded, pipelined, and always on behalf of one tenant."""

import select
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, LiteralString, Self, TypeAlias
from uuid import UUID

import orjson
import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, pq
from psycopg.rows import TupleRow, dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from rearview.adapters.postgres.bounded_connection import LONGEST_SILENCE_SECONDS, BoundedConnection
from rearview.adapters.postgres.round_trip import (
    PreparedStatementsStale,
    Reading,
    all_at_once,
    forget_prepared,
    numbered,
)
from rearview.adapters.postgres.uuid_array import register_uuid_arrays
from rearview.domain.errors import Conflict, DeadlineExceeded, Overloaded, Unavailable
from rearview.telemetry.pools import PoolFigures
from rearview.telemetry.tracing import child_span

# Of every connection of the process.
set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)

Connection: TypeAlias = AsyncConnection[TupleRow]

_DEPENDENCY = "postgresql"
# In a span: how long a connection was waited for.
_WAITED = "rearview.pool_wait_milliseconds"
# A last word of the server comes before the end of the stream; each takes a read.
_MOST_READS = 4
_GRACE_SECONDS = 1.0
# The pool's pauses between attempts double: after a long outage it would sleep as long again. One that gives up soon
# tries anew for the next caller.
_RECONNECT_SECONDS = 2.0


class Database:
    """A pool of connections under one database role.

    `transaction` is the only way to a connection, and it names the tenant, so no statement can run outside
    row-level security. Driver errors leave it as domain errors.
    """

    def __init__(
        self,
        url: str,
        *,
        max_connections: int = 10,
        max_waiting: int = 200,
        acquire_timeout_seconds: float = 5.0,
        settings: dict[str, str] | None = None,
        vectors: bool = True,
        prepares: bool = True,
    ) -> None:
        """Describe the pool. Without `prepares` no statement is prepared under a name: behind a pooler that gives each
        transaction another server connection there would be no such name."""
        options = " ".join(f"-c {key}={value}" for key, value in (settings or {}).items())
        kwargs: dict[str, Any] = {"autocommit": True, "connect_timeout": 5, "application_name": "rearview"}
        if options:
            kwargs["options"] = options
        if not prepares:
            kwargs["prepare_threshold"] = None

        async def configure(connection: BoundedConnection) -> None:
            if vectors:
                await register_vector_async(connection)
                register_uuid_arrays(connection)
            if prepares:
                connection.prepared = {}

        self._pool: AsyncConnectionPool[BoundedConnection] = AsyncConnectionPool(
            url,
            connection_class=BoundedConnection,
            kwargs=kwargs,
            min_size=1,
            max_size=max_connections,
            max_waiting=max_waiting,
            timeout=acquire_timeout_seconds,
            reconnect_timeout=_RECONNECT_SECONDS,
            configure=configure,
            open=False,
        )

    async def __aenter__(self) -> Self:
        await self._pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def transaction(
        self, tenant_id: UUID | None, *, timeout_seconds: float | None = None
    ) -> AsyncIterator[Connection]:
        """Yield a connection inside one transaction that works for `tenant_id` (None: no tenant's rows are seen).

        The connection is in pipeline mode: statements are sent at once and only fetching waits, so BEGIN, the tenant
        and the first statements share a round trip. `timeout_seconds` bounds each statement on the server; one that has
        not answered a second later is taken for dead. Without it a statement may take LONGEST_SILENCE_SECONDS.

        Raises:
            Unavailable: PostgreSQL cannot be reached, went away, or had no connection free in time.
            Overloaded: too many others wait already.
            Conflict: a concurrent transaction won.
            DeadlineExceeded: a statement ran into `timeout_seconds`.
        """
        with translated_errors(), child_span("postgresql transaction", db__system__name=_DEPENDENCY) as span:
            asked = time.perf_counter()
            async with self._bounded(timeout_seconds) as connection, connection.pipeline(), connection.transaction():
                span.set_attribute(_WAITED, _milliseconds_since(asked))
                await connection.execute(
                    "SELECT set_config('app.tenant', %s, true), set_config('statement_timeout', %s, true)",
                    [str(tenant_id or ""), str(int((timeout_seconds or 0) * 1000))],
                )
                yield connection

    async def read(
        self, tenant_id: UUID | None, readings: Sequence[Reading], *, timeout_seconds: float
    ) -> list[list[Any]]:
        """Return the rows of each statement, all read for `tenant_id` in one transaction and one round trip.

        Raises as `transaction`.
        """
        return await self._at_once(tenant_id, readings, timeout_seconds, writes=False)

    async def rows(
        self,
        tenant_id: UUID | None,
        statement: LiteralString,
        parameters: Mapping[str, Any],
        *,
        timeout_seconds: float,
        as_dictionaries: bool = False,
    ) -> list[Any]:
        """Return the rows of one statement, read for `tenant_id` in one round trip. Raises as `transaction`."""
        reading = Reading(numbered(statement), parameters, as_dictionaries)
        return (await self.read(tenant_id, [reading], timeout_seconds=timeout_seconds))[0]

    async def write(self, tenant_id: UUID, readings: Sequence[Reading], *, timeout_seconds: float) -> list[list[Any]]:
        """Return the rows of each statement, of which some write for `tenant_id`; else as `read`."""
        return await self._at_once(tenant_id, readings, timeout_seconds, writes=True)

    async def _at_once(
        self, tenant_id: UUID | None, readings: Sequence[Reading], timeout_seconds: float, *, writes: bool
    ) -> list[list[Any]]:
        kind = "postgresql write" if writes else "postgresql read"
        with (
            translated_errors(),
            child_span(kind, db__system__name=_DEPENDENCY, statements=len(readings)) as span,
        ):
            asked = time.perf_counter()
            async with self._bounded(timeout_seconds) as connection:
                span.set_attribute(_WAITED, _milliseconds_since(asked))
                try:
                    return await all_at_once(connection, tenant_id, readings, timeout_seconds, writes=writes)
                except PreparedStatementsStale:
                    await forget_prepared(connection)
                    return await all_at_once(connection, tenant_id, readings, timeout_seconds, writes=writes)

    @asynccontextmanager
    async def _bounded(self, timeout_seconds: float | None) -> AsyncIterator[BoundedConnection]:
        async with self._open_connection() as connection:
            if timeout_seconds is not None:
                connection.longest_silence_seconds = timeout_seconds + _GRACE_SECONDS
            try:
                yield connection
            finally:
                connection.longest_silence_seconds = LONGEST_SILENCE_SECONDS
                # Who was cancelled may have left a pipeline half-way; the next one's answers would not be its own.
                if connection.pgconn.pipeline_status != pq.PipelineStatus.OFF:
                    await connection.close()

    @asynccontextmanager
    async def _open_connection(self) -> AsyncIterator[BoundedConnection]:
        """Lend a connection that the server has not closed. The pool would look itself, and pause longer and longer
        after each closed one: when a server comes back all idle ones are closed."""
        for _ in range(self._pool.max_size):
            connection = await self._pool.getconn()
            if _is_open(connection):
                break
            await self._pool.putconn(connection)
        else:
            connection = await self._pool.getconn()
        try:
            async with connection:
                yield connection
        finally:
            await self._pool.putconn(connection)

    async def ping(self) -> None:
        """Ask PostgreSQL for a sign of life. Raises: Unavailable; Overloaded."""
        async with self.transaction(None, timeout_seconds=1.0) as connection:
            await connection.execute("SELECT 1")

    def figures(self) -> PoolFigures:
        """Return how full the pool is."""
        found = self._pool.get_stats()
        return PoolFigures(
            limit=found["pool_max"],
            in_use=found["pool_size"] - found["pool_available"],
            waiting=found["requests_waiting"],
            waited_seconds=found.get("requests_wait_ms", 0) / 1000,
            failures=found.get("requests_errors", 0) + found.get("connections_errors", 0),
        )


def _milliseconds_since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 3)


def _is_open(connection: Connection) -> bool:
    """Tell whether the server has not closed an idle connection.

    Whoever closes says so on the socket, so this asks the kernel and costs no round trip.
    """
    socket = select.poll()
    try:
        socket.register(connection.fileno(), select.POLLIN)
        for _ in range(_MOST_READS):
            if not socket.poll(0):
                break
            connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return True


class translated_errors:  # noqa: N801 - reads as a statement: `with translated_errors():`
    """A context that turns the driver's errors into domain errors, without their text: it may quote values."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, TooManyRequests):
            raise Overloaded(
                "too many requests wait for the database", retry_after_seconds=1.0, service=_DEPENDENCY
            ) from error
        if isinstance(error, PoolTimeout):
            raise Unavailable(
                "no connection to PostgreSQL could be had in time", retry_after_seconds=1.0, dependency=_DEPENDENCY
            ) from error
        if isinstance(error, psycopg.errors.QueryCanceled):
            raise DeadlineExceeded("the database did not answer within the deadline", stage=_DEPENDENCY) from error
        if isinstance(error, psycopg.errors.SerializationFailure | psycopg.errors.DeadlockDetected):
            raise Conflict("a concurrent write won; repeat the request", retry_after_seconds=0.1) from error
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            raise Unavailable("PostgreSQL does not answer", retry_after_seconds=1.0, dependency=_DEPENDENCY) from error


async def dict_rows(
    connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]
) -> psycopg.AsyncCursor[dict[str, Any]]:
    """Run a statement and return the cursor over its rows, each a dictionary by column."""
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(statement, parameters)
    return cursor
