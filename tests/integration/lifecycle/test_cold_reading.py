"""Payload of segments on a real object store: read in stretches by who searched, alone by who asks for one memory."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

import numpy as np
import pytest

from rearview.adapters.cold.cold_reader import ColdReader
from rearview.adapters.cold.read_ahead import REQUEST_BYTES
from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_format import EncodedSegment, encode_segment
from rearview.adapters.cold.segment_index import BLOCK_MEMORIES, STRETCH_BYTES
from rearview.adapters.s3.objects import S3Objects
from rearview.domain.cold import ColdMemory, ColdPointer, ColdQuestion, Segment
from rearview.domain.errors import Unavailable
from tests.support.cold_segments import DIMENSION, START, cold_memories
from tests.support.stack import BucketAddress
from tests.support.waiting import wait_until

KEY = "segments/one"
ID = UUID(int=7)


class CountingObjects(S3Objects):
    """The object store, and which parts were asked for; what it says is held back until `answers` is set."""

    asked: list[tuple[int, int]]
    answers: asyncio.Event

    async def get_range(self, key: str, offset: int, size: int) -> bytes:
        self.asked.append((offset, size))
        found = await super().get_range(key, offset, size)
        await self.answers.wait()
        return found


@pytest.fixture
async def objects(bucket: BucketAddress) -> AsyncIterator[CountingObjects]:
    address = (bucket.endpoint, bucket.access_key, bucket.secret_key, bucket.bucket)
    async with CountingObjects(*address, secure=False) as store:
        store.asked, store.answers = [], asyncio.Event()
        store.answers.set()
        yield store


def wordy(count: int) -> list[ColdMemory]:
    """Memories whose texts do not compress."""
    chance = random.Random(3)
    return cold_memories(count, text=lambda at: f"记忆 {at}: {chance.randbytes(400).hex()}")


def files(payload_bytes: int) -> SegmentFiles:
    return SegmentFiles(index_bytes=64 * 1024**2, payload_bytes=payload_bytes, idle_seconds=60)


def without_reading_ahead(objects: S3Objects, encoded: EncodedSegment) -> ColdReader:
    """Return a reader that has room for the payload, but not for four times as much."""
    return ColdReader(objects, files(4 * (len(encoded.data) - encoded.index_bytes) - 1))


def pointers(encoded: EncodedSegment, memories: Sequence[ColdMemory]) -> list[ColdPointer]:
    blocks = list(pairwise(encoded.block_offsets))
    return [
        ColdPointer(memory.memory_id, ID, row, KEY, start, end - start)
        for row, memory in enumerate(memories)
        for start, end in [blocks[row // BLOCK_MEMORIES]]
    ]


def segment(encoded: EncodedSegment) -> Segment:
    size, index = len(encoded.data), encoded.index_bytes
    return Segment(ID, KEY, 1, encoded.memories, encoded.units, index, size, START, START)


async def test_who_searched_reads_stretches_and_each_once(objects: CountingObjects) -> None:
    written = wordy(500)
    encoded = encode_segment(written, DIMENSION)
    await objects.put(KEY, encoded.data)
    cold = without_reading_ahead(objects, encoded)
    await cold.search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {}))
    wanted = pointers(encoded, written)
    halves = await asyncio.gather(cold.contents(wanted[::2]), cold.contents(wanted[1::2]), cold.contents(wanted))
    assert {i: c.content for half in halves for i, c in half.items()} == {m.memory_id: m.content for m in written}
    stretches = objects.asked[1:]
    assert len(stretches) == len(set(stretches))
    assert 1 < len(stretches) < len(encoded.block_offsets) - 1
    assert all(size <= STRETCH_BYTES for _, size in stretches)
    assert sorted(stretches)[0][0] == encoded.index_bytes
    assert sum(size for _, size in stretches) == len(encoded.data) - encoded.index_bytes


async def test_of_several_segments_only_those_of_the_time_asked_for_are_read(objects: CountingObjects) -> None:
    day = timedelta(days=1)
    encoded = [encode_segment(cold_memories(40 * (1 + at)), DIMENSION) for at in range(3)]
    segments = [
        replace(segment(each), segment_id=UUID(int=at), object_key=f"segments/{at}", first=first, last=first + day)
        for at, each in enumerate(encoded)
        for first in [START + 10 * at * day]
    ]
    for each, data in zip(segments, encoded, strict=True):
        await objects.put(each.object_key, data.data)
    vector = np.ones(DIMENSION, np.float32)
    for start, end, read in (
        (START + 2 * day, START + 10 * day, []),  # it ends where the second begins
        (START + 11 * day, START + 12 * day, [1]),  # it begins where the second ends
        (START + 11 * day + timedelta(seconds=1), None, [2]),
        (None, START + 11 * day, [0, 1]),
        (None, None, [0, 1, 2]),
    ):
        objects.asked.clear()
        await ColdReader(objects, files(0)).search(segments, ColdQuestion(vector, {}, start=start, end=end))
        assert sorted(objects.asked) == [(0, encoded[at].index_bytes) for at in read]


async def test_one_memory_by_name_is_one_block_before_and_during_a_search(objects: CountingObjects) -> None:
    written = wordy(200)
    encoded = encode_segment(written, DIMENSION)
    await objects.put(KEY, encoded.data)
    cold, wanted = without_reading_ahead(objects, encoded), pointers(encoded, written)
    alone = await cold.contents(wanted[:1])
    assert objects.asked == [(wanted[0].offset, wanted[0].size)]
    found = await asyncio.gather(
        cold.contents(wanted[40:41]),
        cold.search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {})),
        cold.contents(wanted[40:70]),
    )
    everything = await cold.contents(wanted)
    assert {**alone, **found[0], **found[2], **everything} == everything
    assert [everything[m.memory_id].content for m in written] == [m.content for m in written]


async def test_without_room_for_payload_every_answer_is_the_same(objects: CountingObjects) -> None:
    written = wordy(100)
    encoded = encode_segment(written, DIMENSION)
    await objects.put(KEY, encoded.data)
    cold = ColdReader(objects, files(0))
    await cold.search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {}))
    found = await cold.contents(pointers(encoded, written))
    assert [found[m.memory_id].content for m in written] == [m.content for m in written]


async def test_what_was_searched_is_read_whole_in_the_background_and_once(objects: CountingObjects) -> None:
    written = wordy(5_000)
    encoded = encode_segment(written, DIMENSION)
    payload = len(encoded.data) - encoded.index_bytes
    await objects.put(KEY, encoded.data)
    kept = files(4 * payload)
    cold, question = ColdReader(objects, kept), ColdQuestion(np.ones(DIMENSION, np.float32), {})
    await asyncio.gather(*(cold.search([segment(encoded)], question) for _ in range(3)))
    await wait_until(lambda: kept.size_bytes >= len(encoded.data), "the payload")
    await cold.search([segment(encoded)], question)
    ahead = objects.asked[1:]
    assert sum(size for _, size in ahead) == payload
    assert 1 < len(ahead) <= 1 + 2 * payload // REQUEST_BYTES
    found = await cold.contents(pointers(encoded, written))
    assert [found[m.memory_id].content for m in written] == [m.content for m in written]
    assert objects.asked[1:] == ahead


async def reading_ahead(objects: CountingObjects) -> tuple[ColdReader, SegmentFiles, EncodedSegment]:
    """Return a reader that waits for the first of what it reads ahead, what it keeps, and of what it reads."""
    encoded = encode_segment(wordy(5_000), DIMENSION)
    await objects.put(KEY, encoded.data)
    kept = files(4 * len(encoded.data))
    cold = ColdReader(objects, kept)
    await cold.search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {}))
    objects.answers.clear()
    await wait_until(lambda: len(objects.asked) > 1, "a request")
    return cold, kept, encoded


async def test_what_is_given_up_while_it_is_read_ahead_stays_away(objects: CountingObjects) -> None:
    _, kept, _ = await reading_ahead(objects)
    kept.drop({ID})
    objects.answers.set()
    await asyncio.sleep(0.2)
    assert kept.size_bytes == 0
    assert len(objects.asked) == 2


async def test_what_was_replaced_since_the_catalog_was_read_is_said_to_be_missing(objects: CountingObjects) -> None:
    encoded = encode_segment(cold_memories(5), DIMENSION)
    with pytest.raises(Unavailable):
        await ColdReader(objects, files(0)).search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {}))


async def test_what_was_damaged_on_its_way_is_read_again(objects: CountingObjects) -> None:
    written = wordy(200)
    encoded = encode_segment(written, DIMENSION)
    broken = bytearray(encoded.data)
    broken[encoded.index_bytes :] = bytes(len(broken) - encoded.index_bytes)
    await objects.put(KEY, bytes(broken))
    cold, wanted = without_reading_ahead(objects, encoded), pointers(encoded, written)
    await cold.search([segment(encoded)], ColdQuestion(np.ones(DIMENSION, np.float32), {}))
    with pytest.raises(Unavailable):
        await cold.contents(wanted[:1])
    await objects.put(KEY, encoded.data)
    assert (await cold.contents(wanted[:1]))[written[0].memory_id].content == written[0].content


async def test_what_is_read_ahead_ends_with_its_reader_and_holds_on_to_nothing(objects: CountingObjects) -> None:
    cold, kept, encoded = await reading_ahead(objects)
    await cold.close()
    objects.answers.set()
    await asyncio.sleep(0.2)
    assert len(objects.asked) == 2
    assert kept.size_bytes == encoded.index_bytes
