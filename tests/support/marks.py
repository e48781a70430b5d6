"""Something written into each server of a stack, to be found again after a restart."""

from __future__ import annotations

import io

import psycopg
import redis
from minio import Minio

from rearview.embedded.endpoints import Endpoints

TEXT = "张伟 prefers 龙井 tea"


def leave_marks(endpoints: Endpoints) -> None:
    """Write into PostgreSQL, Valkey and S3."""
    with psycopg.connect(endpoints.postgres_owner_url) as connection:
        connection.execute("CREATE TABLE mark (text text, place halfvec(3))")
        connection.execute("INSERT INTO mark VALUES (%s, '[1,2,3]')", (TEXT,))
    valkey = redis.Redis.from_url(endpoints.redis_url)
    valkey.set("mark", TEXT)
    valkey.close()
    _s3(endpoints).put_object(
        bucket_name=endpoints.s3_bucket, object_name="mark", data=io.BytesIO(TEXT.encode()), length=len(TEXT.encode())
    )


def read_marks(endpoints: Endpoints) -> list[str]:
    """Return what is found in PostgreSQL, Valkey and S3."""
    with psycopg.connect(endpoints.postgres_owner_url) as connection:
        row = connection.execute("SELECT text FROM mark").fetchone()
    valkey = redis.Redis.from_url(endpoints.redis_url)
    kept = valkey.get("mark")
    valkey.close()
    response = _s3(endpoints).get_object(bucket_name=endpoints.s3_bucket, object_name="mark")
    stored = response.read()
    response.close()
    response.release_conn()
    assert row is not None
    assert isinstance(kept, bytes)
    return [row[0], kept.decode(), stored.decode()]


def _s3(endpoints: Endpoints) -> Minio:
    return Minio(
        endpoint=endpoints.s3_endpoint,
        access_key=endpoints.s3_access_key,
        secret_key=endpoints.s3_secret_key,
        secure=False,
    )
