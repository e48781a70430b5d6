"""Rules that every table keeps, also one that a later migration adds: keyed by tenant, guarded, owned by nobody who
serves requests."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import TupleRow

from tests.support.stack import DatabaseUrls

EXEMPT = {
    # The platform's own, without tenants:
    "model_generation",
    # Ids only; workers serve every tenant:
    "procrastinate_jobs",
    "procrastinate_events",
    "procrastinate_workers",
    "procrastinate_periodic_defers",
    # The ledger of migrations:
    "_yoyo_log",
    "_yoyo_migration",
    "_yoyo_version",
}


@pytest.fixture
def owner(database: DatabaseUrls) -> Iterator[psycopg.Connection[TupleRow]]:
    with psycopg.connect(database.owner) as connection:
        connection.execute("SELECT rearview_register_generation('g1', 'model', 3, '{}')")
        yield connection


def names(connection: psycopg.Connection[TupleRow], query: str) -> set[str]:
    return {row[0] for row in connection.execute(query.encode())}


def guarded_tables(connection: psycopg.Connection[TupleRow]) -> set[str]:
    found = names(connection, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert found >= EXEMPT, "a table that is exempt is gone: shorten the list"
    assert {"memory", "search_unit_1", "search_unit_fresh_1"} <= found
    return found - EXEMPT


def test_the_tenant_comes_first_in_every_primary_key(owner: psycopg.Connection[TupleRow]) -> None:
    keyed = names(
        owner,
        """
        SELECT c.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'p' AND a.attname = 'tenant_id' AND c.relnamespace = 'public'::regnamespace
        """,
    )
    assert guarded_tables(owner) - keyed == set()


def test_row_level_security_guards_every_table(owner: psycopg.Connection[TupleRow]) -> None:
    guarded = names(
        owner,
        """
        SELECT tablename FROM pg_tables t WHERE schemaname = 'public' AND rowsecurity AND EXISTS (
          SELECT FROM pg_policies p WHERE p.schemaname = t.schemaname AND p.tablename = t.tablename
          AND 'rearview_service' = ANY (p.roles) AND p.qual LIKE '%tenant_id%rearview_tenant()%')
        """,
    )
    assert guarded_tables(owner) - guarded == set()


def test_nobody_who_serves_requests_gets_around_it(owner: psycopg.Connection[TupleRow]) -> None:
    roles = "('rearview_service', 'rearview_operator')"
    assert (
        names(owner, f"SELECT rolname FROM pg_roles WHERE rolname IN {roles} AND (rolsuper OR rolbypassrls)") == set()
    )
    assert names(owner, f"SELECT tablename FROM pg_tables WHERE tableowner IN {roles}") == set()
    assert (
        names(
            owner,
            f"""
            SELECT r.rolname FROM pg_roles r WHERE r.rolname IN {roles} AND (pg_has_role(r.oid, current_user, 'MEMBER')
            OR pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'memory'::regclass), 'MEMBER'))
            """,
        )
        == set()
    )


def test_functions_of_the_owner_fix_their_search_path_and_are_not_for_everybody(
    owner: psycopg.Connection[TupleRow],
) -> None:
    loose = names(
        owner,
        """
        SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
        AND (has_function_privilege('public', p.oid, 'EXECUTE')
             OR NOT EXISTS (SELECT FROM unnest(p.proconfig) s WHERE s LIKE 'search_path=public, pg_temp'))
        """,
    )
    assert loose == set()


@pytest.mark.parametrize("role", ["service", "operator"])
def test_without_a_tenant_no_row_is_seen(database: DatabaseUrls, role: str) -> None:
    with psycopg.connect(database.owner) as connection:
        connection.execute(
            "INSERT INTO session (tenant_id, namespace_id, session_id, started_at, last_event_at)"
            " VALUES (gen_random_uuid(), gen_random_uuid(), 's', now(), now())"
        )
    with psycopg.connect(getattr(database, role)) as connection:
        if role == "operator":
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT count(*) FROM session")
        else:
            row = connection.execute("SELECT count(*) FROM session").fetchone()
            assert row == (0,)
