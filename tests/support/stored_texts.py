"""Every text that a whole stack keeps, with where it stands: rows, keys of Redis, objects, logs.

PostgreSQL's write-ahead log and dead rows, Valkey's append-only file and the volume files of the S3 server are not
looked into: they hold what was written until they are recycled, vacuumed and rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
import redis
from psycopg import sql

from rearview.adapters.cold.segment_format import decode_segment
from rearview.embedded.endpoints import Endpoints
from tests.support.stack import BucketAddress

_BYTES = re.compile(r"\\x((?:[0-9a-f]{2})+)")
"""How bytes stand in the text of a row."""


def places_of(endpoints: Endpoints, log_folder: Path, words: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Return for each word where it stands in whatever case, with the texts that hold it."""
    folded = {word: word.casefold() for word in words}
    found: dict[str, dict[str, list[str]]] = {word: {} for word in folded}
    for place, text in chain(columns(endpoints), keys(endpoints), objects(endpoints), logs(log_folder)):
        lower = text.casefold()
        for word, wanted in folded.items():
            if wanted in lower:
                found[word].setdefault(place, []).append(text)
    return found


def columns(endpoints: Endpoints) -> Iterator[tuple[str, str]]:
    """Yield every row of every table as text, with where it stands: those of the job queue and the database's own,
    what it knows of columns from its samples included. What a row holds as bytes follows once more, decoded."""
    with psycopg.connect(superuser_in_database(endpoints)) as connection:
        tables = connection.execute(
            """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^pg_(toast|temp)' ORDER BY 1, 2"""
        ).fetchall()
        assert {("public", "event"), ("public", "procrastinate_jobs"), ("pg_catalog", "pg_statistic")} <= set(tables)
        for schema, table in tables:
            rows = connection.execute(
                sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(schema, table))
            ).fetchall()
            for (row,) in rows:
                held = [bytes.fromhex(each).decode(errors="replace") for each in _BYTES.findall(row)]
                yield f"{schema}.{table}", " ".join([row, *held])


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
        assert set(client.info("keyspace")) == {"db0"}
        for key in list(client.scan_iter(count=1000)):
            yield "redis", f"{key} {read[client.type(key)](key)}"
    finally:
        client.close()


def objects(endpoints: Endpoints) -> Iterator[tuple[str, str]]:
    """Yield every version of every object as it lies there, and what segments keep of memories, unpacked."""
    for name, data in object_versions(endpoints).items():
        texts = [data.decode(errors="replace")]
        if ".segment@" in name:
            texts += [f"{each.content} {each.metadata} {each.entities}" for each in decode_segment(data)]
        yield f"object {name}", " ".join(texts)


def object_versions(endpoints: Endpoints) -> dict[str, bytes]:
    """Return every version of every object, by its key and version."""
    address = bucket_of(endpoints)
    s3 = address.client()
    listed = s3.list_objects(bucket_name=address.bucket, recursive=True, include_version=True)
    return {
        f"{each.object_name}@{each.version_id}": s3.get_object(
            bucket_name=address.bucket, object_name=str(each.object_name), version_id=each.version_id
        ).read()
        for each in listed
        if not each.is_delete_marker
    }


def bucket_of(endpoints: Endpoints) -> BucketAddress:
    """Return the bucket of a stack's cold tier."""
    return BucketAddress(endpoints.s3_endpoint, endpoints.s3_access_key, endpoints.s3_secret_key, endpoints.s3_bucket)


def logs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every log file."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {file.name.split(".")[0] for file in files} >= {"gateway", "writer", "retriever", "postgres", "valkey"}
    for file in files:
        yield f"log {file.name}", file.read_text(encoding="utf-8", errors="replace")
