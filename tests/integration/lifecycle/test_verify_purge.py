"""Verifying a purge: nothing left anywhere is said on the receipt, anything left is not."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.adapters.cold.erased_segments import SegmentErasureCheck
from rearview.adapters.cold.segment_format import EncodedSegment, encode_segment
from rearview.adapters.cold.segment_store import ObjectSegmentStore
from rearview.adapters.postgres.erasure_check import PostgresErasureCheck
from rearview.adapters.postgres.tiering import PostgresTiering
from rearview.adapters.redis.access_counter import RedisAccessCounter
from rearview.adapters.redis.answer_cache import RedisAnswerCache
from rearview.adapters.redis.connection import RedisConnection
from rearview.adapters.redis.erasure import RedisErasure
from rearview.adapters.s3.objects import S3Objects
from rearview.domain.canonical_query import CanonicalQuery
from rearview.domain.errors import Conflict
from rearview.domain.forget import Forget, ForgetLastTurns, ForgetReceipt, ForgetState
from rearview.domain.ids import new_id
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.answer_cache import AnswerKeys, CachedAnswer
from rearview.ports.clock import SystemClock
from tests.support.cold_segments import DIMENSION, cold_memories
from tests.support.lifecycle_bench import LifecycleBench
from tests.support.stack import BucketAddress

SAID = [
    "We want to see the temples and the bamboo grove in Kyoto in April",
    "在京都我们还想去岚山看竹林，大概四月去",
    "My sister Zanzibarquartz lives in Kyoto and works as a cook",
]


class ReadObjects(S3Objects):
    """The object store, and what was read of which object."""

    read: list[tuple[str, int]]

    async def get(self, key: str) -> bytes:
        data = await super().get(key)
        self.read.append((key, len(data)))
        return data

    async def get_range(self, key: str, offset: int, size: int) -> bytes:
        self.read.append((key, size))
        return await super().get_range(key, offset, size)


@dataclass(frozen=True, slots=True)
class Verifying:
    """A verifier over real stores, and the objects that it looks at."""

    lifecycle: LifecycleBench
    bucket: BucketAddress
    objects: ReadObjects
    check: SegmentErasureCheck

    async def __call__(self, receipt: ForgetReceipt) -> bool:
        database, volatile = self.lifecycle.database, RedisErasure(self.lifecycle.redis)
        verifier = PurgeVerifier(PostgresErasureCheck(database), volatile, self.check, SystemClock())
        return await verifier.verify(self.lifecycle.own.scope.tenant_id, receipt.receipt_id)

    async def put(self, name: str, encoded: EncodedSegment) -> str:
        """Store a segment in the namespace's place by hand; return its key."""
        scope = self.lifecycle.own.scope
        key = f"{scope.tenant_id}/{scope.namespace_id}/{name}.segment"
        await self.objects.put(key, encoded.data)
        return key

    async def enter(self, key: str, encoded: EncodedSegment) -> None:
        """Enter a stored segment into the catalog."""
        scope = self.lifecycle.own.scope
        await self.lifecycle.own.rows(
            "INSERT INTO cold_segment (tenant_id, namespace_id, segment_id, object_key, generation, memories, units,"
            " index_bytes, total_bytes, first_occurred, last_occurred, block_offsets, created_at)"
            " VALUES (%s, %s, %s, %s, 1, %s, %s, %s, %s, now(), now(), %s, now())",
            scope.tenant_id, scope.namespace_id, new_id(), key, encoded.memories, encoded.units, encoded.index_bytes,
            len(encoded.data), list(encoded.block_offsets),
        )  # fmt: skip

    async def is_left(self, receipt: ForgetReceipt, place: str) -> None:
        """See that it is not verified, and why."""
        with pytest.raises(Conflict, match=f"{place}$"):
            await self(receipt)
        assert (await self.lifecycle.receipt(receipt)).state is ForgetState.PURGED


@pytest.fixture
async def verify(lifecycle: LifecycleBench, bucket: BucketAddress) -> AsyncIterator[Verifying]:
    bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
    address = (bucket.endpoint, bucket.access_key, bucket.secret_key, bucket.bucket)
    async with ReadObjects(*address, secure=False) as objects:
        objects.read = []
        store = PostgresTiering(lifecycle.database)
        check = SegmentErasureCheck(store, ObjectSegmentStore(objects), objects)
        yield Verifying(lifecycle, bucket, objects, check)


def segment(*ids: UUID, turns: Sequence[UUID] = ()) -> EncodedSegment:
    """Return a segment of a hundred memories, among them those of the ids, each made of a turn."""
    memories = cold_memories(100)
    for at, one in enumerate(ids):
        memories[7 * at] = replace(memories[7 * at], memory_id=one)
    for at, turn in enumerate(turns):
        unit = memories[7 * at + 1].units[0]
        memories[7 * at + 1] = replace(memories[7 * at + 1], units=(replace(unit, unit_id=turn),))
    return encode_segment(memories, DIMENSION)


