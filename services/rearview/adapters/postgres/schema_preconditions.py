"""What has to be so before a schema is touched, checked first and explained to whoever can change it."""

import psycopg
from psycopg.rows import TupleRow

_OLDEST_SERVER = 160_000
_OLDEST_VECTOR = (0, 8)
_SERVICE_ROLES = ("rearview_service", "rearview_operator")


class MigrationFailed(Exception):
    """The schema could not be brought up to date; the message says why and what helps. It holds no password."""


def check_server(connection: psycopg.Connection[TupleRow]) -> None:
    """Raises: MigrationFailed: the server is too old."""
    if connection.info.server_version < _OLDEST_SERVER:
        raise MigrationFailed(
            f"PostgreSQL {_OLDEST_SERVER // 10_000} or newer is needed; the server is "
            f"{connection.info.server_version // 10_000}"
        )


def check_owner(connection: psycopg.Connection[TupleRow], ledger_table: str) -> None:
    """Raises: MigrationFailed: the role is not the one that may change this schema."""
    role, owns_schema, table_owner = _row(
        connection,
        """
        SELECT current_user,
               coalesce((SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'public'), false),
               (SELECT r.rolname FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                WHERE c.oid = to_regclass(%s) AND NOT pg_has_role(c.relowner, 'USAGE'))
        """,
        [f"public.{ledger_table}"],
    )
    if role in _SERVICE_ROLES:
        raise MigrationFailed(
            f"{role} must not own the tables: row-level security would not bind it. Migrate under a role of its own"
        )
    if table_owner is not None:
        raise MigrationFailed(f"the tables belong to the role {table_owner}; migrate under that role, not as {role}")
    if not owns_schema:
        raise MigrationFailed(
            f"the role {role} does not own the schema public; let the owner of the database run: "
            f"ALTER DATABASE {connection.info.dbname} OWNER TO {role}"
        )


def check_roles(connection: psycopg.Connection[TupleRow]) -> None:
    """Raises: MigrationFailed: the services' roles cannot be made, or could get around row-level security."""
    may_create = _row(connection, "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user")[0]
    for role in _SERVICE_ROLES:
        found = connection.execute(
            """
            SELECT rolsuper OR rolbypassrls, NOT rolsuper AND pg_has_role(oid, current_user, 'MEMBER')
            FROM pg_roles WHERE rolname = %s
            """,
            [role],
        ).fetchone()
        if found is None:
            if not may_create:
                raise MigrationFailed(
                    f"the role {role} does not exist and {connection.info.user} may not make it; grant it CREATEROLE, "
                    f"or let an administrator run: CREATE ROLE {role} NOLOGIN"
                )
            continue
        bypasses, is_owner = found
        if bypasses:
            raise MigrationFailed(
                f"the role {role} gets around row-level security; run: ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS"
            )
        if is_owner:
            raise MigrationFailed(
                f"the role {role} is a member of {connection.info.user}, which owns the tables; "
                f"run: REVOKE {connection.info.user} FROM {role}"
            )


def ensure_extensions(connection: psycopg.Connection[TupleRow]) -> None:
    """Make the extensions where the role may, and have this session load the one that has settings.

    Raises:
        MigrationFailed: the server lacks one, an administrator has to make it, or it is too old.
    """
    for name in ("vector", "btree_gin"):
        found = connection.execute(
            "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = %s", [name]
        ).fetchone()
        if found is None:
            package = "pgvector 0.8 or newer" if name == "vector" else "PostgreSQL's contrib modules"
            raise MigrationFailed(f"the server does not have the extension {name}; install {package} on it")
        if found[1] is None:
            try:
                # Makes of different databases do not disturb each other; those of one are behind one lock.
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
            except psycopg.errors.InsufficientPrivilege:
                raise MigrationFailed(
                    f"the role {connection.info.user} may not make the extension {name}; let an administrator run in "
                    f"the database {connection.info.dbname}: CREATE EXTENSION {name}"
                ) from None
    version = _row(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0]
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTOR:
        raise MigrationFailed(
            f"the extension vector is of version {version}, 0.8 or newer is needed; run: ALTER EXTENSION vector UPDATE"
        )
    # Before its library is loaded only a superuser may give a function one of its settings.
    connection.execute("SELECT '[1]'::vector")


def has_job_queue(connection: psycopg.Connection[TupleRow], *, installed_here: bool) -> bool:
    """True if the job queue's tables are there.

    Raises:
        MigrationFailed: they are there, and somebody else made them.
    """
    there = _row(connection, "SELECT to_regclass('public.procrastinate_jobs') IS NOT NULL")[0]
    if there and not installed_here:
        raise MigrationFailed(
            "the schema public holds tables of procrastinate that this program did not make; use a database of its own"
        )
    return bool(there)


def _row(connection: psycopg.Connection[TupleRow], query: str, parameters: list[str] | None = None) -> TupleRow:
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row is not None  # noqa: S101 -- these queries always give a row
    return row
