"""Questions to a PostgreSQL server that its operator asks: does it answer, is what we need there."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg


class PostgresUnreachable(Exception):
    """The server refused, or did not answer in time; the message holds its reason without credentials."""


@dataclass(frozen=True, slots=True)
class PostgresFacts:
    """What a database says of itself; `vector_version` is None where pgvector is not installed in it."""

    server_version: str
    vector_version: str | None
    size_bytes: int


def ping(url: str, timeout_seconds: int = 3) -> None:
    """Open a connection, run a statement, close.

    Raises:
        PostgresUnreachable: no connection, or no answer within the time.
    """
    inspect(url, timeout_seconds)


def inspect(url: str, timeout_seconds: int = 3) -> PostgresFacts:
    """Return what the database at `url` says of itself.

    Raises:
        PostgresUnreachable: no connection, or no answer within the time.
    """
    try:
        with psycopg.connect(
            url, connect_timeout=timeout_seconds, options=f"-c statement_timeout={timeout_seconds * 1000}"
        ) as connection:
            row = connection.execute(
                "SELECT current_setting('server_version'),"
                " (SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
                " pg_database_size(current_database())"
            ).fetchone()
    except psycopg.Error as error:
        raise PostgresUnreachable(str(error).strip() or type(error).__name__) from error
    if row is None:
        raise PostgresUnreachable("the server answered with nothing")
    return PostgresFacts(server_version=row[0], vector_version=row[1], size_bytes=row[2])