async def purged_session(lifecycle: LifecycleBench, verify: Verifying) -> ForgetReceipt:
    await lifecycle.own.append(SAID)
    await lifecycle.own.run_jobs()
    receipt = await lifecycle.forget_session()
    assert not await verify(receipt), "nothing is verified before its purge"
    await lifecycle.purge(receipt)
    return await lifecycle.receipt(receipt)


async def test_a_purge_that_left_nothing_is_verified_once(lifecycle: LifecycleBench, verify: Verifying) -> None:
    receipt = await purged_session(lifecycle, verify)
    assert await verify(receipt)
    assert not await verify(receipt)
    after = await lifecycle.receipt(receipt)
    assert (after.state, after.digest, after.places) == (ForgetState.VERIFIED, receipt.digest, receipt.places)
    assert after.verified_at is not None
    records = await lifecycle.own.rows("SELECT detail FROM audit_record WHERE action = 'memory.verify_purge'")
    assert [receipt.digest in record["detail"] for record in records] == [True]


@pytest.mark.parametrize("place", ["postgres.memory_stats", "postgres.recall_trace", "redis.access_counts",
                                   "redis.working_memory", "redis.answers"])  # fmt: skip
async def test_what_is_left_is_found_and_the_receipt_stays(
    lifecycle: LifecycleBench, verify: Verifying, place: str
) -> None:
    own = lifecycle.own
    receipt = await purged_session(lifecycle, verify)
    erased, tenant_id, namespace_id = receipt.memory_ids[0], own.scope.tenant_id, own.scope.namespace_id
    key = f"wm:{{{tenant_id}}}:{namespace_id}:chat"
    if place == "postgres.memory_stats":
        await own.rows("INSERT INTO memory_stats VALUES (%s, %s, %s)", tenant_id, namespace_id, erased)
    elif place == "postgres.recall_trace":
        await own.rows(
            "INSERT INTO recall_trace VALUES (%s, gen_random_uuid(), 'p', ARRAY[%s]::uuid[],"
            " jsonb_build_object('name', 'namespaces/notes/memories/' || %s::text), now())",
            tenant_id, namespace_id, erased,
        )  # fmt: skip
    elif place == "redis.access_counts":
        await RedisAccessCounter(lifecycle.redis).count(tenant_id, {namespace_id: [erased]}, datetime.now(UTC))
    elif place == "redis.answers":
        await keep_answer(lifecycle, erased)
    else:
        event_id = (await own.rows("SELECT event_ids[1] AS id FROM forget_receipt"))[0]["id"]
        await lifecycle.redis.call(lambda client: client.rpush(key, f'{{"id": "{event_id}"}}'))
    with pytest.raises(Conflict, match=place):
        await verify(receipt)
    assert (await lifecycle.receipt(receipt)).state is ForgetState.PURGED


async def keep_answer(lifecycle: LifecycleBench, memory_id: UUID) -> None:
    """Keep an answer that quotes a memory, as a recall does that began before its forget."""
    tenant_id, now = lifecycle.own.scope.tenant_id, datetime.now(UTC)
    query = CanonicalQuery(("kyoto",), deictic=False, precision="")
    packed = b"\x0a\xff" + f"namespaces/notes/memories/{memory_id}".encode() + b"\x00"
    answer = CachedAnswer(packed, query, now, now + timedelta(minutes=5), "", {}, {})
    async with RedisConnection(lifecycle.redis_url, timeout_seconds=2.0, decode=False) as connection:
        cache = RedisAnswerCache(connection, max_entries=10)
        await cache.keep(tenant_id, AnswerKeys("exact", None), answer)


@pytest.mark.parametrize("place", ["postgres.memory_stats", "redis.access_counts", "redis.answers"])
async def test_what_was_written_beside_the_purge_is_erased_by_the_next_attempt(
    lifecycle: LifecycleBench, verify: Verifying, place: str
) -> None:
    own = lifecycle.own
    receipt = await purged_session(lifecycle, verify)
    erased, tenant_id, namespace_id = receipt.memory_ids[0], own.scope.tenant_id, own.scope.namespace_id
    if place == "postgres.memory_stats":
        await own.rows("INSERT INTO memory_stats VALUES (%s, %s, %s)", tenant_id, namespace_id, erased)
    elif place == "redis.answers":
        await keep_answer(lifecycle, erased)
    else:
        await RedisAccessCounter(lifecycle.redis).count(tenant_id, {namespace_id: [erased]}, datetime.now(UTC))
    await lifecycle.purge(receipt)
    assert await verify(receipt)
    after = await lifecycle.receipt(receipt)
    assert after.state is ForgetState.VERIFIED
    counted = {erased.place: erased.count for erased in receipt.places}
    assert {one.place: one.count for one in after.places} == {**counted, place: counted[place] + 1}


