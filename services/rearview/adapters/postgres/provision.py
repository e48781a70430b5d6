"""What only a superuser can do, once, before migrations: roles, the database, the extensions.

The roles have no BYPASSRLS and no right to create anything but the owner's own objects. A managed database is
prepared in the same way by whoever administers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

EXTENSIONS = ("vector", "btree_gin")


@dataclass(frozen=True, slots=True)
class Provision:
    """A database, the role that owns it, and the passwords of every role that may connect to it."""

    database: str
    owner: str
    passwords: Mapping[str, str] = field(repr=False)
    extensions: Sequence[str] = EXTENSIONS


def provision(superuser_url: str, wanted: Provision) -> None:
    """Make the roles, the database and its extensions as wanted; what is there already is brought in line.

    Raises:
        psycopg.Error: the server refused a step.
    """
    with psycopg.connect(superuser_url, autocommit=True, connect_timeout=10) as connection:
        for role, password in wanted.passwords.items():
            _ensure_role(connection, role, password)
        _ensure_database(connection, wanted)
    in_database = psycopg.conninfo.make_conninfo(superuser_url, dbname=wanted.database)
    with psycopg.connect(in_database, autocommit=True, connect_timeout=10) as connection:
        for extension in wanted.extensions:
            connection.execute(
                sql.SQL("CREATE EXTENSION IF NOT EXISTS {} WITH SCHEMA public").format(sql.Identifier(extension))
            )
        owner = sql.Identifier(wanted.owner)
        connection.execute(sql.SQL("GRANT ALL ON SCHEMA public TO {}").format(owner))
        for role in wanted.passwords:
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(sql.Identifier(role)))


def _ensure_role(connection: psycopg.Connection, role: str, password: str) -> None:
    exists = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
    statement = "ALTER ROLE {} WITH" if exists else "CREATE ROLE {} WITH"
    connection.execute(
        sql.SQL(statement + " LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD {}").format(
            sql.Identifier(role), sql.Literal(password)
        )
    )


def _ensure_database(connection: psycopg.Connection, wanted: Provision) -> None:
    database = sql.Identifier(wanted.database)
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (wanted.database,)).fetchone() is None:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(
                database, sql.Identifier(wanted.owner)
            )
        )
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
    for role in wanted.passwords:
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, sql.Identifier(role)))
