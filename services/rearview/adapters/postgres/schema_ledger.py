"""Which migrations a database has had: yoyo's ledger, with two promises added.

A migration and its mark are one transaction, so a crash leaves neither half; and a file is sent to the server whole,
so that no client-side parser has to find the ends of its statements.
"""

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.rows import TupleRow
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.migrations import Migration, MigrationStep

LEDGER_TABLE = "_yoyo_migration"


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One file of SQL. `transactional` is false for the few statements that refuse to run in a transaction."""

    change_id: str
    sql: str
    transactional: bool = True


class SchemaLedger:
    """The ledger of one database. The caller holds a lock that keeps other migrations out."""

    def __init__(self, connection: psycopg.Connection[TupleRow]) -> None:
        self._backend = _Backend(connection)
        self._backend.ensure_internal_schema_updated()

    @property
    def is_empty(self) -> bool:
        """True if nothing was ever applied."""
        return not self._backend.get_applied_migration_hashes()

    def pending(self, changes: Iterable[SchemaChange]) -> list[SchemaChange]:
        """Return the changes that the database lacks, in the order given."""
        applied = set(self._backend.get_applied_migration_hashes())
        return [change for change in changes if _FileMigration(change).hash not in applied]

    def apply(self, change: SchemaChange) -> None:
        """Run a change and mark it, both or neither (unless it is not transactional)."""
        self._backend.apply_one(_FileMigration(change))

    def install(self, sql: str, included: Iterable[SchemaChange]) -> None:
        """Run a complete schema and mark the changes that it includes, all or nothing."""
        with self._backend.transaction():
            self._backend.connection.execute(sql)
            for change in included:
                self._backend.mark_one(_FileMigration(change))


class _FileMigration(Migration):  # type: ignore[misc]
    """yoyo's migration, of one step: the whole text."""

    def __init__(self, change: SchemaChange) -> None:
        super().__init__(change.change_id, path=f"{change.change_id}.sql", source_dir="")
        self.use_transactions = change.transactional
        self.steps = [MigrationStep(0, change.sql, None)]
        self._depends: set[Migration] = set()


class _Backend(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """yoyo's backend on a connection that is open already."""

    def __init__(self, connection: psycopg.Connection[TupleRow]) -> None:
        self._given = connection
        database = DatabaseURI("postgresql+psycopg", None, None, None, None, connection.info.dbname, {})
        super().__init__(database, LEDGER_TABLE)

    def connect(self, _uri: DatabaseURI) -> psycopg.Connection[TupleRow]:
        return self._given

    @contextmanager
    def lock(self, _timeout: float = 10) -> Iterator[None]:
        # yoyo's lock is a row that outlives a killed process; the caller's advisory lock does not.
        yield

    def apply_one(self, migration: _FileMigration) -> None:
        if migration.use_transactions:
            with self.transaction():
                migration.process_steps(self, "apply")
                self.mark_one(migration)
        else:
            migration.process_steps(self, "apply")
            with self.transaction():
                self.mark_one(migration)

    def get_log_data(self, migration: _FileMigration | None = None, operation: str = "apply") -> dict[str, Any]:
        # yoyo asks for the account's name, which containers may lack, and the network for the host's, which can take
        # seconds; who changed the schema is the database role.
        return {
            "id": str(uuid4()),
            "migration_id": migration.id if migration else None,
            "migration_hash": migration.hash if migration else None,
            "username": self._given.info.user,
            "hostname": socket.gethostname(),
            "created_at_utc": datetime.now(UTC).replace(tzinfo=None),
            "operation": operation,
        }