async def test_turns_around_forgotten_ones_are_made_anew_before_it_is_verified(
    lifecycle: LifecycleBench, verify: Verifying
) -> None:
    own = lifecycle.own
    await own.append(SAID)
    await own.run_jobs()
    receipt = await own.writer.forgetter.forget(
        own.scope, Forget("notes", ForgetLastTurns("chat", 1), skip_grace_period=True)
    )
    await lifecycle.purge(receipt)
    assert await lifecycle.tables_with("Zanzibarquartz") == set()
    with pytest.raises(Conflict, match="stale_units"):
        await verify(receipt)
    await own.run_jobs(["refresh_units"])
    assert await verify(receipt)
    assert await own.count("event") == len(SAID) - 1


async def test_an_object_that_no_catalog_names_and_that_still_holds_a_memory_is_found(
    lifecycle: LifecycleBench, verify: Verifying
) -> None:
    receipt = await purged_session(lifecycle, verify)
    kept = await verify.put("kept", segment())
    key = await verify.put("left", segment(receipt.memory_ids[0]))
    await verify.is_left(receipt, "s3.cold_segment=1")
    await verify.objects.erase(key)
    assert await verify(receipt), f"{kept} is none of it"


async def test_a_segment_of_the_catalog_is_looked_up_by_its_index_part(
    lifecycle: LifecycleBench, verify: Verifying
) -> None:
    receipt = await purged_session(lifecycle, verify)
    turn = (await lifecycle.own.rows("SELECT event_ids[1] AS id FROM forget_receipt"))[0]["id"]
    encoded, other = segment(turns=[turn]), segment()
    for name, each in (("left", encoded), ("kept", other)):
        await verify.enter(await verify.put(name, each), each)
    await verify.is_left(receipt, "s3.cold_segment=1")
    assert sorted(size for _, size in verify.objects.read) == sorted([encoded.index_bytes, other.index_bytes])
    assert encoded.index_bytes < len(encoded.data)


async def test_an_older_version_is_refused_whatever_the_newest_holds(
    lifecycle: LifecycleBench, verify: Verifying
) -> None:
    receipt = await purged_session(lifecycle, verify)
    await verify.put("twice", segment(receipt.memory_ids[0]))
    await verify.put("twice", segment())
    await verify.is_left(receipt, "s3.old_version=1")


async def test_a_version_under_a_deletion_is_refused(lifecycle: LifecycleBench, verify: Verifying) -> None:
    receipt = await purged_session(lifecycle, verify)
    key = await verify.put("deleted", segment(receipt.memory_ids[0]))
    verify.bucket.client().remove_object(bucket_name=verify.bucket.bucket, object_name=key)
    await verify.is_left(receipt, "s3.old_version=1")


async def test_what_cannot_be_read_is_not_vouched_for(lifecycle: LifecycleBench, verify: Verifying) -> None:
    receipt = await purged_session(lifecycle, verify)
    encoded = segment(receipt.memory_ids[0])
    await verify.put("broken", replace(encoded, data=encoded.data[: encoded.index_bytes // 2]))
    await verify.is_left(receipt, "s3.unreadable=1")


async def test_objects_of_other_namespaces_do_not_matter(lifecycle: LifecycleBench, verify: Verifying) -> None:
    receipt = await purged_session(lifecycle, verify)
    await verify.objects.put(
        f"{lifecycle.own.scope.tenant_id}/{new_id()}/left.segment", segment(receipt.memory_ids[0]).data
    )
    assert await verify(receipt)
    assert not verify.objects.read


async def test_objects_that_are_older_than_every_id_are_not_read(verify: Verifying) -> None:
    """An id tells when it was made, unless it was derived from another."""
    scope = verify.lifecycle.own.scope
    key = await verify.put("old", segment())
    in_a_week = int((datetime.now(UTC) + timedelta(days=7)).timestamp() * 1000)
    assert not +Counter(await verify.check.left(scope.tenant_id, scope.namespace_id, [new_id(in_a_week)]))
    assert not verify.objects.read
    for ids in ([new_id(in_a_week), uuid4()], [new_id(in_a_week), new_id()]):
        assert not +Counter(await verify.check.left(scope.tenant_id, scope.namespace_id, ids))
        assert [name for name, _ in verify.objects.read] == [key]
        verify.objects.read.clear()
