"""The database itself keeps tenants apart, whatever the application asks for."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from tests.support.stack import DatabaseUrls

OF_TENANTS = (
    "tenant",
    "api_key",
    "namespace",
    "namespace_grant",
    "namespace_subscription",
    "namespace_epoch",
    "request",
    "audit_record",
    "session",
    "event",
    "memory",
    "memory_event",
    "memory_stats",
    "recall_trace",
    "forget_receipt",
    "tombstone",
    "keyword_frequency",
    "namespace_statistics",
    "speaker",
    "open_window",
)


@dataclass(frozen=True, slots=True)
class TwoTenants:
    first: UUID
    second: UUID


@pytest.fixture
def tenants(database: DatabaseUrls) -> TwoTenants:
    """Two tenants with a key, a namespace, an event and a memory each."""
    both = TwoTenants(uuid4(), uuid4())
    with psycopg.connect(database.superuser) as connection:
        for number, tenant in enumerate((both.first, both.second)):
            values = {"tenant": tenant, "name": f"tenant-{number}", "key": f"key{number}" * 3, "id": uuid4()}
            for statement in (
                "INSERT INTO tenant (tenant_id, name, created_at) VALUES (%(tenant)s, %(name)s, now())",
                "INSERT INTO api_key (tenant_id, key_id, secret_hash, principal, role, created_at)"
                " VALUES (%(tenant)s, %(key)s, '\\x00', 'admin', 'admin', now())",
                "INSERT INTO namespace (tenant_id, namespace_id, name, owner, created_at, updated_at)"
                " VALUES (%(tenant)s, %(id)s, 'default', 'admin', now(), now())",
                "INSERT INTO event (tenant_id, namespace_id, event_id, session_id, sequence, role, content,"
                " occurred_at, created_at) VALUES (%(tenant)s, %(id)s, %(id)s, 's', 1, 1, '秘密 secret', now(), now())",
                "INSERT INTO memory (tenant_id, namespace_id, memory_id, type, content, content_hash, origin, trust,"
                " occurred_at, created_at, updated_at, generation)"
                " VALUES (%(tenant)s, %(id)s, %(id)s, 1, '秘密 secret', '\\x00', 1, 3, now(), now(), now(), 1)",
            ):
                connection.execute(statement, values)
    return both


def connected(url: str, tenant: UUID | None) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, true)", (str(tenant or ""),))
        yield connection


def tenants_seen(url: str, tenant: UUID | None, table: str) -> set[UUID]:
    """Return whose rows of a table a role sees while it works for a tenant."""
    for connection in connected(url, tenant):
        query = sql.SQL("SELECT tenant_id FROM {}").format(sql.Identifier(table))
        return {row[0] for row in connection.execute(query).fetchall()}
    raise AssertionError("no connection")


@pytest.mark.parametrize("table", ["tenant", "api_key", "namespace", "event", "memory"])
def test_a_service_sees_the_rows_of_its_tenant_only(database: DatabaseUrls, tenants: TwoTenants, table: str) -> None:
    assert tenants_seen(database.service, tenants.first, table) == {tenants.first}
    assert tenants_seen(database.service, tenants.second, table) == {tenants.second}


@pytest.mark.parametrize("table", OF_TENANTS)
def test_a_service_without_a_tenant_sees_nothing(database: DatabaseUrls, tenants: TwoTenants, table: str) -> None:
    assert tenants_seen(database.service, None, table) == set()
    assert tenants_seen(database.service, uuid4(), table) == set()


def test_a_service_cannot_write_for_another_tenant(database: DatabaseUrls, tenants: TwoTenants) -> None:
    with psycopg.connect(database.service) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, true)", (str(tenants.first),))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO namespace (tenant_id, namespace_id, name, owner, created_at, updated_at)"
                " VALUES (%s, %s, 'mine-now', 'x', now(), now())",
                (tenants.second, uuid4()),
            )
    with psycopg.connect(database.service) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, true)", (str(tenants.first),))
        changed = connection.execute("UPDATE memory SET content = 'x' WHERE tenant_id = %s", (tenants.second,))
        assert changed.rowcount == 0


def test_audit_records_cannot_be_changed_or_removed(database: DatabaseUrls) -> None:
    for statement in ("UPDATE audit_record SET action = 'x'", "DELETE FROM audit_record"):
        for url in (database.service, database.operator):
            with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize("table", [table for table in OF_TENANTS if table != "tenant"])
def test_the_operator_reads_nothing_that_tenants_hold(database: DatabaseUrls, tenants: TwoTenants, table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        tenants_seen(database.operator, tenants.first, table)


def test_the_operator_cannot_look_keys_up(database: DatabaseUrls, tenants: TwoTenants) -> None:
    with psycopg.connect(database.operator) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM rearview_find_key('key0key0key0')")


def test_every_table_with_a_tenant_is_under_row_level_security(database: DatabaseUrls) -> None:
    with psycopg.connect(database.superuser) as connection:
        rows = connection.execute(
            "SELECT c.relname, c.relrowsecurity FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace"
        ).fetchall()
    assert {name for name, _ in rows} >= set(OF_TENANTS)
    assert [name for name, secured in rows if not secured] == []
