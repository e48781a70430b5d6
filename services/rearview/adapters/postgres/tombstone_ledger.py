"""What a tombstone ledger is written from: receipts and deletions of all tenants, read as the database's owner."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow

from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import Unavailable
from rearview.domain.forget import ForgetState
from rearview.domain.tombstone_ledger import DeletionEntry, ForgetEntry

_SQL = load_queries("tombstone_ledger")
_BATCH = 500


def forgotten_since(
    owner_url: str, known: Mapping[UUID, ForgetState], deleted: frozenset[DeletionEntry]
) -> Iterator[ForgetEntry | DeletionEntry]:
    """Yield what a ledger lacks that knows these receipts in these states, and these deletions; one moment's view.

    Raises:
        Unavailable: PostgreSQL cannot be reached, or the role may not read.
    """
    with owner_connection(owner_url) as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        states = connection.execute(_SQL["receipt_states"]).fetchall()
        changed = [receipt_id for receipt_id, state in states if not _said(known.get(receipt_id), ForgetState(state))]
        for start in range(0, len(changed), _BATCH):
            rows = connection.execute(_SQL["receipts"], {"ids": changed[start : start + _BATCH]}).fetchall()
            for tenant_id, namespace_id, receipt_id, state, memory_ids, event_ids, session_id, at, purge_after in rows:
                yield ForgetEntry(
                    tenant_id,
                    namespace_id,
                    receipt_id,
                    ForgetState(state),
                    tuple(memory_ids),
                    tuple(event_ids),
                    session_id,
                    at,
                    purge_after,
                )
        for row in connection.execute(_SQL["deletions"]).fetchall():
            deletion = DeletionEntry(*row)
            if deletion not in deleted:
                yield deletion


def left_to_erase(owner_url: str) -> tuple[int, int]:
    """Return how many forgets, namespaces and tenants are still to be erased or verified, and how many forgets whose
    time has come wait for a legal hold to be lifted. Raises as `forgotten_since`."""
    with owner_connection(owner_url) as connection:
        return _count(connection, "unfinished"), _count(connection, "held")


@contextmanager
def owner_connection(owner_url: str) -> Iterator[psycopg.Connection[TupleRow]]:
    """Yield a connection of the database's owner; the driver's errors leave as domain errors.

    Raises:
        Unavailable: PostgreSQL cannot be reached, or refused a statement.
    """
    try:
        with psycopg.connect(
            owner_url,
            connect_timeout=10,
            application_name="rearview-backup",
            options="-c search_path=public -c idle_in_transaction_session_timeout=0 -c row_security=off",
            autocommit=True,
        ) as connection:
            yield connection
    except psycopg.ProgrammingError as error:
        if error.diag.message_primary is None:  # of the driver, whose text may quote the password
            raise Unavailable(
                "the database's URL is malformed; expected postgresql://role:password@host:port/database",
                dependency="postgresql",
            ) from None
        raise Unavailable(f"PostgreSQL: {error.diag.message_primary}", dependency="postgresql") from error
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Unavailable(f"PostgreSQL: {first}", dependency="postgresql") from error


def _said(known: ForgetState | None, state: ForgetState) -> bool:
    erased = (ForgetState.PURGED, ForgetState.VERIFIED)
    return known is state or (known in erased and state in erased)


def _count(connection: psycopg.Connection[TupleRow], name: str) -> int:
    row = connection.execute(_SQL[name]).fetchone()
    return int(row[0]) if row else 0
