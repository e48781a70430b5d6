"""Real PostgreSQL, Valkey and S3 for tests: one stack per test session, started when the first test asks.

Fixtures for integration tests:

- `real_servers`: `Endpoints` of the session's stack (superuser, owner, service and operator URLs, and so on).
- `database`: a fresh database with the schema in it, `DatabaseUrls` for each role; dropped after the test.
- `module_database`: the same, one for a module.
- `empty_database`: the same without the schema (extensions only), for tests of migrations.
- `redis_url`: Valkey, emptied before the test.
- `bucket`: a fresh S3 bucket, `BucketAddress`; removed after the test.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis
from minio import Minio
from psycopg import sql
from psycopg.conninfo import make_conninfo

from rearview.adapters.postgres.provision import Provision, provision
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.environment import OPERATOR_ROLE, OWNER_ROLE, SERVICE_ROLE
from rearview.embedded.secrets import SecretsFile
from rearview.migrate.app import migrate
from tests.support.supervised_stack import SupervisedStack

TEMPLATE = "template_migrated"
EMPTY_TEMPLATE = "template_empty"


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """One database seen by each role."""

    name: str
    superuser: str
    owner: str
    service: str
    operator: str


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """One bucket and the credentials for it; `endpoint` is `host:port`, plain HTTP."""

    endpoint: str
    access_key: str
    secret_key: str
    bucket: str

    def client(self) -> Minio:
        return Minio(endpoint=self.endpoint, access_key=self.access_key, secret_key=self.secret_key, secure=False)


@pytest.fixture(scope="session")
def real_stack() -> Iterator[SupervisedStack]:
    """The session's PostgreSQL, Valkey and S3 under their supervisor."""
    place = Path(tempfile.mkdtemp(prefix="rearview-tests-"))
    stack = SupervisedStack(place / "data")
    try:
        stack.start()
        _forgo_durability(stack.endpoints().postgres_superuser_url)
        yield stack
    finally:
        stack.discard()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def real_servers(real_stack: SupervisedStack) -> Endpoints:
    """Addresses and credentials of the session's servers."""
    return real_stack.endpoints()


@pytest.fixture(scope="session")
def empty_template(real_stack: SupervisedStack) -> str:
    """The name of a template database with roles and extensions, without tables."""
    _provision(real_stack, EMPTY_TEMPLATE)
    return EMPTY_TEMPLATE


@pytest.fixture(scope="session")
def migrated_template(real_stack: SupervisedStack) -> str:
    """The name of a template database with the schema, made once per session by the owner role."""
    _provision(real_stack, TEMPLATE)
    owner = _in_database(real_stack.endpoints().postgres_owner_url, TEMPLATE)
    migrate(owner)
    return TEMPLATE


@pytest.fixture
def database(real_servers: Endpoints, migrated_template: str) -> Iterator[DatabaseUrls]:
    """A fresh database with the schema in it."""
    yield from _fresh_database(real_servers, migrated_template)


@pytest.fixture(scope="module")
def module_database(real_servers: Endpoints, migrated_template: str) -> Iterator[DatabaseUrls]:
    """A fresh database with the schema in it, for all tests of a module: those that leave nothing behind."""
    yield from _fresh_database(real_servers, migrated_template)


@pytest.fixture
def empty_database(real_servers: Endpoints, empty_template: str) -> Iterator[DatabaseUrls]:
    """A fresh database with roles and extensions, without tables."""
    yield from _fresh_database(real_servers, empty_template)


@pytest.fixture
def redis_url(real_servers: Endpoints) -> str:
    """Valkey, emptied."""
    client = redis.Redis.from_url(real_servers.redis_url)
    try:
        client.flushall()
    finally:
        client.close()
    return real_servers.redis_url


@pytest.fixture
def bucket(real_servers: Endpoints) -> Iterator[BucketAddress]:
    """A fresh, empty bucket."""
    address = BucketAddress(
        real_servers.s3_endpoint,
        real_servers.s3_access_key,
        real_servers.s3_secret_key,
        f"test-{uuid.uuid4().hex[:16]}",
    )
    client = address.client()
    client.make_bucket(bucket_name=address.bucket)
    try:
        yield address
    finally:
        for found in client.list_objects(bucket_name=address.bucket, recursive=True):
            if found.object_name is not None:
                client.remove_object(bucket_name=address.bucket, object_name=found.object_name)
        client.remove_bucket(bucket_name=address.bucket)


def _fresh_database(servers: Endpoints, template: str) -> Iterator[DatabaseUrls]:
    name = f"test_{uuid.uuid4().hex[:16]}"
    roles = sql.SQL(", ").join(map(sql.Identifier, (OWNER_ROLE, SERVICE_ROLE, OPERATOR_ROLE)))
    with psycopg.connect(servers.postgres_superuser_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
                sql.Identifier(name), sql.Identifier(template), sql.Identifier(OWNER_ROLE)
            )
        )
        # A template's own grants are not copied.
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(name), roles))
    try:
        yield DatabaseUrls(
            name=name,
            superuser=_in_database(servers.postgres_superuser_url, name),
            owner=_in_database(servers.postgres_owner_url, name),
            service=_in_database(servers.postgres_service_url, name),
            operator=_in_database(servers.postgres_operator_url, name),
        )
    finally:
        with psycopg.connect(servers.postgres_superuser_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _provision(stack: SupervisedStack, database: str) -> None:
    secrets = SecretsFile(stack.folder.secrets_file).load()
    assert secrets is not None
    passwords = {
        OWNER_ROLE: secrets.postgres_owner_password,
        SERVICE_ROLE: secrets.postgres_service_password,
        OPERATOR_ROLE: secrets.postgres_operator_password,
    }
    provision(stack.endpoints().postgres_superuser_url, Provision(database, OWNER_ROLE, passwords))


def _in_database(url: str, database: str) -> str:
    """Return the URL with another database in place of its own."""
    return f"{url.rpartition('/')[0]}/{database}"


def _forgo_durability(superuser_url: str) -> None:
    """Test data need not survive a power cut; without fsync, fresh databases come several times faster."""
    with psycopg.connect(make_conninfo(superuser_url), autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")
