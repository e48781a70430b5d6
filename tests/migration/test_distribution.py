"""Rules that let the tables be spread over machines by tenant (Citus and its like), also one that a later migration
adds: a row is unique within its tenant, points to rows of its tenant, and is asked for together with its tenant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

import psycopg
import pytest
from psycopg.rows import TupleRow

from rearview.adapters.postgres import queries
from rearview.adapters.postgres.queries import load_queries
from tests.migration.test_tenant_isolation import guarded_tables
from tests.support.stack import DatabaseUrls

BINDS_THE_TENANT = re.compile(r"%\(tenant(_id)?\)s")
NO_TABLE = re.compile(r"--.*$|'[^']*'", re.MULTILINE)
"""Comments and texts: the catalogue is asked for tables by their names."""
EVERYWHERE = {"tenant"}
"""Small tables of which every machine holds a whole copy, beside those of the platform that have no tenant at all."""


@pytest.fixture
def owner(database: DatabaseUrls) -> Iterator[psycopg.Connection[TupleRow]]:
    with psycopg.connect(database.owner) as connection:
        connection.execute("SELECT rearview_register_generation('g1', 'model', 3, '{}')")
        yield connection


def spread_tables(owner: psycopg.Connection[TupleRow]) -> list[str]:
    """The tables whose rows are spread by tenant."""
    return sorted(guarded_tables(owner) - EVERYWHERE)


def test_what_is_unique_is_unique_within_its_tenant(owner: psycopg.Connection[TupleRow]) -> None:
    without = owner.execute(
        """
        SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY (%s)
          AND NOT EXISTS (SELECT FROM pg_attribute a
                          WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = 'tenant_id')
        """,
        [spread_tables(owner)],
    )
    assert without.fetchall() == []


def test_foreign_keys_stay_within_the_tenant(owner: psycopg.Connection[TupleRow]) -> None:
    across = owner.execute(
        """
        SELECT k.conrelid::regclass || '.' || k.conname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY (%s)
          AND k.confrelid <> ALL ('{model_generation, tenant}'::regclass[])
          AND NOT EXISTS (
            SELECT FROM unnest(k.conkey, k.confkey) AS pair (here, there)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.here AND a.attname = 'tenant_id'
            JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.there AND b.attname = 'tenant_id')
        """,
        [spread_tables(owner)],
    )
    assert across.fetchall() == []


def test_every_table_is_spread_by_the_same_kind_of_column(owner: psycopg.Connection[TupleRow]) -> None:
    kinds = owner.execute(
        """
        SELECT DISTINCT format_type(a.atttypid, a.atttypmod), a.attnotnull
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'tenant_id' AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY (%s)
        """,
        [spread_tables(owner)],
    )
    assert kinds.fetchall() == [("uuid", True)]


OF_THE_PLATFORM = {"backup.sql", "tombstone_ledger.sql"}


def test_every_statement_on_spread_tables_says_whose_rows_it_is_about(owner: psycopg.Connection[TupleRow]) -> None:
    """What goes over all tenants is a function of the owner's, which runs on every machine for itself; backups and the
    ledger are of the whole platform, and are read and replayed as the owner."""
    tables = re.compile(rf"\b({'|'.join(spread_tables(owner))})\b")
    files = [file.name for file in resources.files(queries).iterdir() if file.name.endswith(".sql")]
    files = [file for file in files if file not in OF_THE_PLATFORM]
    loose = {
        f"{file}: {name}"
        for file in files
        for name, statement in load_queries(file.removesuffix(".sql"), 1).items()
        if not BINDS_THE_TENANT.search(statement) and tables.search(NO_TABLE.sub("", statement))
    }
    assert loose == set()
