"""Questions to an S3 server that its operator asks, and the one bucket that must be there first."""

from __future__ import annotations

import io
import uuid

import urllib3
from minio import Minio
from minio.error import MinioException
from urllib3.exceptions import HTTPError

PROBE_PREFIX = "probe/"


class S3Unreachable(Exception):
    """The server refused, or did not answer in time; the message holds its reason without credentials."""


class S3Probe:
    """One S3 account seen with short time-outs and no retries."""

    def __init__(
        self, endpoint: str, access_key: str, secret_key: str, *, secure: bool, timeout_seconds: float = 3.0
    ) -> None:
        self._http = urllib3.PoolManager(timeout=urllib3.Timeout(total=timeout_seconds), retries=False, maxsize=1)
        self._client = Minio(
            endpoint=endpoint, access_key=access_key, secret_key=secret_key, secure=secure, http_client=self._http
        )

    def ping(self) -> None:
        """List buckets, which needs a signature that the server accepts.

        Raises:
            S3Unreachable: no connection, a wrong key, or no answer within the time.
        """
        try:
            self._client.list_buckets()
        except (MinioException, HTTPError) as error:
            raise S3Unreachable(_reason(error)) from error

    def ensure_bucket(self, bucket: str) -> None:
        """Create the bucket unless it is there.

        Raises:
            S3Unreachable: the server refused or did not answer.
        """
        try:
            if not self._client.bucket_exists(bucket_name=bucket):
                self._client.make_bucket(bucket_name=bucket)
        except (MinioException, HTTPError) as error:
            raise S3Unreachable(_reason(error)) from error

    def round_trip(self, bucket: str) -> None:
        """Put an object, get it back, compare, delete it.

        Raises:
            S3Unreachable: a step failed, or what came back differs from what was put.
        """
        key = f"{PROBE_PREFIX}{uuid.uuid4()}"
        content = key.encode()
        try:
            self._client.put_object(bucket_name=bucket, object_name=key, data=io.BytesIO(content), length=len(content))
            response = self._client.get_object(bucket_name=bucket, object_name=key)
            try:
                returned = response.read()
            finally:
                response.close()
                response.release_conn()
            self._client.remove_object(bucket_name=bucket, object_name=key)
        except (MinioException, HTTPError) as error:
            raise S3Unreachable(_reason(error)) from error
        if returned != content:
            raise S3Unreachable(f"the object that came back from bucket {bucket} differs from the one that was put")

    def close(self) -> None:
        self._http.clear()


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
