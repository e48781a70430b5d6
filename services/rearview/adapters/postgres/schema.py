"""Brings a database's schema up to this code's version: all that is needed, once, however many try at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from typing import TypeAlias

import psycopg
from psycopg.rows import TupleRow

from rearview.adapters.postgres.schema_changes import Phase, job_queue_changes, job_queue_schema, own_changes, select
from rearview.adapters.postgres.schema_ledger import LEDGER_TABLE, SchemaLedger
from rearview.adapters.postgres.schema_preconditions import (
    MigrationFailed,
    check_owner,
    check_roles,
    check_server,
    ensure_extensions,
    has_job_queue,
)

Progress: TypeAlias = Callable[[str], None]

LOCK_NUMBER = 0x7265_6172_7669_6577
"""The advisory lock's; any number would do that nobody else in the database uses."""
_RETRY_SECONDS = 0.5


def apply_schema(
    owner_url: str,
    *,
    phase: Phase,
    on_progress: Progress,
    wait_seconds: float,
    lock_timeout_seconds: float,
    folder: Traversable | None = None,
) -> tuple[str, ...]:
    """Run what is pending of a phase and return the names of the changes made; none if there was nothing to do.

    A server that does not answer is tried for `wait_seconds`; another migration that is under way is waited for,
    `lock_timeout_seconds` at most. `folder` holds other migrations than this package's.

    Raises:
        MigrationFailed: the server, the role or a change did not allow it; the changes before that one stand.
    """
    with _connection(owner_url, wait_seconds) as connection, _lock(connection, on_progress, lock_timeout_seconds):
        check_server(connection)
        check_owner(connection, LEDGER_TABLE)
        check_roles(connection)
        ensure_extensions(connection)
        with _failures_of("the ledger of migrations"):
            ledger = SchemaLedger(connection)
            fresh = ledger.is_empty
        done: list[str] = []
        if phase != "post" and not has_job_queue(connection, installed_here=not fresh):
            on_progress("installing the job queue's schema")
            with _failures_of("the job queue's schema"):
                ledger.install(job_queue_schema(), job_queue_changes())
            done.append("procrastinate")
        pending = ledger.pending([*job_queue_changes(), *own_changes(folder)])
        for change in select(pending, phase, fresh=fresh):
            on_progress(f"applying {change.change_id}")
            with _failures_of(change.change_id):
                ledger.apply(change)
            done.append(change.change_id)
        return tuple(done)


def known_changes() -> tuple[str, ...]:
    """Return the names of all changes that this code knows."""
    return tuple(change.change_id for change in (*job_queue_changes(), *own_changes()))


def pending_changes(url: str, *, wait_seconds: float = 0.0) -> tuple[str, ...]:
    """Return the names of the changes that a database lacks; changes nothing.

    Raises:
        MigrationFailed: the server or the role does not allow looking.
    """
    with _connection(url, wait_seconds) as connection, _failures_of("the ledger of migrations"):
        found = connection.execute("SELECT to_regclass(%s)", [f"public.{LEDGER_TABLE}"]).fetchone()
        if found is None or found[0] is None:
            return known_changes()
        applied = {row[0] for row in connection.execute("SELECT migration_id FROM public._yoyo_migration")}
    return tuple(change for change in known_changes() if change not in applied)


@contextmanager
def _connection(url: str, wait_seconds: float) -> Iterator[psycopg.Connection[TupleRow]]:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            connection = psycopg.connect(
                url,
                autocommit=True,
                connect_timeout=10,
                application_name="rearview-migrate",
                # The server looks now and then whether this process still lives, so that a killed migration does not
                # keep its lock until a long statement ends.
                options="-c search_path=public -c client_min_messages=warning -c client_connection_check_interval=1000",
            )
            break
        except psycopg.ProgrammingError:
            # The driver's text may quote the password.
            raise MigrationFailed(
                "the database's URL is malformed; expected postgresql://role:password@host:port/database"
            ) from None
        except psycopg.OperationalError as error:
            # Only a server that is not up yet is worth waiting for; a wrong password stays wrong.
            refused = "FATAL" in str(error) and "starting up" not in str(error)
            if refused or time.monotonic() > deadline:
                raise MigrationFailed(f"PostgreSQL cannot be reached: {_first_line(error)}") from None
            time.sleep(_RETRY_SECONDS)
    with connection:
        yield connection


@contextmanager
def _lock(connection: psycopg.Connection[TupleRow], on_progress: Progress, timeout_seconds: float) -> Iterator[None]:
    """Hold the advisory lock of migrations. It ends with the connection, so a killed migration blocks nobody."""
    taken = connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK_NUMBER]).fetchone()
    if taken is None or not taken[0]:
        on_progress("another migration is under way; waiting for it")
        connection.execute("SELECT set_config('lock_timeout', %s, false)", [f"{timeout_seconds * 1000:.0f}ms"])
        try:
            connection.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
        except psycopg.errors.LockNotAvailable:
            raise MigrationFailed(
                f"another migration has been under way for {timeout_seconds:g} seconds; see pg_stat_activity for "
                "application_name rearview-migrate"
            ) from None
        connection.execute("SET lock_timeout = 0")
    yield


@contextmanager
def _failures_of(what: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise MigrationFailed(f"{what} failed: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
