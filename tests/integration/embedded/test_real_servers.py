"""The fixtures that other integration tests stand on."""

from __future__ import annotations

import io

import psycopg
import pytest
import redis

from rearview.adapters.postgres.probe import PostgresUnreachable, inspect
from rearview.adapters.postgres.probe import ping as ping_postgres
from rearview.adapters.redis.probe import RedisUnreachable
from rearview.adapters.redis.probe import ping as ping_redis
from rearview.adapters.s3.probe import S3Probe, S3Unreachable
from rearview.embedded.endpoints import Endpoints
from tests.support.stack import BucketAddress, DatabaseUrls


def test_a_database_has_the_schema_and_is_seen_by_each_role(database: DatabaseUrls) -> None:
    assert inspect(database.service).vector_version is not None
    for url in (database.owner, database.service, database.operator):
        ping_postgres(url)
    with psycopg.connect(database.owner) as connection:
        tables = {row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert {"tenant", "memory"} <= tables


def test_the_services_role_owns_nothing_and_cannot_bypass_row_security(database: DatabaseUrls) -> None:
    with psycopg.connect(database.service) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        assert row == (False, False, False, False)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine (a int)")


@pytest.mark.parametrize("attempt", [1, 2])
def test_each_test_gets_a_database_of_its_own(empty_database: DatabaseUrls, attempt: int) -> None:
    with psycopg.connect(empty_database.owner) as connection:
        connection.execute("CREATE TABLE only_once (text text)")
        connection.execute("INSERT INTO only_once VALUES ('张伟 likes tea')")


@pytest.mark.parametrize("attempt", [1, 2])
def test_valkey_is_empty_at_first(redis_url: str, attempt: int) -> None:
    client = redis.Redis.from_url(redis_url)
    assert client.dbsize() == 0
    client.set("名字", "value")
    client.close()


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_bucket_is_empty_at_first_and_keeps_objects(bucket: BucketAddress, attempt: int) -> None:
    client = bucket.client()
    assert list(client.list_objects(bucket_name=bucket.bucket)) == []
    client.put_object(bucket_name=bucket.bucket, object_name="段/1", data=io.BytesIO(b"abc"), length=3)
    response = client.get_object(bucket_name=bucket.bucket, object_name="段/1")
    assert response.read() == b"abc"
    response.close()
    response.release_conn()


def test_wrong_credentials_are_refused_by_each_server(real_servers: Endpoints) -> None:
    service = real_servers.postgres_service_url
    with pytest.raises(PostgresUnreachable, match="password authentication failed"):
        ping_postgres(service.replace(service.split(":")[2].split("@")[0], "wrong"))
    with pytest.raises(RedisUnreachable):
        ping_redis(f"redis://:wrong@{real_servers.redis_url.rpartition('@')[2]}")
    probe = S3Probe(real_servers.s3_endpoint, real_servers.s3_access_key, "wrong-secret", secure=False)
    with pytest.raises(S3Unreachable):
        probe.ping()
    probe.close()


def test_an_unreachable_server_is_named_without_its_credentials() -> None:
    with pytest.raises(PostgresUnreachable) as postgres:
        ping_postgres("postgresql://someone:hush@127.0.0.1:1/rearview")
    with pytest.raises(RedisUnreachable) as valkey:
        ping_redis("redis://:hush@127.0.0.1:1/0")
    for failure in (postgres, valkey):
        assert "hush" not in str(failure.value)
