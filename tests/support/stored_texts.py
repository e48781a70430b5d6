"""Every text that a whole stack keeps, with where it stands: rows, keys of Redis, logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg import sql

from rearview.embedded.endpoints import Endpoints


def columns(endpoints: Endpoints) -> Iterator[tuple[str, str]]:
    """Yield every row of every table as text, with where it stands."""
    with psycopg.connect(superuser_in_database(endpoints)) as connection:
        tables = connection.execute(
            """SELECT schemaname, tablename FROM pg_tables
               WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"""
        ).fetchall()
        assert ("public", "event") in tables
        for schema, table in tables:
            rows = connection.execute(
                sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(schema, table))
            ).fetchall()
            for (row,) in rows:
                yield f"{schema}.{table}", row


def superuser_in_database(endpoints: Endpoints) -> str:
    database = endpoints.postgres_owner_url.rpartition("/")[2]
    return f"{endpoints.postgres_superuser_url.rpartition('/')[0]}/{database}"


def keys(endpoints: Endpoints) -> Iterator[tuple[str, str]]:
    """Yield every key of Redis with its value, as text."""
    client: Any = redis.Redis.from_url(endpoints.redis_url, decode_responses=True, encoding_errors="replace")
    read = {
        "string": client.get,
        "hash": client.hgetall,
        "list": lambda key: client.lrange(key, 0, -1),
        "set": client.smembers,
        "zset": lambda key: client.zrange(key, 0, -1),
        "stream": client.xrange,
        "none": lambda key: "",  # expired since it was listed
    }
    try:
        found = list(client.scan_iter(count=1000))
        assert found
        for key in found:
            yield "redis", f"{key} {read[client.type(key)](key)}"
    finally:
        client.close()


def logs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every log file."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {file.name.split(".")[0] for file in files} >= {"gateway", "writer", "retriever", "postgres", "valkey"}
    for file in files:
        yield f"log {file.name}", file.read_text(encoding="utf-8", errors="replace")
