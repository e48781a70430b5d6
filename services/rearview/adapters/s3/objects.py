"""Objects of one bucket through the MinIO SDK, on threads of its own."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Any, Self, TypeVar

import urllib3
from minio import Minio
from minio.error import MinioException, S3Error
from urllib3.exceptions import HTTPError

from rearview.domain.errors import NotFound, Unavailable
from rearview.ports.cold_store import ObjectVersion
from rearview.telemetry.tracing import child_span, name_of

T = TypeVar("T")

_DEPENDENCY = "object_storage"
_GONE = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchUpload"})
_SMALLEST_PART = 5 * 1024 * 1024


class S3Objects:
    """The `ColdObjects` port."""

    def __init__(
        self,
        endpoint: str,
        access_key: str,
        secret_key: str,
        bucket: str,
        *,
        secure: bool,
        region: str = "us-east-1",
        timeout_seconds: float = 30.0,
        threads: int = 8,
        page_size: int = 1000,
    ) -> None:
        """Take the account; naming the region spares a question to the server. Lists come in pages of `page_size`."""
        self._page_size = page_size
        self._http = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=min(5.0, timeout_seconds), read=timeout_seconds),
            retries=False,
            maxsize=threads,
        )
        self._client = Minio(
            endpoint=endpoint,
            access_key=access_key,
            secret_key=secret_key,
            secure=secure,
            region=region,
            http_client=self._http,
        )
        self._bucket = bucket
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="s3")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._http.clear()

    async def put(self, key: str, data: bytes) -> None:
        """Store an object in one request, whatever its size; see `ColdObjects.put`."""

        def run() -> None:
            self._client.put_object(
                bucket_name=self._bucket,
                object_name=key,
                data=io.BytesIO(data),
                length=len(data),
                part_size=max(_SMALLEST_PART, len(data)),
            )

        await self._run(key, run)

    async def get(self, key: str) -> bytes:
        """Return a whole object; see `ColdObjects.get`."""
        return await self._run(key, lambda: self._read(key, 0, 0))

    async def get_range(self, key: str, offset: int, size: int) -> bytes:
        """Return part of an object; see `ColdObjects.get_range`."""
        data = await self._run(key, lambda: self._read(key, offset, size))
        if len(data) != size:
            raise Unavailable("the object store returned another part than was asked for", dependency=_DEPENDENCY)
        return data

    async def versions(self, prefix: str) -> AsyncIterator[Sequence[ObjectVersion]]:
        """Yield versions under a prefix; see `ColdObjects.versions`."""
        listed = self._versions(prefix)
        while page := await self._run(prefix, lambda: list(islice(listed, self._page_size))):
            yield page

    async def delete_versions(self, versions: Collection[ObjectVersion]) -> None:
        """Delete versions; see `ColdObjects.delete_versions`."""

        def run() -> None:
            for version in versions:
                with suppress_gone():
                    self._client.remove_object(
                        bucket_name=self._bucket, object_name=version.key, version_id=version.version_id or None
                    )

        await self._run("", run)

    async def erase(self, key: str) -> None:
        """Delete all versions of an object; see `ColdObjects.erase`."""

        def run() -> bool:
            for _ in range(2):
                # A key may be the beginning of another one.
                found = [version for version in self._versions(key) if version.key == key]
                for version in found:
                    with suppress_gone():
                        self._client.remove_object(
                            bucket_name=self._bucket, object_name=key, version_id=version.version_id or None
                        )
            # A list may be behind; what can be read is there.
            left = any(version.key == key for version in self._versions(key))
            return not left and not self._is_there(key)

        if not await self._run(key, run):
            raise Unavailable("an object is still there after it was deleted", dependency=_DEPENDENCY)

    async def abort_uploads(self, prefix: str, *, before: datetime) -> int:
        """Abort unfinished uploads; see `ColdObjects.abort_uploads`."""

        def run() -> int:
            aborted: set[str] = set()
            while True:
                # Always the first page, from which the aborted ones are gone: servers differ in what markers of
                # uploads mean. Those behind a whole page of younger ones wait until these are finished.
                page = self._client._list_multipart_uploads(self._bucket, prefix=prefix, max_uploads=self._page_size)
                left = {
                    str(upload.upload_id): upload.object_name
                    for upload in page.uploads
                    if upload.initiated_time and upload.initiated_time < before
                }
                for upload_id in left.keys() - aborted:
                    with suppress_gone():
                        self._client._abort_multipart_upload(self._bucket, left[upload_id], upload_id)
                if left.keys() <= aborted:
                    return len(aborted)
                aborted |= left.keys()

        return await self._run(prefix, run)

    def _is_there(self, key: str) -> bool:
        with suppress_gone():
            self._client.stat_object(bucket_name=self._bucket, object_name=key)
            return True
        return False

    def _read(self, key: str, offset: int, size: int) -> bytes:
        response = self._client.get_object(bucket_name=self._bucket, object_name=key, offset=offset, length=size)
        try:
            data: bytes = response.read()
        finally:
            response.close()
            response.release_conn()
        return data

    def _versions(self, prefix: str) -> Iterator[ObjectVersion]:
        listed = self._client.list_objects(
            bucket_name=self._bucket, prefix=prefix, recursive=True, include_version=True
        )
        for each in listed:
            if each.object_name is not None and each.last_modified is not None:
                version = "" if each.version_id in (None, "null") else each.version_id
                current = each.is_latest != "false"
                yield ObjectVersion(
                    each.object_name, version or "", each.last_modified, current, bool(each.is_delete_marker)
                )

    async def _run(self, key: str, work: Callable[[], T]) -> T:
        try:
            with child_span(f"s3 {name_of(work)}"):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except S3Error as error:
            if error.code in _GONE:
                raise NotFound("there is no such object", resource_name=key) from error
            raise _unavailable() from error
        except (MinioException, HTTPError, OSError, ValueError) as error:
            raise _unavailable() from error


class suppress_gone:  # noqa: N801 -- reads as a statement
    """A context that passes over what is already gone."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        return isinstance(error, S3Error) and error.code in _GONE


def _unavailable() -> Unavailable:
    return Unavailable("object storage does not do its part", retry_after_seconds=1.0, dependency=_DEPENDENCY)
