"""A consistent dump of the database: everything is read under one exported snapshot."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.tombstone_ledger import owner_connection
from rearview.domain.errors import PreconditionFailed, Unavailable

_SQL = load_queries("backup")
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of the database. It is held as long as `open_snapshot`, which keeps vacuum from what it sees."""

    snapshot_id: str
    taken_at: datetime
    server_version: str
    database_bytes: int
    migrations: tuple[str, ...]
    generations: tuple[Mapping[str, Any], ...]
    tenants: tuple[str, ...]
    counts: Mapping[str, int]
    segment_keys: tuple[str, ...]


def segment_keys(owner_url: str) -> tuple[str, ...]:
    """Return the keys of the objects that the catalog of cold segments names now.

    Raises:
        Unavailable: PostgreSQL cannot be reached, or the role may not read.
    """
    with owner_connection(owner_url) as connection:
        return tuple(row[0] for row in connection.execute(_SQL["segment_keys"]).fetchall())


@contextmanager
def open_snapshot(owner_url: str) -> Iterator[Snapshot]:
    """Yield a snapshot for as long as the block lasts. Raises as `segment_keys`."""
    with owner_connection(owner_url) as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        exported = connection.execute(_SQL["export_snapshot"]).fetchone()
        assert exported is not None  # noqa: S101 -- a SELECT without FROM has one row
        snapshot_id, taken_at, server_version, database_bytes = exported
        columns = ("ordinal", "generation_id", "model", "current")
        yield Snapshot(
            snapshot_id,
            taken_at,
            server_version,
            database_bytes,
            migrations=_first(connection, "migrations"),
            generations=tuple(
                dict(zip(columns, row, strict=True)) for row in connection.execute(_SQL["generations"]).fetchall()
            ),
            tenants=tuple(map(str, _first(connection, "tenants"))),
            counts=dict(connection.execute(_SQL["counts"]).fetchall()),
            segment_keys=_first(connection, "segment_keys"),
        )


def dump(programs: Path, owner_url: str, snapshot: Snapshot, write: Callable[[bytes], object]) -> None:
    """Write what `pg_dump` says of a snapshot, in its custom format; extensions are left out.

    Raises:
        Unavailable: pg_dump failed; the message holds the first error that it told.
        OSError: from `write`.
    """
    options = ["--format=custom", f"--snapshot={snapshot.snapshot_id}", "--exclude-extension=*"]
    with _running(programs / "pg_dump", options, owner_url, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None  # noqa: S101 -- asked for
        while chunk := process.stdout.read(_CHUNK):
            write(chunk)


def load(programs: Path, superuser_url: str, owner_url: str, chunks: Iterator[bytes]) -> None:
    """Load a dump into a prepared database that holds no table, all or nothing; everything belongs to its owner.

    Only a superuser's session may have pgvector loaded before the dump makes functions that set its parameters.

    Raises:
        PreconditionFailed: the database holds tables already.
        Unavailable: pg_restore failed; the message holds the first error that it told.
    """
    with owner_connection(owner_url) as connection:
        row = connection.execute(_SQL["is_empty"]).fetchone()
    if row is None or not row[0]:
        raise PreconditionFailed("the database holds tables already; restore into an empty one", state="NOT_EMPTY")
    place = conninfo_to_dict(owner_url)
    url = make_conninfo(superuser_url, dbname=place["dbname"], options="-c session_preload_libraries=vector")
    options = ["--format=custom", "--no-owner", f"--role={place['user']}", "--exit-on-error", "--single-transaction"]
    with _running(programs / "pg_restore", options, url, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None  # noqa: S101 -- asked for
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it says on stderr why it ended
    with owner_connection(owner_url) as connection:
        connection.execute("ANALYZE")


@contextmanager
def _running(
    program: Path, options: list[str], url: str, *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run one of PostgreSQL's programs on a database; its password stays out of the list of processes."""
    place = conninfo_to_dict(url)
    password = str(place.pop("password", "") or "")
    command = [str(program), "--no-password", "--dbname", make_conninfo("", **place), *options]
    environment = {**os.environ, "PGPASSWORD": password, "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryFile() as said:
        try:
            # The programs are PostgreSQL's own, and no shell reads the arguments.
            process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=said, env=environment)  # noqa: S603
        except OSError as error:
            raise Unavailable(f"{program} cannot be run: {error.strerror}", dependency="postgresql") from error
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
            code = process.wait()
        if code != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            reason = next((line for line in lines if "error: " in line), lines[0] if lines else f"code {code}")
            raise Unavailable(f"{program.name} failed: {reason}", dependency="postgresql")


def _first(connection: psycopg.Connection[TupleRow], name: str) -> tuple[Any, ...]:
    return tuple(row[0] for row in connection.execute(_SQL[name]).fetchall())
