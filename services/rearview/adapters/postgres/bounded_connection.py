"""A connection that waits for its server, but not for ever: a server may hang without closing anything."""

import asyncio
from contextlib import suppress
from typing import TypeVar

import psycopg
from psycopg import AsyncConnection, waiting
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

T = TypeVar("T")

PreparedKey = tuple[bytes, tuple[int, ...]]

LONGEST_SILENCE_SECONDS = 60.0
CANCEL_SECONDS = 0.5
"""How long a server that works for a caller who has gone may take to stop, and as long again to say so."""


class BoundedConnection(AsyncConnection[TupleRow]):
    """Closes itself when the server is silent for `longest_silence_seconds`, or does not let a statement be cancelled.

    psycopg gives a cancellation ten seconds, in which a caller whose deadline has passed would go on waiting.
    """

    longest_silence_seconds = LONGEST_SILENCE_SECONDS
    prepared: dict[PreparedKey, bytes] | None = None
    """Statements of `all_at_once` that the server has parsed, with the types of their parameters, and what they are
    called there; None where nothing may be prepared."""
    named_statements = 0
    """How many names were given to them so far; none is given twice, since nobody tells which are free again."""

    async def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Run a generator of the driver; see `psycopg.AsyncConnection.wait`.

        Raises:
            OperationalError: the server did not answer in time; the connection is closed.
        """
        limit = self.longest_silence_seconds if timeout is None else timeout
        started = asyncio.get_running_loop().time()
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=limit)
        except asyncio.CancelledError:
            await self._give_up(gen)
            raise
        except psycopg.OperationalError:
            if timeout is None and asyncio.get_running_loop().time() - started >= limit:
                self.pgconn.finish()
            raise

    async def _give_up(self, gen: PQGen[T]) -> None:
        if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
            return
        try:
            with suppress(psycopg.Error):
                await self.cancel_safe(timeout=CANCEL_SECONDS)
            await waiting.wait_async(gen, self.pgconn.socket, interval=CANCEL_SECONDS, timeout=CANCEL_SECONDS)
        except psycopg.errors.QueryCanceled:
            pass
        except psycopg.Error:
            self.pgconn.finish()  # what it is in the middle of is not known
        except BaseException:
            self.pgconn.finish()
            raise
