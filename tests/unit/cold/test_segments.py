"""Segments: every bit comes back, damage is noticed, and a search finds what a search over everything finds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest

from rearview.adapters.cold.payload_block import PayloadBlock
from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_format import decode_segment, encode_segment
from rearview.adapters.cold.segment_index import STRETCH_BYTES, SegmentIndex
from rearview.adapters.cold.segment_layout import SegmentDamaged
from rearview.adapters.cold.segment_search import ENTITY, KEYWORD, TIME, VECTOR, SegmentSearch
from rearview.domain.cold import ColdHits, ColdMemory, ColdQuestion, Segment
from rearview.domain.stored_vector import stored_vector
from tests.support.cold_segments import DIMENSION, START, cold_memories


def segment(count: int, dead: tuple[int, ...] = ()) -> Segment:
    return Segment(UUID(int=7), "key", 1, count, count, 0, 0, START, START + timedelta(hours=count), dead)


def found(hits: ColdHits, route: int = 15) -> list[int]:
    """Return the memories of the units that a route found, by their numbers."""
    return [(int.from_bytes(one.tobytes()) - 1) // 100 for one in hits.unit_ids[hits.routes & route != 0]]


def told(memories: Sequence[ColdMemory]) -> list[object]:
    """Return all that memories say, so that it can be compared."""
    return [
        (
            *(memory.memory_id, memory.content, memory.metadata, memory.entities),
            [
                (
                    *(unit.unit_id, unit.occurred_at, unit.speaker, unit.flags, unit.type),
                    *(unit.embedding.tobytes(), unit.terms.tobytes(), unit.weights.tobytes()),
                )
                for unit in memory.units
            ],
        )
        for memory in memories
    ]


@pytest.mark.parametrize(("count", "units"), [(1, 1), (31, 1), (33, 3), (100, 2), (2, 0)])
def test_every_bit_comes_back(count: int, units: int) -> None:
    written = cold_memories(count, units=units)
    assert told(decode_segment(encode_segment(written, DIMENSION).data)) == told(written)


def test_the_same_memories_never_make_the_same_object() -> None:
    written = cold_memories(3)
    assert encode_segment(written, DIMENSION).data != encode_segment(written, DIMENSION).data


@pytest.mark.parametrize("cut", [0, 5, 40, 400])
def test_damage_is_noticed(cut: int) -> None:
    data = encode_segment(cold_memories(40), DIMENSION).data
    with pytest.raises(SegmentDamaged):
        SegmentIndex(data[:cut])


def test_a_search_finds_what_a_search_over_everything_finds() -> None:
    written = cold_memories(400)
    halves = [encode_segment(half, DIMENSION) for half in (written[:150], written[150:])]
    indexes = [SegmentIndex(half.data[: half.index_bytes]) for half in halves]
    parts = [(segment(150, dead=(5,)), indexes[0]), (segment(250), indexes[1])]
    random = np.random.default_rng(3)
    exact = np.stack([memory.units[0].embedding for memory in written]).astype(np.float32)
    for _ in range(20):
        vector = random.standard_normal(DIMENSION).astype(np.float32)
        vector /= np.linalg.norm(vector)
        weights = {int(term): float(random.random()) for term in random.integers(1, 300, 4)}
        hits = SegmentSearch(parts, ColdQuestion(vector, weights, limit=30)).hits()
        nearest = [at for at in np.argsort(-(exact @ vector)) if at != 5][:10]
        assert set(nearest) <= set(found(hits, VECTOR))
        scores = np.array(
            [
                sum(weights.get(int(term), 0.0) * weight for term, weight in zip(u.terms, u.weights, strict=True))
                for u in (m.units[0] for m in written)
            ]
        )
        scores[5] = 0
        by_keyword = found(hits, KEYWORD)
        assert len(by_keyword) == min(30, np.count_nonzero(scores))
        assert np.sort(scores[by_keyword]) == pytest.approx(np.sort(np.sort(scores)[::-1][: len(by_keyword)]))
        assert 5 not in found(hits)
        assert hits.keyword_score == pytest.approx(scores[found(hits)])
        assert hits.occurred_at.tolist() == [written[at].first.timestamp() for at in found(hits)]


def test_over_several_segments_the_best_of_each_language_come_with_their_exact_cosines() -> None:
    chinese, english = 4, 8
    random = np.random.default_rng(4)
    written = [
        replace(
            memory,
            units=tuple(
                replace(
                    unit,
                    flags=int(random.choice((0, chinese, english, chinese | english))),
                    embedding=stored_vector(unit.embedding.astype(np.float32)),
                )
                for unit in memory.units
            ),
        )
        for memory in cold_memories(600)
    ]
    parts = [
        (segment(200), SegmentIndex(encode_segment(written[first : first + 200], DIMENSION).data))
        for first in range(0, 600, 200)
    ]
    units = [memory.units[0] for memory in written]
    exact = np.stack([unit.embedding for unit in units]).astype(np.float32)
    exact /= np.linalg.norm(exact, axis=1)[:, None]
    lists = {
        chinese: [at for at, unit in enumerate(units) if unit.flags & chinese],
        english: [at for at, unit in enumerate(units) if not unit.flags & chinese or unit.flags & english],
    }
    for _ in range(20):
        vector = random.standard_normal(DIMENSION).astype(np.float32)
        vector /= np.linalg.norm(vector)
        hits = SegmentSearch(parts, ColdQuestion(vector, {}, languages=(chinese, english), limit=20)).hits()
        similarity = dict(zip(found(hits), hits.similarity.tolist(), strict=True))
        cosines = exact @ vector
        for members in lists.values():
            nearest = sorted(members, key=lambda at: -cosines[at])[:10]
            assert [similarity.get(at) for at in nearest] == pytest.approx(cosines[nearest].tolist(), abs=1e-5)
        assert len(hits) <= 40
    assert len(SegmentSearch([], ColdQuestion(vector, {})).hits()) == 0


def test_rows_are_found_by_ids_that_end_alike_and_by_such_as_are_not_there() -> None:
    written = cold_memories(60)  # of which all end in zeros
    ends = [replace(memory, memory_id=UUID(int=memory.memory_id.int + at % 7)) for at, memory in enumerate(written)]
    index = SegmentIndex(encode_segment(ends, DIMENSION).data)
    wanted = [*(ends[at].memory_id for at in (3, 17, 59, 0)), UUID(int=5), UUID(int=ends[3].memory_id.int + 1)]
    ids = np.frombuffer(b"".join(one.bytes for one in wanted), "S16")
    assert sorted(index.rows_of(ids).tolist()) == [0, 3, 17, 59]
    assert index.rows_of(ids[:0]).tolist() == []


def test_filters_entities_and_times_are_kept_to() -> None:
    written = cold_memories(50)
    index = SegmentIndex(encode_segment(written, DIMENSION).data)
    vector = np.ones(DIMENSION, np.float32)
    allowed = frozenset(memory.memory_id for memory in written[10:20])
    hits = SegmentSearch([(segment(50), index)], ColdQuestion(vector, {}, allowed=allowed)).hits()
    assert set(found(hits)) == set(range(10, 20))
    told = ((START + timedelta(hours=3), START + timedelta(hours=6)),)
    named = frozenset({written[30].memory_id})
    hits = SegmentSearch([(segment(50), index)], ColdQuestion(vector, {}, ranges=told, limit=5)).hits(named)
    assert set(found(hits, TIME)) == {3, 4, 5}
    assert set(found(hits, ENTITY)) == {30}
    late = ColdQuestion(vector, {}, start=START + timedelta(hours=48))
    assert set(found(SegmentSearch([(segment(50), index)], late).hits())) == {48, 49}


def test_copies_are_bounded_and_given_up_when_silent() -> None:
    encoded = encode_segment(cold_memories(40), DIMENSION)
    data, now = encoded.data[: encoded.index_bytes], [0.0]
    files = SegmentFiles(index_bytes=2 * len(data), payload_bytes=0, idle_seconds=60, monotonic_seconds=lambda: now[0])
    ids = [UUID(int=at) for at in range(1, 4)]
    for segment_id in ids:
        files.keep_index(segment_id, data)
    assert files.segment_ids() == set(ids[1:])
    assert files.index(ids[0]) is None
    assert files.index(ids[1]) is not None
    files.drop([ids[2]])
    assert files.segment_ids() == {ids[1]}
    now[0] = 61.0
    files.drop_idle()
    assert (files.segment_ids(), files.size_bytes) == (frozenset(), 0)


def test_a_vector_as_it_is_stored_takes_a_byte_a_dimension() -> None:
    plain = cold_memories(320)
    stored = [
        replace(
            memory,
            units=tuple(
                replace(unit, embedding=stored_vector(unit.embedding.astype(np.float32))) for unit in memory.units
            ),
        )
        for memory in plain
    ]
    sizes = [len(encode_segment(some, DIMENSION).data) for some in (stored, plain)]
    assert sizes[1] - sizes[0] > 0.9 * len(plain) * DIMENSION
    assert [
        unit.embedding.tobytes()
        for memory in decode_segment(encode_segment(stored, DIMENSION).data)
        for unit in memory.units
    ] == [unit.embedding.tobytes() for memory in stored for unit in memory.units]


@pytest.mark.parametrize(
    "sizes", [[10], [STRETCH_BYTES] * 3, [STRETCH_BYTES * 2, 5, 5], [5, STRETCH_BYTES * 2, 5], [7] * 40_000]
)
def test_stretches_are_runs_of_blocks_that_leave_nothing_out(sizes: list[int]) -> None:
    index = SegmentIndex(encode_segment(cold_memories(1), DIMENSION).data)
    index.block_offsets = [100, *(100 + int(total) for total in np.cumsum(sizes))]
    step = max(len(sizes) // 100, 1)
    runs = sorted({index.stretch_around(offset) for offset in index.block_offsets[:-1:step]})
    assert runs[0][0] == 100
    assert [start + size for start, size in runs] == [*(start for start, _ in runs[1:]), index.block_offsets[-1]]
    assert all(size <= STRETCH_BYTES or size in sizes for _, size in runs)


@pytest.mark.parametrize("units", [1, 3])
def test_a_wrong_bit_anywhere_is_told_or_changes_nothing(units: int) -> None:
    written = cold_memories(40, units=units)
    encoded = encode_segment(written, DIMENSION)
    right = told(written)
    noticed = 0
    random = np.random.default_rng(11)
    for at in random.integers(0, len(encoded.data), 400).tolist():
        broken = bytearray(encoded.data)
        broken[at] ^= 1 << int(random.integers(8))
        try:
            assert told(decode_segment(bytes(broken))) == right
        except SegmentDamaged:
            noticed += 1
    # Between header and columns there are a few bytes that say nothing.
    assert noticed > 390


@pytest.mark.parametrize("keep", [0, 3, 11, 12, 100])
def test_a_block_that_ends_too_soon_is_told(keep: int) -> None:
    encoded = encode_segment(cold_memories(32), DIMENSION)
    with pytest.raises(SegmentDamaged):
        PayloadBlock(encoded.data[encoded.index_bytes :][:keep])


def test_a_block_is_not_asked_for_the_memory_of_another() -> None:
    encoded = encode_segment(cold_memories(40), DIMENSION)
    last = PayloadBlock(encoded.data[encoded.block_offsets[1] :])
    assert last.content(39).content
    with pytest.raises(SegmentDamaged):
        last.content(20)
