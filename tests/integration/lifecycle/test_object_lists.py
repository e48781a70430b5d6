"""More objects in a namespace's place than one page of a list holds: each is seen, swept and erased."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.adapters.cold.erased_segments import OLD_VERSIONS, SEGMENTS, SegmentErasureCheck
from rearview.adapters.cold.segment_format import encode_segment
from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.s3.objects import S3Objects
from rearview.domain.ids import new_id
from rearview.lifecycle.sweep import ORPHANS
from tests.support.cold_segments import DIMENSION, cold_memories
from tests.support.stack import BucketAddress
from tests.support.tier_bench import TierBench, nobody, sweeper_over

PAGE = 2
NAMES = [f"{number}.segment" for number in range(5)]
TENANT, NAMESPACE = UUID(int=1), UUID(int=2)
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@pytest.fixture
async def objects(bucket: BucketAddress) -> AsyncIterator[S3Objects]:
    """A bucket with versions, which is listed two versions at a time."""
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    address = (bucket.endpoint, bucket.access_key, bucket.secret_key, bucket.bucket)
    async with S3Objects(*address, secure=False, page_size=PAGE) as objects:
        yield objects


async def test_a_list_comes_in_pages_and_whole(objects: S3Objects) -> None:
    for name in NAMES:
        for content in (b"first", b"second"):
            await objects.put(f"place/{name}", content)
        await objects.put(f"elsewhere/{name}", b"")
    pages = [page async for page in objects.versions("place/")]
    assert {len(page) for page in pages} == {PAGE}
    versions = [version for page in pages for version in page]
    assert [version.key for version in versions] == [f"place/{name}" for name in NAMES for _ in range(2)]
    assert len({version.version_id for version in versions}) == 2 * len(NAMES)
    assert sum(version.is_current for version in versions) == len(NAMES)
    assert [page async for page in objects.versions("nowhere/")] == []


async def test_all_pages_of_a_namespace_are_erased(objects: S3Objects) -> None:
    segments = ObjectSegmentStore(objects)
    for name in NAMES:
        for _ in range(2):
            await objects.put(f"{TENANT}/{NAMESPACE}/{name}", b"")
        await objects.put(f"{TENANT}/{UUID(int=3)}/{name}", b"")
    assert await segments.erase_all(TENANT, NAMESPACE) == 2 * len(NAMES)
    left = [version.key async for page in objects.versions("") for version in page]
    assert left == [f"{TENANT}/{UUID(int=3)}/{name}" for name in NAMES]


async def test_all_pages_of_unfinished_uploads_are_aborted(bucket: BucketAddress, objects: S3Objects) -> None:
    client = bucket.client()
    for name in [*NAMES, *NAMES[:1] * PAGE]:
        client._create_multipart_upload(bucket.bucket, f"place/{name}", {})
    client._create_multipart_upload(bucket.bucket, "elsewhere/0.segment", {})
    assert await objects.abort_uploads("place/", before=datetime.now(UTC) - timedelta(hours=1)) == 0
    assert await objects.abort_uploads("place/", before=END_OF_TIME) == len(NAMES) + PAGE
    assert len(client._list_multipart_uploads(bucket.bucket).uploads) == 1


async def test_all_pages_of_orphans_are_swept_and_nothing_of_the_catalog(tiers: TierBench, objects: S3Objects) -> None:
    ids = await tiers.write()
    await tiers.make_cold()
    scope, catalog = tiers.writing.scope, await tiers.catalog()
    for name in NAMES:
        await objects.put(f"{scope.tenant_id}/{scope.namespace_id}/{name}", b"")
    tiers.writing.clock.moment = datetime.now(UTC) + timedelta(minutes=1)
    swept = await sweeper_over(tiers, objects).sweep(scope.tenant_id, scope.namespace_id, nobody)
    assert swept.counts[ORPHANS] == len(NAMES)
    assert {key for key, _ in tiers.versions()} == catalog
    assert await tiers.contents(ids)


async def test_what_was_erased_is_looked_for_on_all_pages(tiers: TierBench, objects: S3Objects) -> None:
    scope, erased = tiers.writing.scope, new_id()
    check = SegmentErasureCheck(tiers.tiers.store, ObjectSegmentStore(objects), objects)

    async def put(name: str, memory_id: UUID) -> None:
        memories = [replace(memory, memory_id=memory_id) for memory in cold_memories(1)]
        data = encode_segment(memories, DIMENSION).data
        await objects.put(f"{scope.tenant_id}/{scope.namespace_id}/{name}", data)

    for name in NAMES:
        await put(name, new_id())
    assert not any((await check.left(scope.tenant_id, scope.namespace_id, [erased])).values())
    await put("z1.segment", erased)
    assert (await check.left(scope.tenant_id, scope.namespace_id, [erased]))[SEGMENTS] == 1
    await put("z2.segment", erased)
    await put("z2.segment", new_id())
    left = await check.left(scope.tenant_id, scope.namespace_id, [erased])
    assert (left[SEGMENTS], left[OLD_VERSIONS]) == (1, 1)
