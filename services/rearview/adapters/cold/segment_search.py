"""Searching one segment: the vector, keyword, entity and time routes over its index part."""

from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_format import SegmentIndex, microseconds
from rearview.domain.cold import ColdQuestion, Segment

VECTOR, KEYWORD, ENTITY, TIME = 1, 2, 4, 8
_ROWS_AT_ONCE = 1_024
"""Codes are widened in a buffer that stays in the processor's cache: a tenth of the time of one large product."""


class SegmentHits:
    """Units of one segment that a question's routes found.

    Attributes:
        units: (k,) positions in the index. routes: (k,) bits.
        similarities: (k,) float32 from the int8 codes, or None without a vector. keywords: (k,) float64 BM25 scores.
    """

    def __init__(self, segment: Segment, index: SegmentIndex, units: NDArray[np.int64], routes: NDArray[np.int64]):
        self.segment = segment
        self.index = index
        self.units = units
        self.routes = routes
        self.similarities: NDArray[np.float32] | None = None
        self.keywords: NDArray[np.float64] = np.zeros(len(units))


def search_segment(segment: Segment, index: SegmentIndex, question: ColdQuestion) -> SegmentHits:
    """Return what the segment's index holds for a question, at most `limit` units a route."""
    live = _live(segment, index, question)
    routes = np.zeros(len(live), np.int64)
    similarities = _similarities(index, question.vector) if question.vector is not None else None
    keywords = _keyword_scores(index, question)
    order = similarities if similarities is not None else keywords
    if similarities is not None:
        for language in question.languages:
            said = index.flags & 12
            of_language = live if language == 0 else live & ((said & language != 0) | (said == 0))
            _mark(routes, VECTOR, np.flatnonzero(of_language), similarities, question.limit)
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
    hits = SegmentHits(segment, index, units, routes[units])
    hits.similarities = None if similarities is None else similarities[units]
    hits.keywords = keywords[units]
    return hits


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


def _similarities(index: SegmentIndex, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    count = len(index.codes)
    found = np.empty(count, np.float32)
    wide = np.empty((_ROWS_AT_ONCE, index.dimension), np.float32)
    for start in range(0, count, _ROWS_AT_ONCE):
        end = min(start + _ROWS_AT_ONCE, count)
        rows = wide[: end - start]
        np.copyto(rows, index.codes[start:end])
        np.dot(rows, vector, out=found[start:end])
    found *= index.scales
    return found


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
