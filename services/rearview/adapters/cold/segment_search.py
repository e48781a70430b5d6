"""Searching segments: the vector, keyword, entity and time routes over their index parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numkong
import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_format import SegmentIndex, microseconds, moment_of
from rearview.domain.cold import ColdHit, ColdQuestion, Segment
from rearview.domain.search_unit import UnitFlag
from rearview.domain.stored_vector import coded, decoded

VECTOR, KEYWORD, ENTITY, TIME = 1, 2, 4, 8


@dataclass(frozen=True, slots=True, eq=False)
class SegmentHits:
    """Units of one segment that a question's routes found.

    Attributes:
        units: (k,) positions in the index. routes: (k,) bits.
        similarities: (k,) float32, about, or None without a vector. keywords: (k,) float64 BM25 scores.
    """

    index: SegmentIndex
    units: NDArray[np.int64]
    routes: NDArray[np.int64]
    similarities: NDArray[np.float32] | None
    keywords: NDArray[np.float64]


def search_segments(parts: Sequence[tuple[Segment, SegmentIndex]], question: ColdQuestion) -> list[ColdHit]:
    """Return the units that segments hold for a question, at most `limit` a route and language over all of them.

    They are chosen by the question's vector in eight bits, and have the cosine of their own codes with the whole one.
    """
    found = [search_segment(segment, index, question) for segment, index in parts]
    if not found:
        return []
    routes = np.concatenate([hits.routes for hits in found])
    flags = np.concatenate([hits.index.flags[hits.units] for hits in found])
    keywords = np.concatenate([hits.keywords for hits in found])
    near = [hits.similarities for hits in found if hits.similarities is not None]
    similarities = np.concatenate(near) if near else keywords
    kept = np.zeros(len(routes), np.int64)
    for route in (VECTOR, KEYWORD, ENTITY, TIME):
        for language in question.languages if route == VECTOR else (0,):
            rows = np.flatnonzero((routes & route != 0) & _of_language(flags, language))
            _mark(kept, route, rows, keywords if route == KEYWORD else similarities, question.limit)
    chosen: list[ColdHit] = []
    first = 0
    for hits in found:
        chosen += _hits(hits, np.flatnonzero(kept[first : first + len(hits.units)]), question)
        first += len(hits.units)
    return chosen


def _hits(hits: SegmentHits, rows: NDArray[np.int64], question: ColdQuestion) -> Iterator[ColdHit]:
    index, units = hits.index, hits.units[rows]
    cosines = None if question.vector is None else _cosines(index, units, question.vector).tolist()
    for at, (row, unit) in enumerate(zip(rows.tolist(), units.tolist(), strict=True)):
        yield ColdHit(
            memory_id=UUID(bytes=index.memory_bytes(int(index.unit_memory[unit]))),
            unit_id=UUID(bytes=index.unit_ids[unit].tobytes()),
            occurred_at=moment_of(index.occurred[unit]),
            speaker=int(index.speakers[unit]),
            flags=int(index.flags[unit]),
            routes=int(hits.routes[row]),
            similarity=None if cosines is None else cosines[at],
            keyword_score=float(hits.keywords[row]),
        )


def search_segment(segment: Segment, index: SegmentIndex, question: ColdQuestion) -> SegmentHits:
    """Return what the segment's index holds for a question, at most `limit` units a route."""
    live = _live(segment, index, question)
    routes = np.zeros(len(live), np.int64)
    similarities = _similarities(index, question.vector) if question.vector is not None else None
    keywords = _keyword_scores(index, question)
    order = similarities if similarities is not None else keywords
    if similarities is not None:
        for language in question.languages:
            rows = np.flatnonzero(live & _of_language(index.flags, language))
            _mark(routes, VECTOR, rows, similarities, question.limit)
    _mark(routes, KEYWORD, np.flatnonzero(live & (keywords > 0)), keywords, question.limit)
    if question.named:
        named = np.isin(index.memory_ids, _ids(question.named))[index.unit_memory]
        _mark(routes, ENTITY, np.flatnonzero(live & named), order, question.limit)
    if question.ranges:
        told = np.zeros(len(live), bool)
        for start, end in question.ranges:
            told |= (index.occurred >= microseconds(start)) & (index.occurred < microseconds(end))
        _mark(routes, TIME, np.flatnonzero(live & told), order, question.limit)
    units = np.flatnonzero(routes)
    near = None if similarities is None else similarities[units]
    return SegmentHits(index, units, routes[units], near, keywords[units])


def _live(segment: Segment, index: SegmentIndex, question: ColdQuestion) -> NDArray[np.bool_]:
    rows = np.ones(index.memory_count, bool)
    rows[list(segment.dead)] = False
    if question.allowed is not None:
        rows &= np.isin(index.memory_ids, _ids(question.allowed))
    live: NDArray[np.bool_] = rows[index.unit_memory]
    if question.start is not None:
        live &= index.occurred >= microseconds(question.start)
    if question.end is not None:
        live &= index.occurred < microseconds(question.end)
    return live


def _of_language(flags: NDArray[np.int16], language: int) -> NDArray[np.bool_]:
    """Return what is in a language's list, as in the tables: of Chinese what holds some, of English all else, and what
    holds both in both."""
    if language == 0:
        return np.ones(len(flags), np.bool_)
    chinese: NDArray[np.bool_] = flags & int(UnitFlag.CHINESE) != 0
    return chinese if language == int(UnitFlag.CHINESE) else ~chinese | (flags & int(UnitFlag.ENGLISH) != 0)


def _similarities(index: SegmentIndex, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    codes, scales = coded(vector.astype(np.float16)[None, :])
    dots: NDArray[np.float64] = np.asarray(numkong.cdist(index.codes, codes, "dot"))[:, 0]
    similarities: NDArray[np.float32] = dots.astype(np.float32) * (index.scales * scales[0])
    return similarities


def _cosines(index: SegmentIndex, units: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    stored = decoded(index.codes[units], index.scales[units]).astype(np.float32)
    norms = np.linalg.norm(stored, axis=1)
    cosines: NDArray[np.float32] = (stored @ vector / np.where(norms > 0, norms, 1)).astype(np.float32)
    return cosines


def _keyword_scores(index: SegmentIndex, question: ColdQuestion) -> NDArray[np.float64]:
    scores = np.zeros(len(index.scales))
    for term, weight in question.weights.items():
        units, weights = index.postings_of(term)
        scores[units] += weight * weights
    return scores


def _mark(
    routes: NDArray[np.int64],
    route: int,
    units: NDArray[np.int64],
    scores: NDArray[np.float32] | NDArray[np.float64],
    limit: int,
) -> None:
    if len(units) > limit:
        units = units[np.argpartition(-scores[units], limit - 1)[:limit]]
    routes[units] |= route


def _ids(memory_ids: frozenset[UUID]) -> NDArray[np.bytes_]:
    return np.frombuffer(b"".join(memory_id.bytes for memory_id in memory_ids), "S16")
